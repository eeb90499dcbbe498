"""The tables of the first release."""

from alembic import op

from bot.store.tables import Table

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables as they are defined now; a second migration needs them as they are released."""
    Table.metadata.create_all(op.get_bind(), checkfirst=False)
