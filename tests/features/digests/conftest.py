"""The digest harness; it sets the database's clock."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.database import Database
from tests.features.digests.newsroom import DigestHarness
from tests.support.prepared import sqlite


@pytest.fixture
async def harness(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[DigestHarness]:
    """Opens a harness; tests with the `url` fixture run it on both databases."""
    both = "url" in request.fixturenames
    database = Database(request.getfixturevalue("url") if both else sqlite(tmp_path / "bot.db"))
    await database.open()
    harness = DigestHarness(database)
    await harness.open()
    yield harness
    await harness.close()
    await database.close()
