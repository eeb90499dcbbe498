"""Templates for new issues."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "issue_templates",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("enterprise_id", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("project_id", sa.BigInteger, nullable=False),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", sa.Text, nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_issue_templates_name",
        "issue_templates",
        ["team_id", "project_id", "channel_id", "name_key"],
        unique=True,
    )
