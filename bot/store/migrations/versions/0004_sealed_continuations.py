"""Saved input is sealed, in a table of its own: the version before goes on with the one in clear.

What is in that one is forgotten within a day; the version after drops the table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sealed_continuations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("enterprise_id", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("sealed", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_sealed_continuations_created_at", "sealed_continuations", ["created_at"])
