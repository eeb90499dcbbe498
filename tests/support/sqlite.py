"""SQLite's databases need not survive a power failure in tests, and writing is faster without that."""

import sqlite3

from sqlalchemy import Engine, event


@event.listens_for(Engine, "connect")
def _write_without_waiting(connection: object, _entry: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")
