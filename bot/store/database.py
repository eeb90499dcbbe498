"""The database: SQLite for one process, or PostgreSQL for several replicas."""

import asyncio
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Executable,
    Row,
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
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as WaitedTooLongError
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute
from sqlalchemy.pool import ConnectionPoolEntry

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert

    from bot.store.postgresql import Postgresql

T = TypeVar("T")

MAX_READERS = 4  # concurrent read transactions of a SQLite database
Age = Literal["older", "current", "newer"]
LATEST = max(path.name for path in (Path(__file__).parent / "migrations/versions").glob("[0-9]*.py"))[:4]
"""The latest revision, from the names of the migration files."""
NEWER = "a newer version migrated it, so run that version, or restore a backup from before the upgrade"
VERSIONS = table("alembic_version", column("version_num"))
MIGRATION_LOCK = 4_120_061_153  # an arbitrary advisory lock ID


class DatabaseUnavailableError(Exception):
    """The database can't be used. The message says why, without the password in its URL."""


class Database:
    """The database at `sqlite:///path` or `postgresql://…`.

    A PostgreSQL URL may have libpq's options (`sslmode`, `host`, …), as far as asyncpg supports them.
    `insert` makes a statement with `on_conflict_do_nothing` and `on_conflict_do_update`. `wait_seconds` is
    the longest that a transaction waits for SQLite's write lock, or for a connection to PostgreSQL, and
    `batch` the number of rows per delete statement.
    Raises ValueError for any other URL.
    """

    def __init__(self, url: str, *, wait_seconds: float = 10, batch: int = 1000) -> None:
        parsed = _parse(url)
        self._batch = batch
        self.dialect = parsed.get_backend_name()
        self._driver: _Sqlite | Postgresql
        if self.dialect == "sqlite":
            self._driver = _Sqlite(parsed, wait_seconds)
        else:
            from bot.store import postgresql  # noqa: PLC0415 - its driver takes megabytes

            self._driver = postgresql.Postgresql(parsed, wait_seconds)
        self.insert = self._driver.insert

    async def open(self, on_migration: Callable[[str], object] = lambda _: None) -> None:
        """Connect, and migrate to this version's schema. Raises DatabaseUnavailableError.

        Calls `on_migration` with each migration's number and title before it runs, possibly in another
        thread. One process migrates at a time. A newer schema is refused; a replica that has opened the
        database before goes on working with it.
        """

        def migrate(connection: Connection) -> None:
            if self.dialect == "postgresql":
                connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
            age = _age(connection)
            if age == "newer":
                raise DatabaseUnavailableError(NEWER)
            if age == "older":
                from bot.store import migrations  # noqa: PLC0415 - importing alembic is slow

                migrations.migrate(connection, on_migration)

        with translated_errors():
            await self.write(migrate)

    async def close(self) -> None:
        """Wait for running transactions, and close all connections."""
        await self._driver.close()

    async def check_writable(self) -> None:
        """Check that the database is writable, by creating a table and rolling back. Raises
        DatabaseUnavailableError.
        """

        def make(connection: Connection) -> None:
            connection.execute(text("create table issuebot_tried (id integer)"))
            connection.rollback()

        with translated_errors():
            await self.write(make)

    async def age(self) -> Age:
        """Return how the schema compares to this version's. Raises DatabaseUnavailableError."""
        with translated_errors():
            return await self.read(_age)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a short read-only transaction and return its result.

        Never waits for SQLite's write lock. `work` may run in another thread and can't await. Raises
        SQLAlchemyError, and any error of `work`.
        """
        return await self._driver.transact(work, writes=False)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a short read-write transaction and return its result; otherwise like `read`.

        The transaction is committed at the end and rolled back on an error. If the caller is canceled, a
        transaction that has begun may still be committed.
        """
        return await self._driver.transact(work, writes=True)

    # Building a statement takes longer than running it: what every request runs is built once, and gets its
    # values here.

    async def one(self, statement: Executable, **values: object) -> Row[Any] | None:
        return await self._driver.transact(
            lambda it: it.execute(statement, values).one_or_none(), writes=False
        )

    async def rows(self, statement: Executable) -> Sequence[Row[Any]]:
        return await self._driver.transact(lambda it: it.execute(statement).all(), writes=False)

    async def scalar(self, statement: Executable) -> Any:  # noqa: ANN401 - the type of the column
        return await self._driver.transact(lambda it: it.scalar(statement), writes=False)

    async def execute(self, *statements: Executable, **values: object) -> None:
        """Run statements that change rows, in one transaction."""
        await self._driver.transact(lambda it: [it.execute(each, values) for each in statements], writes=True)

    async def changes(self, statement: Executable, *also: Executable, **values: object) -> bool:
        """Run a statement that returns the rows it changes, and if it changed one, the others in the same
        transaction. Returns whether it did.
        """

        def work(connection: Connection) -> bool:
            if connection.execute(statement, values).first() is None:
                return False
            for each in also:
                connection.execute(each)
            return True

        return await self._driver.transact(work, writes=True)

    def upsert(
        self, row: type[DeclarativeBase], identity: Mapping[str, object], values: Mapping[str, object]
    ) -> "Insert | sqlite.Insert":
        """Return a statement that adds a row, or sets the values of the row with this primary key."""
        added = self.insert(row).values(**identity, **values)
        return added.on_conflict_do_update(index_elements=list(identity), set_=values)

    def taking(
        self,
        row: type[DeclarativeBase],
        free: ColumnElement[bool],
        limit: int,
        *order: InstrumentedAttribute[Any],
        **values: object,
    ) -> Executable:
        """Return a statement that sets the values of the first rows that match `free`, and returns them: only
        one caller gets each.
        """
        key = inspect(row).primary_key
        some = select(*key).where(free).order_by(*order).limit(limit).with_for_update(skip_locked=True)
        return update(row).where(tuple_(*key).in_(some)).values(values).returning(row)

    async def delete_in_batches(self, row: type[DeclarativeBase], old: ColumnElement[bool]) -> None:
        """Delete the rows that match `old`, in batches, so that other transactions don't wait long.

        Skips rows that another process is deleting.
        """
        key = inspect(row).primary_key
        some = select(*key).where(old).limit(self._batch).with_for_update(skip_locked=True)
        statement = delete(row).where(tuple_(*key).in_(some))
        deleted = self._batch
        while deleted >= self._batch:
            deleted = await self.write(lambda connection: connection.execute(statement).rowcount)


