import asyncio
import os
import socket
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from bot.store.claims import Claims
from bot.store.database import Database, DatabaseUnavailableError
from bot.store.store import Store
from bot.store.tables import Table
from bot.store.vault import Vault

WRITTEN = text("insert into claims (key, state, at) values ('Ev1', 'done', '2026-01-01 00:00:00')")


def claims(database: Database) -> Claims:
    return Store(database, Vault([Vault.generate_key()])).claims


@asynccontextmanager
async def opened(file: Path, wait_seconds: float = 10) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{file}", wait_seconds=wait_seconds)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def test_a_new_sqlite_database_is_private_to_its_owner(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with opened(tmp_path / "bot.db"):
            file_modes = modes(tmp_path)
    finally:
        os.umask(before)

    assert file_modes == {"bot.db": "0o600", "bot.db-wal": "0o600", "bot.db-shm": "0o600"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
async def test_a_database_that_root_creates_belongs_to_the_directorys_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, 12_345, 54_321)

    async with opened(tmp_path / "bot.db"):
        file_owners = owners(tmp_path)

    assert file_owners == {"bot.db": 12_345, "bot.db-wal": 12_345, "bot.db-shm": 12_345}


def owners(directory: Path) -> dict[str, int]:
    return {file.name: file.stat().st_uid for file in directory.iterdir()}


def modes(directory: Path) -> dict[str, str]:
    return {file.name: oct(file.stat().st_mode & 0o777) for file in directory.iterdir()}


async def test_replicas_starting_together_migrate_once(empty_url: str) -> None:
    replicas = [Database(empty_url) for _ in range(4)]

    await asyncio.gather(*(replica.open() for replica in replicas))

    assert {await replica.age() for replica in replicas} == {"current"}
    await asyncio.gather(*(replica.close() for replica in replicas))


async def test_migrations_match_the_table_definitions(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), Table.metadata))

    assert await database.read(differences) == []


async def test_a_failed_transaction_is_rolled_back(database: Database) -> None:
    def fail_after_writing(connection: Connection) -> None:
        connection.execute(WRITTEN)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await database.write(fail_after_writing)
    assert await claims(database).record_done("Ev1")


async def test_database_errors_do_not_show_values(database: Database) -> None:
    statement = text("insert into nowhere values (:value)")

    with pytest.raises(SQLAlchemyError) as refused:
        await database.write(lambda connection: connection.execute(statement, {"value": "canary"}))

    assert "nowhere" in str(refused.value)
    assert "canary" not in str(refused.value)


async def test_a_database_that_does_not_respond_is_reported_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # it never answers
        database = Database(f"postgresql://bot@127.0.0.1:{server.getsockname()[1]}/bot", wait_seconds=0.1)
        async with asyncio.timeout(5):
            with pytest.raises(DatabaseUnavailableError, match=r"^it doesn't respond$"):
                await database.open()
            await database.close()


async def test_reads_continue_while_another_process_writes(tmp_path: Path) -> None:
    async with opened(tmp_path / "bot.db") as database:
        with closing(sqlite3.connect(tmp_path / "bot.db", isolation_level=None)) as other:
            other.execute("begin immediate")
            writing = asyncio.create_task(claims(database).record_done("Ev1"))
            async with asyncio.timeout(5):
                for _ in range(20):
                    await database.scalar(text("select 1"))
                    await asyncio.sleep(0.01)
            assert not writing.done()
            other.execute("commit")
        assert await writing


async def test_a_canceled_caller_leaves_no_open_transaction(tmp_path: Path) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def write_for_long(connection: Connection) -> None:
        connection.execute(WRITTEN)
        begun.set()
        assert goes_on.wait(10)

    async with opened(tmp_path / "bot.db") as database:
        writing = asyncio.create_task(database.write(write_for_long))
        queued = asyncio.create_task(claims(database).record_done("Ev2"))
        await asyncio.to_thread(begun.wait, 10)
        for cancelled in (writing, queued):
            cancelled.cancel()
        await asyncio.gather(writing, queued, return_exceptions=True)
        asyncio.get_running_loop().call_later(0.3, goes_on.set)

    assert writing.cancelled()
    with closing(sqlite3.connect(tmp_path / "bot.db", timeout=0, isolation_level=None)) as other:
        other.execute("begin immediate")
        assert other.execute("select key from claims").fetchall() == [("Ev1",)]


async def test_queued_writers_time_out_together(tmp_path: Path) -> None:
    async with opened(tmp_path / "bot.db", wait_seconds=0.4) as database:
        with closing(sqlite3.connect(tmp_path / "bot.db", isolation_level=None)) as other:
            other.execute("begin immediate")
            async with asyncio.timeout(3):
                refused = await asyncio.gather(
                    *(claims(database).record_done(f"Ev{n}") for n in range(8)), return_exceptions=True
                )

        assert all(isinstance(one, SQLAlchemyError) for one in refused)
        assert await claims(database).record_done("Ev1")


@pytest.mark.parametrize(
    "url", ["", "bot.db", "sqlite://", "sqlite:///:memory:", "mysql://somebody:pa55word@localhost/bot"]
)
def test_unsupported_urls_are_refused_with_a_hint(url: str) -> None:
    with pytest.raises(ValueError, match="must be sqlite:///") as refused:
        Database(url)
    assert "pa55word" not in str(refused.value)
