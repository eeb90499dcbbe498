"""The digest harness on each database; the harness sets the database's clock."""

from collections.abc import AsyncIterator

import pytest

from bot.store.database import Database
from tests.features.digests.newsroom import DigestHarness


@pytest.fixture
async def harness(database: Database) -> AsyncIterator[DigestHarness]:
    harness = DigestHarness(database)
    await harness.open()
    yield harness
    await harness.close()
