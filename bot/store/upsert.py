"""INSERT … ON CONFLICT for both databases."""

from sqlalchemy.dialects import postgresql, sqlite

from bot.store.tables import Table, table_of


def insert(dialect: str, row: type[Table]) -> postgresql.Insert | sqlite.Insert:
    """Return an insert with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    table = table_of(row)
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
