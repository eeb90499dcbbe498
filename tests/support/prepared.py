"""The demo data and an empty database, made once and copied for each test."""

import pickle
import tempfile
import uuid
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path

import asyncpg
from sqlalchemy import create_engine

from bot.sandbox.demo import demo_data
from bot.sandbox.tracker.data import Data
from bot.sandbox.tracker.server import Tracker
from bot.store.database import Database
from bot.store.migrations import migrate


def demo() -> Data:
    """Returns the demo data of this hour, made when it was first needed."""
    data: Data = pickle.loads(_demo(f"{datetime.now(UTC):%Y-%m-%d %H}"))  # noqa: S301 - pickled below
    return data


def demo_tracker(
    *,
    issue_updates: bool = True,
    time_deletes: bool = True,
    issue_reads: bool = False,
    roles: bool = False,
    listing: bool = False,
) -> Tracker:
    """Returns a service with the demo data that lets users change issues and delete time."""
    return Tracker(
        demo(),
        issue_updates=issue_updates,
        time_deletes=time_deletes,
        issue_reads=issue_reads,
        roles=roles,
        listing=listing,
    )


@lru_cache(4)
def _demo(_hour: str) -> bytes:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    return pickle.dumps(demo_data(now), pickle.HIGHEST_PROTOCOL)


def sqlite(path: Path) -> str:
    """Returns the URL of the SQLite database there; creates it, migrated, if it doesn't exist."""
    if not path.exists():
        path.touch(0o600)
        path.write_bytes(_migrated())
    return f"sqlite:///{path}"


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "bot.db")
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            migrate(connection, lambda _: None)
        engine.dispose()
        return path.read_bytes()


async def new_postgresql(server: str, template: str = "migrated") -> str:
    """Creates a database on the server, migrated unless another template is given, and returns its URL."""
    connection = await asyncpg.connect(server)
    if not await connection.fetchval("select 1 from pg_database where datname = 'migrated'"):
        await connection.execute("create database migrated")
        database = Database(_at(server, "migrated"))
        await database.open()
        await database.close()
    name = f"test_{uuid.uuid4().hex}"
    await connection.execute(f"create database {name} template {template}")
    await connection.close()
    return _at(server, name)


def _at(server: str, database: str) -> str:
    return server.replace("/postgres?", f"/{database}?")
