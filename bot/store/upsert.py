"""INSERT … ON CONFLICT for both databases."""

from collections.abc import Mapping

from sqlalchemy.dialects import postgresql, sqlite

from bot.store.tables import Table, table_of


def insert(dialect: str, row: type[Table]) -> postgresql.Insert | sqlite.Insert:
    """Return an insert with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    table = table_of(row)
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def upsert(
    dialect: str, row: type[Table], identity: Mapping[str, object], values: Mapping[str, object]
) -> postgresql.Insert | sqlite.Insert:
    """Return a statement that adds a row, or sets the values of the row with this primary key."""
    added = insert(dialect, row).values(**identity, **values)
    return added.on_conflict_do_update(index_elements=list(identity), set_=values)
