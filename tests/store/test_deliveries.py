"""Claims on deliveries. Those of a crashed process are taken over by one other process, once."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from bot.slack.deliveries import CompletedDeliveries
from bot.store.database import Database
from bot.store.deliveries import UnfinishedRequest
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import Timings
from tests.support.reading import until

KEY = Vault.generate_key()
HASTY = Timings(heartbeat_timeout=3)  # SQLite's clock has whole seconds


async def test_only_one_caller_claims_a_delivery(store: Store) -> None:
    answers = await asyncio.gather(*(store.deliveries.claim("Ev1") for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]
    assert await store.deliveries.claim("Ev2")


@pytest.fixture
def asked(ana: Owner) -> UnfinishedRequest:
    return UnfinishedRequest(ana, ("E1", "T9"), {"command": "/issue", "text": "new Something typed"})


@asynccontextmanager
async def process(database: Database, key: SecretStr = KEY) -> AsyncIterator[Store]:
    """A process that sends heartbeats until it crashes."""
    store = Store(database, Vault([key]), timings=HASTY)
    await store.processes.beat()

    async def send_heartbeats() -> None:
        while True:
            await asyncio.sleep(0.3)
            await store.processes.beat()

    heartbeats = asyncio.create_task(send_heartbeats())
    yield store
    heartbeats.cancel()
    await asyncio.gather(heartbeats, return_exceptions=True)


async def taken_over(*stores: Store, seconds: float = 20) -> list[dict[str, UnfinishedRequest | None]]:
    """Return what each process takes over, until shortly after the first takeover."""
    taken: list[dict[str, UnfinishedRequest | None]] = [{} for _ in stores]
    ends, more = time.monotonic() + seconds, 3
    while more and time.monotonic() < ends:
        await asyncio.gather(*(store.processes.beat() for store in stores))
        found = await asyncio.gather(*(store.deliveries.take_abandoned() for store in stores))
        for mine, new in zip(taken, found, strict=True):
            mine.update(new)
        more -= any(taken)
        await asyncio.sleep(0.3)
    return taken


async def test_one_process_takes_over_a_dead_ones_requests(
    database: Database, asked: UnfinishedRequest
) -> None:
    async with process(database) as dead, process(database, Vault.generate_key()) as stranger:
        assert await dead.deliveries.claim("1", asked)
        assert await dead.deliveries.claim("2", asked)
        assert await dead.deliveries.claim("3")
        assert await stranger.deliveries.claim("can't be decrypted", asked)
        await dead.deliveries.finish({"2"})
    async with process(database) as one, process(database) as other:
        takers = await taken_over(one, other)
    async with process(database) as third:
        [again] = await taken_over(third)
        await third.deliveries.finish(again)
        [left] = await taken_over(third, seconds=1)

    assert [taken for taken in takers if taken] == [{"1": asked, "can't be decrypted": None}]
    assert again == {"1": asked, "can't be decrypted": None}
    assert left == {}


async def test_no_process_counts_as_dead_after_a_database_outage(
    database: Database, asked: UnfinishedRequest
) -> None:
    idle, observer = (Store(database, Vault([KEY]), timings=HASTY) for _ in range(2))
    for store in (idle, observer):
        await store.processes.beat()
    assert await idle.deliveries.claim("1", asked)
    await asyncio.sleep(4)

    assert await observer.deliveries.take_abandoned() == {}
    await observer.processes.beat()
    assert await observer.deliveries.take_abandoned() == {}
    await idle.processes.beat()
    assert await observer.deliveries.take_abandoned() == {}


async def test_requests_finished_during_a_database_outage_are_recorded_later(
    database: Database, store: Store, asked: UnfinishedRequest
) -> None:
    await store.deliveries.claim("1", asked)
    await database.write(lambda connection: connection.execute(text("alter table deliveries rename to away")))

    CompletedDeliveries(store.deliveries, retry_seconds=0.2).add("1")
    await asyncio.sleep(0.4)
    await database.write(lambda connection: connection.execute(text("alter table away rename to deliveries")))
    held = text("select count(*) from deliveries where holder is not null")

    async def none() -> bool:
        return not await database.read(lambda connection: connection.scalar(held))

    await until(none)
