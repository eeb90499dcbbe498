"""INSERT … ON CONFLICT, which SQLAlchemy spells apart for each database."""

from sqlalchemy.dialects import postgresql, sqlite

from bot.store.tables import Table, table_of


def insert(dialect: str, row: type[Table]) -> postgresql.Insert | sqlite.Insert:
    """An insert that knows `on_conflict_do_nothing` and `on_conflict_do_update`."""
    table = table_of(row)
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
