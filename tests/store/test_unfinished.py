"""What a process has at hand when it dies is told of by one other, once, and only then."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from bot.slack import completed_deliveries
from bot.slack.completed_deliveries import CompletedDeliveries
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.unfinished import Asked
from bot.store.vault import Vault
from bot.timings import Timings
from tests.support.reading import until

KEY = Vault.generate_key()
HASTY = Timings(heartbeat_timeout=3)  # SQLite's clock has whole seconds


@pytest.fixture
def asked(ana: Owner) -> Asked:
    return Asked(ana, ("E1", "T9"), {"command": "/issue", "text": "new Something typed"})


@asynccontextmanager
async def process(database: Database, key: SecretStr = KEY) -> AsyncIterator[Store]:
    """A process that says again and again that it lives, until it dies."""
    store = Store(database, Vault([key]), timings=HASTY)
    await store.processes.beat()

    async def live() -> None:
        while True:
            await asyncio.sleep(0.3)
            await store.processes.beat()

    living = asyncio.create_task(live())
    yield store
    living.cancel()
    await asyncio.gather(living, return_exceptions=True)


async def given_up(*stores: Store, seconds: float = 20) -> list[dict[str, Asked | None]]:
    """What each of these processes takes over until one of them does, and a little longer."""
    taken: list[dict[str, Asked | None]] = [{} for _ in stores]
    ends, more = time.monotonic() + seconds, 3
    while more and time.monotonic() < ends:
        await asyncio.gather(*(store.processes.beat() for store in stores))
        found = await asyncio.gather(*(store.unfinished.take_abandoned() for store in stores))
        for mine, new in zip(taken, found, strict=True):
            mine.update(new)
        more -= any(taken)
        await asyncio.sleep(0.3)
    return taken


async def test_what_a_dead_process_had_at_hand_is_taken_by_one_other_and_again_if_that_dies_too(
    database: Database, asked: Asked
) -> None:
    async with process(database) as dead:
        assert await dead.deliveries.claim("1", asked)
        assert await dead.deliveries.claim("2", asked)
        assert await dead.deliveries.claim("3")
        await dead.unfinished.finish({"2"})
    async with process(database) as one, process(database) as other:
        takers = await given_up(one, other)
    async with process(database) as third:
        [again] = await given_up(third)
        await third.unfinished.finish(again)
        [after_all] = await given_up(third, seconds=1)

    assert [taken for taken in takers if taken] == [{"1": asked}]
    assert again == {"1": asked}
    assert after_all == {}


async def test_nobody_is_held_to_be_dead_because_the_database_was_away(
    database: Database, asked: Asked
) -> None:
    lives, looks = (Store(database, Vault([KEY]), timings=HASTY) for _ in range(2))
    for store in (lives, looks):
        await store.processes.beat()
    assert await lives.deliveries.claim("1", asked)
    await asyncio.sleep(4)

    assert await looks.unfinished.take_abandoned() == {}
    await looks.processes.beat()
    assert await looks.unfinished.take_abandoned() == {}
    await lives.processes.beat()
    assert await looks.unfinished.take_abandoned() == {}


async def test_what_no_key_opens_is_forgotten(database: Database, asked: Asked) -> None:
    async with process(database, Vault.generate_key()) as dead:
        await dead.deliveries.claim("1", asked)
    async with process(database) as other:
        assert await given_up(other) == [{"1": None}]


async def test_what_is_at_hand_is_kept_sealed(database: Database, store: Store, asked: Asked) -> None:
    await store.deliveries.claim("1", asked)

    rows = await database.read(lambda connection: connection.execute(text("select * from deliveries")).all())
    assert "typed" not in str(rows)


async def test_what_is_finished_while_the_database_is_away_is_noted_later(
    database: Database, store: Store, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completed_deliveries, "LATER", 0.2)
    await store.deliveries.claim("1", asked)
    await database.write(lambda connection: connection.execute(text("alter table deliveries rename to away")))

    CompletedDeliveries(store.unfinished).add("1")
    await asyncio.sleep(0.4)
    await database.write(lambda connection: connection.execute(text("alter table away rename to deliveries")))
    held = text("select count(*) from deliveries where holder is not null")

    async def none() -> bool:
        return not await database.read(lambda connection: connection.scalar(held))

    await until(none)
