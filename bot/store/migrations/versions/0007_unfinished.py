"""Requests in progress, so that their users are answered if the process crashes."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("deliveries", sa.Column("holder", sa.Text))
    op.add_column("deliveries", sa.Column("sealed", sa.Text))
    held = sa.text("holder IS NOT NULL")
    op.create_index(
        "ix_deliveries_holder", "deliveries", ["holder"], postgresql_where=held, sqlite_where=held
    )
    op.create_table(
        "processes",
        sa.Column("holder", sa.Text, primary_key=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
    )
