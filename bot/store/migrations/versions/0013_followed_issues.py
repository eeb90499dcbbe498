"""Issues that threads follow, and the users who follow them."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "followers",
        sa.Column("enterprise_id", sa.Text, primary_key=True),
        sa.Column("team_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False, index=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("covered_to", sa.DateTime(timezone=True)),
        sa.Column("reads", sa.Integer, nullable=False),
    )
    op.create_table(
        "followed_issues",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("enterprise_id", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("issue_id", sa.BigInteger, nullable=False),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("thread_ts", sa.Text, nullable=False),
        sa.Column("ts", sa.Text, nullable=False),
        sa.Column("posted_by", sa.Text, nullable=False),
        sa.Column("created", sa.Boolean, nullable=False),
        sa.Column("agreed_project", sa.BigInteger),
        sa.Column("seen_on", sa.DateTime(timezone=True)),
        sa.Column("shown", sa.Text, nullable=False),
        sa.Column("closed", sa.Boolean, nullable=False),
        sa.Column("telling", sa.Boolean),
        sa.Column("telling_at", sa.DateTime(timezone=True)),
        sa.Column("told", sa.Integer, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sqlite_autoincrement=True,
    )
    thread = ["channel_id", "thread_ts", "issue_id"]
    op.create_index("ix_followed_issues_thread", "followed_issues", thread, unique=True)
    op.create_index("ix_followed_issues_owner", "followed_issues", ["enterprise_id", "team_id", "user_id"])
