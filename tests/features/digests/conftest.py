"""A newsroom on each database, with the database's clock in the newsroom's hand."""

from collections.abc import AsyncIterator

import pytest

from bot.store.database import Database
from tests.features.digests.newsroom import Newsroom


@pytest.fixture
async def newsroom(database: Database) -> AsyncIterator[Newsroom]:
    newsroom = Newsroom(database)
    await newsroom.open()
    yield newsroom
    await newsroom.close()
