"""Links, channels' projects, deliveries and continuations."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "links",
        sa.Column("enterprise_id", sa.Text, primary_key=True),
        sa.Column("team_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("sealed_key", sa.Text, nullable=False),
        sa.Column("service_user_id", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "channel_defaults",
        sa.Column("team_id", sa.Text, primary_key=True),
        sa.Column("channel_id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("set_by_enterprise_id", sa.Text, nullable=False),
        sa.Column("set_by_team_id", sa.Text, nullable=False),
        sa.Column("set_by_user_id", sa.Text, nullable=False),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "deliveries",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_deliveries_claimed_at", "deliveries", ["claimed_at"])
    op.create_table(
        "continuations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("enterprise_id", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_continuations_created_at", "continuations", ["created_at"])
