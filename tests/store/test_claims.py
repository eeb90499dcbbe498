"""Claims on work that is done once: held by a process, taken over from a dead one, and looked up then."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import bindparam, select

from bot.errors import OutcomeUnknown
from bot.store.claims import Claims, State
from bot.store.database import Database
from bot.store.store import Store
from bot.store.tables import UtcDateTime
from bot.store.vault import Vault

START = datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
AGE = timedelta(seconds=5)


class Processes:
    """Processes on one database, whose clock is `now`."""

    def __init__(self, database: Database) -> None:
        self.now = START
        self._database = database
        self._alive: list[Store] = []

    def start(self) -> Claims:
        clock = select(bindparam("now", callable_=lambda: self.now, type_=UtcDateTime()))
        self._alive.append(Store(self._database, Vault([Vault.generate_key()]), clock=clock))
        return self._alive[-1].claims

    async def pass_time(self, seconds: int = 40, *, dead: Claims | None = None) -> None:
        for _ in range(seconds // 5):
            self.now += timedelta(seconds=5)
            for store in self._alive:
                if store.claims is not dead:
                    await store.processes.beat()


@pytest.fixture
def processes(database: Database) -> Processes:
    return Processes(database)


async def test_only_one_request_holds_a_claim_until_it_fails(processes: Processes) -> None:
    one, other = processes.start(), processes.start()
    claims = await asyncio.gather(*(claims.take("work") for claims in (one, other) * 4))

    assert [claim.won for claim in claims].count(True) == 1
    assert not any(claim.done for claim in claims)
    holder = one if claims[0].won or claims[2].won or claims[4].won or claims[6].won else other
    await holder.settle(next(claim for claim in claims if claim.won), None)
    async with other.hold("work") as again:
        assert (again.won, again.tried_at) == (True, None)
    assert (await one.take("work")).done


@pytest.mark.parametrize("error", [asyncio.CancelledError(), OutcomeUnknown("PUT", "/issues/1.json")])
async def test_work_of_unknown_outcome_stays_unknown_until_it_is_done(
    processes: Processes, error: BaseException
) -> None:
    claims = processes.start()
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
    held = await slow.take("work")
    await processes.pass_time(600)
    meanwhile = await other.take("work")
    await processes.pass_time(dead=slow)
    after = await other.take("work")

    assert held.won
    assert (meanwhile.won, meanwhile.done) == (False, False)
    assert (after.won, after.tried_at) == (True, began)
    await slow.settle(held, None)
    assert not (await slow.take("work")).won


async def test_a_request_canceled_while_claiming_leaves_the_claim_to_its_holder(processes: Processes) -> None:
    claims = processes.start()
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
    claims = processes.start()
    first, second = [await claims.claim_for("press", AGE) for _ in range(2)]
    processes.now += AGE
    answers = await asyncio.gather(*(claims.claim_for("press", AGE) for _ in range(4)))
    processes.now -= timedelta(hours=1)  # the clock was set back
    back = await claims.claim_for("press", AGE)

    assert (first, second, back) == (True, False, True)
    assert sorted(answers) == [False] * 3 + [True]
