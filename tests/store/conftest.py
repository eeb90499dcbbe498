"""Owners and processes for the store's tests, and a database without tables."""

from pathlib import Path

import pytest

from bot.store.database import Database
from bot.store.owner import Owner
from tests.store.processes import Processes
from tests.support.prepared import new_postgresql


@pytest.fixture
def ana() -> Owner:
    return Owner(None, "T1", "U0ANA")


@pytest.fixture
def ben() -> Owner:
    return Owner("E1", "T1", "U0BEN")


@pytest.fixture(params=["sqlite", "postgresql"])
async def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/bot.db"
    return await new_postgresql(request.getfixturevalue("postgresql"), template="template1")


@pytest.fixture
def processes(database: Database) -> Processes:
    return Processes(database)
