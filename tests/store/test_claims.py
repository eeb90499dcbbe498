"""Claims: held by one request, and taken over from a process that crashed."""

import asyncio
from datetime import timedelta

import pytest

from bot.errors import OutcomeUnknown
from bot.store.claims import State
from bot.store.owner import Owner
from tests.store.processes import START, Processes

AGE = timedelta(seconds=5)


async def test_only_one_request_holds_a_claim_until_it_fails(processes: Processes) -> None:
    one, other = processes.start().claims, processes.start().claims
    claims = await asyncio.gather(*(claims.claim("work") for claims in (one, other) * 4))

    assert [claim.won for claim in claims].count(True) == 1
    assert not any(claim.done for claim in claims)
    holder = one if claims[0].won or claims[2].won or claims[4].won or claims[6].won else other
    await holder.settle(next(claim for claim in claims if claim.won), None)
    async with other.hold("work") as again:
        assert (again.won, again.tried_at) == (True, None)
    assert (await one.claim("work")).done


async def test_the_latest_user_who_tried_is_kept(processes: Processes) -> None:
    claims, ana, ben = processes.start().claims, Owner("E1", "T1", "U1"), Owner(None, "T1", "U2")
    await claims.settle(await claims.claim("work", by=ana), State.UNKNOWN)
    for _ in range(2):
        claim = await claims.claim("work", by=ben)
        assert claim.tried_by == ana
        await claims.settle(claim, None)

    claim = await claims.claim("work", by=ben)
    processes.now += AGE
    await claims.attempt_as(claim, ben)
    await claims.settle(claim, State.UNKNOWN)

    again = await claims.claim("work", by=ana)
    assert (again.tried_by, processes.tried(again)) == (ben, processes.now)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), OutcomeUnknown("PUT", "/issues/1.json")])
async def test_an_unknown_outcome_stays_so_until_the_work_is_done(
    processes: Processes, error: BaseException
) -> None:
    claims = processes.start().claims
    for failure in (error, ValueError()):
        with pytest.raises(type(failure)):
            async with claims.hold("work"):
                raise failure
        processes.now += AGE

    async with claims.hold("work") as again:
        assert processes.tried(again) == START
    assert (await claims.claim("work")).done


async def test_a_live_process_keeps_a_claim_that_a_dead_one_loses(processes: Processes) -> None:
    slow, other = processes.start(), processes.start()
    await processes.pass_time()
    began = processes.now
    job = await slow.claims.claim("work")
    await processes.pass_time(600)
    meanwhile = await other.claims.claim("work")
    await processes.pass_time(dead=[slow])
    after = await other.claims.claim("work")

    assert job.won
    assert (meanwhile.won, meanwhile.done) == (False, False)
    assert (after.won, processes.tried(after)) == (True, began)
    await slow.claims.settle(job, None)
    assert not (await slow.claims.claim("work")).won


async def test_a_request_canceled_while_claiming_leaves_the_claim_to_its_holder(processes: Processes) -> None:
    claims = processes.start().claims
    job = await claims.claim("work")
    canceled = asyncio.create_task(claims.claim("work"))
    await asyncio.sleep(0)
    canceled.cancel()
    await asyncio.wait({canceled})
    meanwhile = await claims.claim("work")
    await claims.settle(job, State.DONE)

    assert (meanwhile.won, meanwhile.done) == (False, False)
    assert (await claims.claim("work")).done


async def test_a_job_done_a_while_ago_can_repeat_once(processes: Processes) -> None:
    claims = processes.start().claims
    first, second = [await claims.claim_once("press", AGE) for _ in range(2)]
    processes.now += AGE
    answers = await asyncio.gather(*(claims.claim_once("press", AGE) for _ in range(4)))

    assert (first, second) == (True, False)
    assert sorted(answers) == [False] * 3 + [True]