class _Sqlite:
    """Runs transactions in threads, so that the event loop never delays.

    A single writer thread avoids lock contention within the process. Each thread keeps its connection,
    because opening one takes as long as a read.
    """

    def __init__(self, url: URL, lock_seconds: float) -> None:
        self._lock_seconds = lock_seconds
        self.insert = sqlite.insert
        self.engine = _sqlite(url, lock_seconds)
        self._readers = ThreadPoolExecutor(MAX_READERS, "database-reader")
        self._writer = ThreadPoolExecutor(1, "database-writer")
        self._of_thread = threading.local()
        self._connections: list[Connection] = []

    async def transact(self, work: Callable[[Connection], T], *, writes: bool) -> T:
        latest = time.monotonic() + self._lock_seconds

        def in_thread() -> T:
            if writes and time.monotonic() > latest:  # each before this one may wait for other processes
                raise WaitedTooLongError("timed out waiting for other writers")
            connection: Connection | None = getattr(self._of_thread, "connection", None)
            if connection is None:
                connection = self._of_thread.connection = self.engine.connect()
                self._connections.append(connection)
            with connection.begin():
                # A writer takes the lock immediately: upgrading a read lock later would fail without waiting.
                connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
                return work(connection)

        threads = self._writer if writes else self._readers
        return await asyncio.get_running_loop().run_in_executor(threads, in_thread)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()
        self.engine.dispose()


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


def _sqlite(url: URL, lock_seconds: float) -> Engine:
    engine = create_engine(url, hide_parameters=True)

    @event.listens_for(engine, "do_connect")
    def create(*_: object) -> None:
        _create_private(url.database or "")

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # transactions begin in `transact`, not in the driver
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {round(lock_seconds * 1000)}")
        cursor.execute("PRAGMA foreign_keys = ON")
        # The mode is stored in the file. If two processes set it simultaneously, one fails immediately.
        with suppress(sqlite3.OperationalError):
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.close()

    return engine


def missing_file(url: str) -> Path | None:
    """Return the path of the SQLite database if no file is there yet."""
    parsed = _parse(url)
    file = parsed.database or ""
    if parsed.get_backend_name() != "sqlite" or file.startswith("file:") or Path(file).exists():
        return None
    return Path(file).resolve()


def _create_private(database: str) -> None:
    """Create a missing database file with mode 0600; SQLite would use 0644. The WAL gets the same mode.

    If root creates it, it belongs to the owner of its directory, the bot's own user; so does the WAL.
    Never opens an existing file: closing it would release this process's locks on it.
    """
    if database.startswith("file:"):
        return
    path = Path(database).resolve()
    with suppress(OSError):  # SQLite reports what's wrong with the path
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            if sys.platform != "win32" and os.geteuid() == 0:
                directory = path.parent.stat()
                os.fchown(file, directory.st_uid, directory.st_gid)
        finally:
            os.close(file)


def _age(connection: Connection) -> Age:
    migrated = inspect(connection).has_table(VERSIONS.name)
    current = migrated and connection.scalar(select(VERSIONS.c.version_num))
    if not current or current < LATEST:
        return "older"
    return "current" if current == LATEST else "newer"


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn database errors into DatabaseUnavailableError, with the driver's message.

    SQLAlchemy's message would include the statement and a link to its manual.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        reason = str(getattr(error, "orig", None) or error) or type(error).__name__
        if isinstance(error, TimeoutError):
            reason = "it doesn't respond"
        raise DatabaseUnavailableError(reason.splitlines()[0]) from None
