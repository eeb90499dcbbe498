"""Jobs: done once, held by a process, and taken over from one that crashed."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import text

from bot.slack.incoming.deliveries import Deliveries
from bot.store.database import Database
from bot.store.jobs import Done, Job, Later
from bot.store.store import Store
from bot.store.vault import Vault
from tests.store.processes import KEY, START, Processes
from tests.support.reading import until

AGE = timedelta(seconds=5)
KIND, ASKED = "request", {"command": "/issue", "text": "new Something typed"}


async def test_only_one_caller_claims_a_delivery(store: Store) -> None:
    answers = await asyncio.gather(*(store.jobs.put_held("request", "Ev1", ASKED) for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]
    assert [await store.claims.record_done("Ev2") for _ in range(2)] == [True, False]


def contents(jobs: Sequence[Job]) -> dict[str, object]:
    return {job.key: job.content for job in jobs}


async def test_one_process_takes_over_a_dead_ones_requests(processes: Processes) -> None:
    dead, stranger, one, other = (processes.start(key) for key in (KEY, Vault.generate_key(), KEY, KEY))
    for key in "12":
        assert await dead.jobs.put_held(KIND, key, ASKED)
    assert await dead.claims.record_done("3")
    assert await stranger.jobs.put_held(KIND, "can't be decrypted", ASKED)
    await dead.jobs.settle_as_done({"2"})
    await processes.pass_time()
    while_alive = [*await one.jobs.due_kinds(), *await one.jobs.take(KIND, 9)]
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
    assert {job.request_began for job in again} == {None}
    assert await third.jobs.take(KIND, 9) == []


async def test_claims_of_a_dead_process_are_lost_with_its_jobs_although_the_taker_stalls(
    processes: Processes,
) -> None:
    dead, taker = processes.start(), processes.start()
    assert await dead.jobs.put_held(KIND, "1", ASKED)
    began = await dead.claims.claim("work")
    await processes.pass_time(dead=[dead])
    assert await taker.jobs.take(KIND, 9)
    await processes.pass_time(dead=[dead, taker])

    claim = await taker.claims.claim("work")

    assert began.won
    assert (claim.won, processes.tried(claim)) == (True, START)


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
    Deliveries(store.jobs, store.claims, batch_seconds=0.1, retry_seconds=0.05).complete("1")
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
    assert await one.due_kinds() == []
    await other.put(KIND, "1", "third")
    assert contents(await one.take(KIND, 9)) == {"1": "third"}


async def test_a_request_in_transit_is_kept_until_its_arrival(processes: Processes) -> None:
    dead, other = processes.start(), processes.start()
    await processes.pass_time()
    await dead.jobs.put(KIND, "1", ASKED)
    [job] = await dead.jobs.take(KIND, 9)
    assert await dead.jobs.begin_request(job, processes.now, timedelta(minutes=5))
    kept_at = processes.now
    await processes.pass_time(200, dead=[dead])
    early = await other.jobs.take(KIND, 9)
    await processes.pass_time(200, dead=[dead])
    [late] = await other.jobs.take(KIND, 9)
    await other.jobs.settle(late, Later(10, searched_to="1.5"))

    assert early == []
    assert (late.request_began, late.age) == (kept_at, processes.now - kept_at)
    assert await other.jobs.take(KIND, 9) == []
    processes.now += timedelta(seconds=10)
    [again] = await other.jobs.take(KIND, 9)
    assert (again.request_began, again.searched_to) == (kept_at, "1.5")
    await other.jobs.settle(again, Later(0, unknown=False))
    [fresh] = await other.jobs.take(KIND, 9)
    assert (fresh.request_began, fresh.searched_to) == (None, None)


async def test_jobs_of_a_stopped_process_are_due_at_once(processes: Processes) -> None:
    leaving, other = processes.start(), processes.start()
    await leaving.jobs.put_held(KIND, "1", ASKED)
    await leaving.claims.claim("form")
    await leaving.jobs.hand_over()

    assert contents(await other.jobs.take(KIND, 9)) == {"1": ASKED}
    claim = await other.claims.claim("form")
    assert (claim.won, processes.tried(claim)) == (True, processes.now)


async def test_a_paused_process_settles_no_job_of_another(processes: Processes) -> None:
    paused, other = processes.start(), processes.start()
    await processes.pass_time()
    await paused.jobs.put(KIND, "1", ASKED)
    [job] = await paused.jobs.take(KIND, 9)
    await processes.pass_time(dead=[paused])
    [taken] = await other.jobs.take(KIND, 9)

    assert not await paused.jobs.begin_request(job, processes.now, AGE)
    await paused.jobs.settle(job, Done())
    await paused.jobs.settle(job, Later(0))
    assert await paused.jobs.take(KIND, 9) == []
    assert await other.jobs.begin_request(taken, processes.now, AGE)
