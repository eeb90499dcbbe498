"""The tables of the first release."""

from alembic import op

from bot.store.tables import Table

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    Table.metadata.create_all(op.get_bind(), checkfirst=False)
