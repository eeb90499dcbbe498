"""Digests, their runs, and the issues that they cover."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "digests",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("enterprise_id", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("owner_name", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("project_id", sa.BigInteger, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("schedule", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("filters", sa.JSON, nullable=False),
        sa.Column("grouped_by", sa.Text, nullable=False),
        sa.Column("empty", sa.Boolean, nullable=False),
        sa.Column("next_due", sa.DateTime(timezone=True), index=True),
        sa.Column("paused", sa.Text),
        sa.Column("covered_to", sa.DateTime(timezone=True)),
        sa.Column("period_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("history", sa.JSON, nullable=False),
        sa.Column("owner_notice", sa.Text),
        sa.Column("channel_notice", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_digests_channel", "digests", ["team_id", "channel_id"])
    op.create_index("ix_digests_owner", "digests", ["enterprise_id", "team_id", "user_id"])
    digest = sa.ForeignKey("digests.id", ondelete="CASCADE")
    op.create_table(
        "digest_runs",
        sa.Column("digest_id", sa.Integer, digest, primary_key=True, autoincrement=False),
        sa.Column("due_at", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), index=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("missed", sa.Integer, nullable=False),
        sa.Column("asked", sa.Boolean, nullable=False),
        sa.Column("sending_at", sa.DateTime(timezone=True)),
        sa.Column("covered_to", sa.DateTime(timezone=True)),
        sa.Column("ts", sa.Text),
    )
    covered_by = sa.ForeignKey("digests.id", ondelete="CASCADE")
    op.create_table(
        "digest_issues",
        sa.Column("digest_id", sa.Integer, covered_by, primary_key=True, autoincrement=False),
        sa.Column("issue_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("created_on", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True)),
    )
