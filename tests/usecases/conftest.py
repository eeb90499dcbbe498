"""A newsroom on each database, with the database's clock in the newsroom's hand."""

from collections.abc import AsyncIterator

import pytest

from bot.store.digest_runs import DigestRuns
from bot.store.store import Store
from bot.usecases import digest_delivery
from tests.usecases.newsroom import Newsroom


@pytest.fixture
async def newsroom(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Newsroom]:
    newsroom = Newsroom(store)

    async def now(_: DigestRuns) -> object:
        return newsroom.now

    monkeypatch.setattr(DigestRuns, "now", now)
    monkeypatch.setattr(digest_delivery, "LONGEST_POST", 0)
    await newsroom.open()
    yield newsroom
    await newsroom.close()
