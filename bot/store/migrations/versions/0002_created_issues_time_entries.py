"""Issues and time entries that were made through the bot."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "created_issues",
        sa.Column("issue_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("enterprise_id", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text),
        sa.Column("message_ts", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index(
        "ix_created_issues_owner", "created_issues", ["enterprise_id", "team_id", "user_id", "created_at"]
    )
    op.create_index("ix_created_issues_message", "created_issues", ["team_id", "channel_id", "message_ts"])
    op.create_table(
        "time_entries",
        sa.Column("entry_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("enterprise_id", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("project_id", sa.BigInteger, nullable=False),
        sa.Column("issue_id", sa.BigInteger),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("minutes", sa.Integer, nullable=False),
        sa.Column("activity_id", sa.BigInteger),
        sa.Column("activity", sa.Text, nullable=False),
        sa.Column("spent_on", sa.Date, nullable=False),
        sa.Column("comments", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index(
        "ix_time_entries_owner", "time_entries", ["enterprise_id", "team_id", "user_id", "created_at"]
    )
