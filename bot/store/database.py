"""The connection to the database: SQLite in a file, or PostgreSQL for several replicas."""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeVar

import asyncpg
from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    column,
    create_engine,
    delete,
    event,
    inspect,
    make_url,
    select,
    table,
    text,
    tuple_,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as WaitedTooLongError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import greenlet_spawn

T = TypeVar("T")

SECONDS_TO_CONNECT = 10
SECONDS_PER_STATEMENT = 30
SECONDS_TO_WAIT = 10
"""How long a transaction waits for SQLite's single writer."""
READERS = 4
"""How many transactions read a SQLite at a time."""
BATCH = 1000
"""How many old rows are deleted at a time."""
Age = Literal["older", "current", "newer"]
LATEST = max(path.name for path in (Path(__file__).parent / "migrations/versions").glob("[0-9]*.py"))[:4]
"""The revision of this version's tables, by which its migration's file is named."""
VERSIONS = table("alembic_version", column("version_num"))
MIGRATION_LOCK = 4_120_061_153  # any number that no other program takes on the same database


class DatabaseUnavailableError(Exception):
    """The database can't be opened; the message says why, without its address's password."""


class Database:
    """The database at a plain URL: `sqlite:///path` or `postgresql://…`; the driver is chosen here.

    The options of a PostgreSQL URL are libpq's (`sslmode`, `host`, …), as asyncpg reads them. `engine` is for
    slack_sdk's stores, which make their own transactions, inside `run`.
    Raises ValueError for any other address.
    """

    def __init__(self, url: str) -> None:
        parsed = _parse(url)
        self.dialect = parsed.get_backend_name()
        self._driver = _Sqlite(parsed) if self.dialect == "sqlite" else _Postgresql(parsed)
        self.engine = self._driver.engine

    async def open(self, say: Callable[[str], object] = lambda _: None) -> None:
        """Connects and migrates to this version's tables; DatabaseUnavailableError when that fails.

        `say` is told each migration's number and meaning right before it runs, maybe in another thread.
        One process migrates at a time; a database that is newer than this version is left as it is,
        so that old and new replicas live side by side during a release.
        """

        def migrate(connection: Connection) -> None:
            if self.dialect == "postgresql":
                connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
            if _age(connection) == "older":
                from bot.store import upgrade as migrating  # noqa: PLC0415 - alembic takes a tenth of a start

                migrating.migrate(connection, say)

        with explained():
            await self.write(migrate)

    async def close(self) -> None:
        """Waits for the transactions that go on, and closes every connection."""
        await self._driver.close()

    async def ping(self) -> None:
        """Asks the database for an answer; DatabaseUnavailableError when there is none."""
        with explained():
            await self.read(lambda connection: connection.scalar(text("select 1")))

    async def try_writing(self) -> None:
        """Makes a table, and takes it back; DatabaseUnavailableError where that can't be done."""

        def make(connection: Connection) -> None:
            connection.execute(text("create table issuebot_tried (id integer)"))
            connection.rollback()

        with explained():
            await self.write(make)

    async def age(self) -> Age:
        """Whose the tables are, next to this version; DatabaseUnavailableError as for `ping`."""
        with explained():
            return await self.read(_age)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, in one short transaction that only reads: it never waits for SQLite's single
        writer. Raises what `work` raises, or SQLAlchemyError.

        `work` may run in another thread. It can't await, so no network I/O to anybody else happens inside.
        """
        return await self._driver.read(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """As `read`, in one short transaction that writes: committed at the end, rolled back on an error.

        Where the caller is cancelled, a transaction that has begun may still be committed.
        """
        return await self._driver.write(work)

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns, which makes its own short transactions with `engine`; as `write` otherwise."""
        return await self._driver.run(work)

    async def forget(self, row: type[DeclarativeBase], old: ColumnElement[bool]) -> None:
        """Deletes the rows that are old, some at a time, so that nobody waits long for it.

        What another process deletes at this moment is left to it.
        """
        key = inspect(row).primary_key
        some = select(*key).where(old).limit(BATCH).with_for_update(skip_locked=True)
        statement = delete(row).where(tuple_(*key).in_(some))
        deleted = BATCH
        while deleted >= BATCH:
            deleted = await self.write(lambda connection: connection.execute(statement).rowcount)


class _Sqlite:
    """Each transaction is one step of a thread, which may wait: the event loop never does.

    SQLite has one writer, and so has this process, so that its own never fight for the lock. Each thread
    keeps its connection: to take one anew takes as long as a read.
    """

    def __init__(self, url: URL) -> None:
        engine = _sqlite(url)
        self.engine = engine.execution_options(writes=True)
        self._reading = engine
        self._readers = ThreadPoolExecutor(READERS, "database-reader")
        self._writer = ThreadPoolExecutor(1, "database-writer")
        self._of_thread = threading.local()
        self._connections: list[Connection] = []

    async def read(self, work: Callable[[Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._transaction, self._reading, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.run(lambda: self._transaction(self.engine, work))

    async def run(self, work: Callable[[], T]) -> T:
        latest = time.monotonic() + SECONDS_TO_WAIT

        def in_turn() -> T:
            # Each may wait for another process's lock: nobody waits for more than one such before.
            if time.monotonic() > latest:
                raise WaitedTooLongError("others were writing for too long")
            return work()

        return await asyncio.get_running_loop().run_in_executor(self._writer, in_turn)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _transaction(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        connection: Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = engine.connect()
            self._connections.append(connection)
        with connection.begin():
            return work(connection)

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()
        self.engine.dispose()


class _Postgresql:
    def __init__(self, url: URL) -> None:
        self._engine = _postgresql(url)
        self.engine = self._engine.sync_engine

    async def read(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.read(work)

    async def run(self, work: Callable[[], T]) -> T:
        return await greenlet_spawn(work)  # in which the engine can wait for asyncpg

    async def close(self) -> None:
        await self._engine.dispose()


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
        backend = parsed.drivername
    except ArgumentError:
        backend = ""
    if backend == "sqlite" and parsed.database not in {None, "", ":memory:"}:
        return parsed
    if backend in {"postgresql", "postgres"}:
        return parsed.set(drivername="postgresql+asyncpg")
    raise ValueError("must be sqlite:///<file> or postgresql://<user>:<password>@<host>/<database>")


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, hide_parameters=True)

    @event.listens_for(engine, "do_connect")
    def create(*_: object) -> None:
        _create_private(url.database or "")

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {SECONDS_TO_WAIT * 1000}")
        cursor.execute("PRAGMA foreign_keys = ON")
        # The mode is the file's. Of two that switch it at once, one is told at once that it's locked.
        with suppress(sqlite3.OperationalError):
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the lock at once: upgrading a reader later fails without waiting.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _create_private(database: str) -> None:
    """Creates a missing file for its owner alone: SQLite's own mode is 0644, and its WAL gets the file's.

    A file that exists isn't even opened: closing it would drop the locks that this process has on it.
    """
    if database.startswith("file:"):
        return
    with suppress(OSError):  # SQLite says what is wrong with the path
        os.close(os.open(Path(database).resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


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


def _age(connection: Connection) -> Age:
    there = inspect(connection).has_table(VERSIONS.name) and connection.scalar(select(VERSIONS.c.version_num))
    if not there or there < LATEST:
        return "older"
    return "current" if there == LATEST else "newer"


@contextmanager
def explained() -> Iterator[None]:
    """The driver's own sentence; SQLAlchemy's has the statement and a link to a manual besides."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        reason = str(getattr(error, "orig", None) or error) or type(error).__name__
        raise DatabaseUnavailableError(reason.splitlines()[0]) from None
