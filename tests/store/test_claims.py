"""Claims on deliveries and on work that is done once: held by a process, and taken over from a dead one."""

import asyncio
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import bindparam, select, text

from bot.errors import OutcomeUnknown
from bot.slack.incoming.deliveries import CompletedDeliveries
from bot.store.claims import State
from bot.store.column_types import UtcDateTime
from bot.store.database import Database
from bot.store.deliveries import UnfinishedRequest
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from tests.support.reading import until

START = datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
AGE = timedelta(seconds=5)
KEY = Vault.generate_key()


class Processes:
    """Processes on one database, whose clock is `now`."""

    def __init__(self, database: Database) -> None:
        self.now = START
        self._database = database
        self._alive: list[Store] = []

    def start(self, key: SecretStr = KEY) -> Store:
        clock = select(bindparam("now", callable_=lambda: self.now, type_=UtcDateTime()))
        self._alive.append(Store(self._database, Vault([key]), clock=clock))
        return self._alive[-1]

    async def pass_time(self, seconds: int = 40, *, dead: Collection[Store] = ()) -> None:
        for _ in range(seconds // 5):
            self.now += timedelta(seconds=5)
            for store in self._alive:
                if store not in dead:
                    await store.processes.beat()


@pytest.fixture
def processes(database: Database) -> Processes:
    return Processes(database)


@pytest.fixture
def asked(ana: Owner) -> UnfinishedRequest:
    return UnfinishedRequest(ana, ("E1", "T9"), {"command": "/issue", "text": "new Something typed"})


async def test_only_one_request_holds_a_claim_until_it_fails(processes: Processes) -> None:
    one, other = processes.start().claims, processes.start().claims
    claims = await asyncio.gather(*(claims.take("work") for claims in (one, other) * 4))

    assert [claim.won for claim in claims].count(True) == 1
    assert not any(claim.done for claim in claims)
    holder = one if claims[0].won or claims[2].won or claims[4].won or claims[6].won else other
    await holder.settle(next(claim for claim in claims if claim.won), None)
    async with other.hold("work") as again:
        assert (again.won, again.tried_at) == (True, None)
    assert (await one.take("work")).done


async def test_who_tried_is_kept_until_the_work_begins_anew(processes: Processes) -> None:
    claims, ana, ben = processes.start().claims, Owner("E1", "T1", "U1"), Owner(None, "T1", "U2")
    await claims.settle(await claims.take("work", by=ana), State.UNKNOWN)
    for _ in range(2):
        claim = await claims.take("work", by=ben)
        assert claim.tried_by == ana
        await claims.settle(claim, None)

    claim = await claims.take("work", by=ben)
    processes.now += AGE
    await claims.begin_anew(claim, ben)
    await claims.settle(claim, State.UNKNOWN)

    again = await claims.take("work", by=ana)
    assert (again.tried_by, again.tried_at) == (ben, processes.now)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), OutcomeUnknown("PUT", "/issues/1.json")])
async def test_work_of_unknown_outcome_stays_unknown_until_it_is_done(
    processes: Processes, error: BaseException
) -> None:
    claims = processes.start().claims
    for failure in (error, ValueError()):
        with pytest.raises(type(failure)):
            async with claims.hold("work"):
                raise failure
        processes.now += AGE

    async with claims.hold("work") as again:
        assert again.tried_at == START
    assert (await claims.take("work")).done


async def test_a_live_process_keeps_a_claim_that_a_dead_one_loses(processes: Processes) -> None:
    slow, other = processes.start(), processes.start()
    await processes.pass_time()
    began = processes.now
    held = await slow.claims.take("work")
    await processes.pass_time(600)
    meanwhile = await other.claims.take("work")
    await processes.pass_time(dead=[slow])
    after = await other.claims.take("work")

    assert held.won
    assert (meanwhile.won, meanwhile.done) == (False, False)
    assert (after.won, after.tried_at) == (True, began)
    await slow.claims.settle(held, None)
    assert not (await slow.claims.take("work")).won


async def test_a_request_canceled_while_claiming_leaves_the_claim_to_its_holder(processes: Processes) -> None:
    claims = processes.start().claims
    held = await claims.take("work")
    canceled = asyncio.create_task(claims.take("work"))
    await asyncio.sleep(0)
    canceled.cancel()
    await asyncio.wait({canceled})
    meanwhile = await claims.take("work")
    await claims.settle(held, State.DONE)

    assert (meanwhile.won, meanwhile.done) == (False, False)
    assert (await claims.take("work")).done


async def test_what_was_done_a_while_ago_can_be_done_again_once(processes: Processes) -> None:
    claims = processes.start().claims
    first, second = [await claims.claim_for("press", AGE) for _ in range(2)]
    processes.now += AGE
    answers = await asyncio.gather(*(claims.claim_for("press", AGE) for _ in range(4)))
    processes.now -= timedelta(hours=1)  # the clock was set back
    back = await claims.claim_for("press", AGE)

    assert (first, second, back) == (True, False, True)
    assert sorted(answers) == [False] * 3 + [True]


async def test_only_one_caller_claims_a_delivery(store: Store) -> None:
    answers = await asyncio.gather(*(store.deliveries.claim("Ev1") for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]
    assert await store.deliveries.claim("Ev2")


async def test_one_process_takes_over_a_dead_ones_requests(
    processes: Processes, asked: UnfinishedRequest
) -> None:
    dead, stranger, one, other = (processes.start(key) for key in (KEY, Vault.generate_key(), KEY, KEY))
    for claimed in (dead.deliveries.claim("1", asked), dead.deliveries.claim("2", asked)):
        assert await claimed
    assert await dead.deliveries.claim("3")
    assert await stranger.deliveries.claim("can't be decrypted", asked)
    await dead.deliveries.finish({"2"})
    await processes.pass_time()
    while_alive = await one.deliveries.take_abandoned()
    await processes.pass_time(dead=[dead, stranger])
    takers = await asyncio.gather(one.deliveries.take_abandoned(), other.deliveries.take_abandoned())
    third = processes.start()
    await processes.pass_time(dead=[dead, stranger, one, other])
    again = await third.deliveries.take_abandoned()
    await third.deliveries.finish(again)

    assert while_alive == {}
    assert [taken for taken in takers if taken] == [{"1": asked, "can't be decrypted": None}]
    assert again == {"1": asked, "can't be decrypted": None}
    assert await third.deliveries.take_abandoned() == {}


async def test_no_process_counts_as_dead_after_a_database_outage(
    processes: Processes, asked: UnfinishedRequest
) -> None:
    idle, observer = processes.start(), processes.start()
    await processes.pass_time()
    assert await idle.deliveries.claim("1", asked)
    await processes.pass_time(dead=[idle, observer])

    assert await observer.deliveries.take_abandoned() == {}
    await observer.processes.beat()
    assert await observer.deliveries.take_abandoned() == {}
    await idle.processes.beat()
    assert await observer.deliveries.take_abandoned() == {}


async def test_requests_finished_during_a_database_outage_are_recorded_later(
    database: Database, store: Store, asked: UnfinishedRequest
) -> None:
    held = text("select count(*) from deliveries where holder is not null")

    async def none() -> bool:
        return not await database.read(lambda connection: connection.scalar(held))

    await store.deliveries.claim("1", asked)
    await database.execute(text("alter table deliveries rename to away"))
    CompletedDeliveries(store.deliveries, retry_seconds=0.05).add("1")
    await asyncio.sleep(0.2)
    await database.execute(text("alter table away rename to deliveries"))
    await until(none)
