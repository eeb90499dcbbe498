"""Jobs: done once, held by a process, and taken over from a dead one."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.errors import OutcomeUnknown
from bot.slack.incoming.deliveries import Deliveries
from bot.store.database import Database
from bot.store.job import Done, Job, Later, State
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from tests.store.processes import KEY, START, Processes
from tests.support.reading import until

AGE = timedelta(seconds=5)
KIND, ASKED = "request", {"command": "/issue", "text": "new Something typed"}


async def test_only_one_request_holds_a_claim_until_it_fails(processes: Processes) -> None:
    one, other = processes.start().jobs, processes.start().jobs
    claims = await asyncio.gather(*(claims.claim("work") for claims in (one, other) * 4))

    assert [claim.won for claim in claims].count(True) == 1
    assert not any(claim.done for claim in claims)
    holder = one if claims[0].won or claims[2].won or claims[4].won or claims[6].won else other
    await holder.release(next(claim for claim in claims if claim.won), None)
    async with other.hold("work") as again:
        assert (again.won, again.tried_at) == (True, None)
    assert (await one.claim("work")).done


async def test_the_latest_user_who_tried_is_kept(processes: Processes) -> None:
    claims, ana, ben = processes.start().jobs, Owner("E1", "T1", "U1"), Owner(None, "T1", "U2")
    await claims.release(await claims.claim("work", by=ana), State.UNKNOWN)
    for _ in range(2):
        claim = await claims.claim("work", by=ben)
        assert claim.tried_by == ana
        await claims.release(claim, None)

    claim = await claims.claim("work", by=ben)
    processes.now += AGE
    await claims.begin_as(claim, ben)
    await claims.release(claim, State.UNKNOWN)

    again = await claims.claim("work", by=ana)
    assert (again.tried_by, processes.tried(again)) == (ben, processes.now)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), OutcomeUnknown("PUT", "/issues/1.json")])
async def test_uncertain_work_stays_so_until_it_is_done(processes: Processes, error: BaseException) -> None:
    claims = processes.start().jobs
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
    job = await slow.jobs.claim("work")
    await processes.pass_time(600)
    meanwhile = await other.jobs.claim("work")
    await processes.pass_time(dead=[slow])
    after = await other.jobs.claim("work")

    assert job.won
    assert (meanwhile.won, meanwhile.done) == (False, False)
    assert (after.won, processes.tried(after)) == (True, began)
    await slow.jobs.release(job, None)
    assert not (await slow.jobs.claim("work")).won


async def test_a_request_canceled_while_claiming_leaves_the_claim_to_its_holder(processes: Processes) -> None:
    claims = processes.start().jobs
    job = await claims.claim("work")
    canceled = asyncio.create_task(claims.claim("work"))
    await asyncio.sleep(0)
    canceled.cancel()
    await asyncio.wait({canceled})
    meanwhile = await claims.claim("work")
    await claims.release(job, State.DONE)

    assert (meanwhile.won, meanwhile.done) == (False, False)
    assert (await claims.claim("work")).done


async def test_a_job_done_a_while_ago_can_repeat_once(processes: Processes) -> None:
    claims = processes.start().jobs
    first, second = [await claims.claim_for("press", AGE) for _ in range(2)]
    processes.now += AGE
    answers = await asyncio.gather(*(claims.claim_for("press", AGE) for _ in range(4)))

    assert (first, second) == (True, False)
    assert sorted(answers) == [False] * 3 + [True]


async def test_only_one_caller_claims_a_delivery(store: Store) -> None:
    answers = await asyncio.gather(*(store.jobs.put_held("request", "Ev1", ASKED) for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]
    assert [await store.jobs.put_done(key) for key in ("Ev1", "Ev2", "Ev2")] == [False, True, False]


def contents(jobs: Sequence[Job]) -> dict[str, object]:
    return {job.key: job.content for job in jobs}


async def test_one_process_takes_over_a_dead_ones_requests(processes: Processes) -> None:
    dead, stranger, one, other = (processes.start(key) for key in (KEY, Vault.generate_key(), KEY, KEY))
    for key in "12":
        assert await dead.jobs.put_held(KIND, key, ASKED)
    assert await dead.jobs.put_done("3")
    assert await stranger.jobs.put_held(KIND, "can't be decrypted", ASKED)
    await dead.jobs.finish({"2"})
    await processes.pass_time()
    while_alive = [*await one.jobs.due(), *await one.jobs.take(KIND, 9)]
    await processes.pass_time(dead=[dead, stranger])
    takers = await asyncio.gather(one.jobs.take(KIND, 9), other.jobs.take(KIND, 9))
    third = processes.start()
    await processes.pass_time(dead=[dead, stranger, one, other])
    again = await third.jobs.take(KIND, 9)
    for job in again:
        await third.jobs.settle(job, Done())

    assert while_alive == []
    [taken] = [taken for taken in takers if taken]
    assert contents(taken) == contents(again) == {"1": ASKED, "can't be decrypted": None}
    assert {job.tried_at for job in again} == {None}
    assert await third.jobs.take(KIND, 9) == []


async def test_no_process_counts_as_dead_after_a_database_outage(processes: Processes) -> None:
    idle, observer = processes.start(), processes.start()
    await processes.pass_time()
    assert await idle.jobs.put_held(KIND, "1", ASKED)
    await processes.pass_time(dead=[idle, observer])

    assert await observer.jobs.take(KIND, 9) == []
    await observer.processes.beat()
    assert await observer.jobs.take(KIND, 9) == []
    await idle.processes.beat()
    assert await observer.jobs.take(KIND, 9) == []


async def test_requests_done_in_an_outage_are_recorded_later(database: Database, store: Store) -> None:
    count_held = text("select count(*) from jobs where holder is not null")

    async def none() -> bool:
        return not await database.read(lambda connection: connection.scalar(count_held))

    await store.jobs.put_held(KIND, "1", ASKED)
    await database.execute(text("alter table jobs rename to away"))
    Deliveries(store.jobs, retry_seconds=0.05).complete("1")
    await asyncio.sleep(0.2)
    await database.execute(text("alter table away rename to jobs"))
    await until(none)


async def test_each_of_many_due_jobs_is_taken_once_the_longest_overdue_first(processes: Processes) -> None:
    stores = [processes.start() for _ in range(4)]
    for number in range(60):
        await stores[0].jobs.put(KIND, f"{number:02}", number)
        processes.now += AGE

    first = await stores[0].jobs.take(KIND, 5)
    others = await asyncio.gather(*(stores[number % 4].jobs.take(KIND, 5) for number in range(20)))

    assert [job.content for job in first] == list(range(5))
    assert sorted(job.content for jobs in (first, *others) for job in jobs) == list(range(60))


async def test_a_job_put_again_during_its_work_repeats_once(processes: Processes) -> None:
    one, other = processes.start().jobs, processes.start().jobs
    await one.put(KIND, "1", "first")
    [job] = await one.take(KIND, 9)
    await other.put(KIND, "1", "second")

    assert await other.take(KIND, 9) == []
    await one.settle(job, Done())
    [again] = await other.take(KIND, 9)
    assert again.content == "second"
    await other.settle(again, Done())
    assert await one.due() == []
    await other.put(KIND, "1", "third")
    assert contents(await one.take(KIND, 9)) == {"1": "third"}


async def test_a_request_in_transit_is_kept_until_its_arrival(processes: Processes) -> None:
    dead, other = processes.start(), processes.start()
    await processes.pass_time()
    await dead.jobs.put(KIND, "1", ASKED)
    [job] = await dead.jobs.take(KIND, 9)
    assert await dead.jobs.keep(job, processes.now, timedelta(minutes=5))
    kept_at = processes.now
    await processes.pass_time(200, dead=[dead])
    early = await other.jobs.take(KIND, 9)
    await processes.pass_time(200, dead=[dead])
    [late] = await other.jobs.take(KIND, 9)
    await other.jobs.settle(late, Later(10, searched_to="1.5"))

    assert early == []
    assert (late.tried_at, late.age) == (kept_at, processes.now - kept_at)
    assert await other.jobs.take(KIND, 9) == []
    processes.now += timedelta(seconds=10)
    [again] = await other.jobs.take(KIND, 9)
    assert (again.tried_at, again.searched_to) == (kept_at, "1.5")
    await other.jobs.settle(again, Later(0, unknown=False))
    [fresh] = await other.jobs.take(KIND, 9)
    assert (fresh.tried_at, fresh.searched_to) == (None, None)


async def test_jobs_of_a_stopped_process_are_due_at_once(processes: Processes) -> None:
    leaving, other = processes.start(), processes.start()
    await leaving.jobs.put_held(KIND, "1", ASKED)
    await leaving.jobs.claim("form")
    await leaving.jobs.leave()

    assert contents(await other.jobs.take(KIND, 9)) == {"1": ASKED}
    claim = await other.jobs.claim("form")
    assert (claim.won, processes.tried(claim)) == (True, processes.now)


async def test_a_paused_process_settles_no_job_of_another(processes: Processes) -> None:
    paused, other = processes.start(), processes.start()
    await processes.pass_time()
    await paused.jobs.put(KIND, "1", ASKED)
    [job] = await paused.jobs.take(KIND, 9)
    await processes.pass_time(dead=[paused])
    [taken] = await other.jobs.take(KIND, 9)

    assert not await paused.jobs.keep(job, processes.now, AGE)
    await paused.jobs.settle(job, Done())
    await paused.jobs.settle(job, Later(0))
    assert await paused.jobs.take(KIND, 9) == []
    assert await other.jobs.keep(taken, processes.now, AGE)
