"""The connection to the database: SQLite in a file, or PostgreSQL for several replicas."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Dialect,
    delete,
    event,
    inspect,
    make_url,
    select,
    text,
    tuple_,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import ConnectionPoolEntry

SECONDS_TO_CONNECT = 10
SECONDS_PER_STATEMENT = 30
BATCH = 1000
"""How many old rows are deleted at a time."""
Age = Literal["older", "current", "newer"]
MIGRATION_LOCK = 4_120_061_153  # any number that no other program takes on the same database


class DatabaseUnavailableError(Exception):
    """The database can't be opened; the message says why, without its address's password."""


class Database:
    """The database at a plain URL: `sqlite:///path` or `postgresql://…`; the driver is chosen here.

    The options of a PostgreSQL URL are libpq's (`sslmode`, `host`, …), as asyncpg reads them. `for_writing`
    is for slack_sdk's stores, which make their own transactions.
    Raises ValueError for any other address.
    """

    def __init__(self, url: str) -> None:
        parsed = _parse(url)
        self.dialect = parsed.get_backend_name()
        self._engine = _sqlite(parsed) if self.dialect == "sqlite" else _postgresql(parsed)
        self.for_writing = self._engine.execution_options(writes=True)
        self._reading = async_sessionmaker(self._engine, expire_on_commit=False)
        self._writing = async_sessionmaker(self.for_writing, expire_on_commit=False)

    async def open(self, say: Callable[[str], object] = lambda _: None) -> None:
        """Connects and migrates to this version's tables; DatabaseUnavailableError when that fails.

        `say` is told each migration's number and meaning right before it runs.
        One process migrates at a time; a database that is newer than this version is left as it is,
        so that old and new replicas live side by side during a release.
        """
        with _explained():
            async with self.for_writing.begin() as connection:
                if self.dialect == "postgresql":
                    lock = text("select pg_advisory_xact_lock(:lock)")
                    await connection.execute(lock, {"lock": MIGRATION_LOCK})
                await connection.run_sync(_migrate, say)

    async def close(self) -> None:
        """Closes every connection."""
        await self._engine.dispose()

    async def ping(self) -> None:
        """Asks the database for an answer; DatabaseUnavailableError when there is none."""
        with _explained():
            async with self._reading() as session:
                await session.execute(text("select 1"))

    async def try_writing(self) -> None:
        """Makes a table, and takes it back; DatabaseUnavailableError where that can't be done."""
        with _explained():
            async with self.for_writing.connect() as connection:
                await connection.execute(text("create table issuebot_tried (id integer)"))
                await connection.rollback()

    async def age(self) -> Age:
        """Whose the tables are, next to this version; DatabaseUnavailableError as for `ping`."""
        with _explained():
            async with self._engine.connect() as connection:
                return await connection.run_sync(_age)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[AsyncSession]:
        """One short transaction that writes: committed at the end, rolled back on an error.

        No network I/O to anybody else may happen inside.
        """
        async with self._writing.begin() as session:
            yield session

    async def forget(self, row: type[DeclarativeBase], old: ColumnElement[bool]) -> None:
        """Deletes the rows that are old, some at a time, so that nobody waits long for it.

        What another process deletes at this moment is left to it.
        """
        key = inspect(row).primary_key
        some = select(*key).where(old).limit(BATCH).with_for_update(skip_locked=True)
        deleted = BATCH
        while deleted >= BATCH:
            async with self.for_writing.begin() as connection:
                deleted = (await connection.execute(delete(row).where(tuple_(*key).in_(some)))).rowcount

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """One short transaction that only reads: it never waits for SQLite's single writer."""
        async with self._reading.begin() as session:
            yield session


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
        backend = parsed.drivername
    except ArgumentError:
        backend = ""
    if backend == "sqlite" and parsed.database not in {None, "", ":memory:"}:
        return parsed.set(drivername="sqlite+aiosqlite")
    if backend in {"postgresql", "postgres"}:
        return parsed.set(drivername="postgresql+asyncpg")
    raise ValueError("must be sqlite:///<file> or postgresql://<user>:<password>@<host>/<database>")


def _sqlite(url: URL) -> AsyncEngine:
    engine = create_async_engine(url, hide_parameters=True)

    @event.listens_for(engine.sync_engine, "do_connect")
    def try_first(_dialect: Dialect, _entry: object, arguments: list[Any], options: dict[str, Any]) -> None:
        # Where a file can't be opened, aiosqlite leaves a thread behind that may outlive the event loop.
        sqlite3.connect(arguments[0], uri=options.get("uri", False)).close()

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout = 10000")
        cursor.execute("PRAGMA foreign_keys = ON")
        # The mode is the file's. Of two that switch it at once, one is told at once that it's locked.
        with suppress(sqlite3.OperationalError):
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the lock at once: upgrading a reader later fails without waiting.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL) -> AsyncEngine:
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)

    async def connect() -> asyncpg.Connection:
        return await asyncpg.connect(dsn, timeout=SECONDS_TO_CONNECT, command_timeout=SECONDS_PER_STATEMENT)

    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        pool_pre_ping=True,
        pool_timeout=SECONDS_TO_CONNECT,
        hide_parameters=True,
    )


def _migrate(connection: Connection, say: Callable[[str], object]) -> None:
    config = _alembic()
    scripts = {script.revision: script for script in ScriptDirectory.from_config(config).walk_revisions()}
    there = set(MigrationContext.configure(connection).get_current_heads())
    if not there <= scripts.keys():
        return
    waiting = sorted(revision for revision in scripts if revision > max(there, default=""))

    def next_one(**_: object) -> None:
        if waiting:
            revision = waiting.pop(0)
            say(f"{revision}: {scripts[revision].doc}")

    config.attributes |= {"connection": connection, "on_version_apply": next_one}
    next_one()
    command.upgrade(config, "head")


def _age(connection: Connection) -> Age:
    scripts = ScriptDirectory.from_config(_alembic())
    there = set(MigrationContext.configure(connection).get_current_heads())
    if there == set(scripts.get_heads()):
        return "current"
    return "older" if there <= {script.revision for script in scripts.walk_revisions()} else "newer"


def _alembic() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def _explained() -> Iterator[None]:
    """The driver's own sentence; SQLAlchemy's has the statement and a link to a manual besides."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        reason = str(getattr(error, "orig", None) or error) or type(error).__name__
        raise DatabaseUnavailableError(reason.splitlines()[0]) from None
