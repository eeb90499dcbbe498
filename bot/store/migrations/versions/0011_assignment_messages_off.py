"""Who doesn't want to be told about issues that someone assigns to them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "assignment_messages_off",
        sa.Column("enterprise_id", sa.Text, primary_key=True),
        sa.Column("team_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
    )
