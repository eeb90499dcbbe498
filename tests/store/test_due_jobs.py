"""What any process may do later: when it is due, what it is about, and who may settle it."""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from bot.store.jobs import LAST_ARRIVES, Again, Done, Job, JobOutcome, Jobs, Later, Statement
from tests.store.processes import START, Processes

KIND, OTHER = "posted", "read"
AGE, HOUR, DAY = timedelta(seconds=5), timedelta(hours=1), timedelta(days=1)
TAKERS, TOGETHER = 20, 40
MANY = int(os.environ.get("ISSUEBOT_DUE_JOBS", "2000"))

Settle = Callable[[Jobs, Job, Statement], Awaitable[object]]


async def taken(jobs: Jobs) -> Job:
    [job] = await jobs.take(KIND, 9)
    return job


async def put(jobs: Jobs, *statements: Statement) -> None:
    def work(connection: Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    await jobs.database.write(work)


async def test_a_job_that_is_done_again_is_due_at_its_time(processes: Processes) -> None:
    jobs = processes.start().jobs
    await jobs.put(KIND, "1", "first")
    processes.now += HOUR

    await jobs.settle(await taken(jobs), Again(processes.now + HOUR, "second"))

    assert await jobs.take(KIND, 9) == []
    processes.now += HOUR + AGE
    again = await taken(jobs)
    assert (again.content, again.age) == ("second", AGE)


@pytest.mark.parametrize("outcome", [Done(), Again(START + DAY, "again"), Later(60, content="later")])
async def test_a_job_put_during_its_work_is_done_next(processes: Processes, outcome: JobOutcome) -> None:
    jobs = processes.start().jobs
    await jobs.put(KIND, "1", "first")
    job = await taken(jobs)
    processes.now += HOUR
    await jobs.put(KIND, "1", "put meanwhile")
    await jobs.settle(job, outcome)

    processes.now += AGE
    after = await taken(jobs)
    assert (after.content, after.age) == ("put meanwhile", AGE)


@pytest.mark.parametrize("outcome", [Done(), Again(START + 9 * DAY, "again")])
async def test_a_jobs_age_counts_from_the_latest_put(processes: Processes, outcome: JobOutcome) -> None:
    jobs = processes.start().jobs
    await jobs.put(KIND, "1", "first")
    job = await taken(jobs)
    assert await jobs.begin_request(job, processes.now, AGE)
    await put(jobs, jobs.putting(KIND, "1", "put meanwhile", at=processes.now + DAY))
    await jobs.settle(job, outcome)

    processes.now += DAY + AGE
    assert (await taken(jobs)).age == AGE


async def done(jobs: Jobs, job: Job, also: Statement) -> None:
    await jobs.settle(job, Done([also]))


async def again(jobs: Jobs, job: Job, also: Statement) -> None:
    await jobs.settle(job, Again(await jobs.processes.now() + DAY, "again", [also]))


async def end_request(jobs: Jobs, job: Job, also: Statement) -> None:
    await jobs.end_request(job, [also])


@pytest.mark.parametrize("settle", [done, again, end_request])
async def test_only_its_holder_changes_anything_with_a_job(processes: Processes, settle: Settle) -> None:
    paused, other = processes.start(), processes.start()
    await processes.pass_time()
    await paused.jobs.put(KIND, "1", "")
    job = await taken(paused.jobs)
    await processes.pass_time(dead=[paused])
    now_held = await taken(other.jobs)

    await settle(paused.jobs, job, paused.jobs.putting(OTHER, "2", "from the paused one"))
    assert await other.jobs.due_kinds() == []
    await settle(other.jobs, now_held, other.jobs.putting(OTHER, "2", "from the other one"))
    [also] = await paused.jobs.take(OTHER, 9)
    assert also.content == "from the other one"


async def test_a_job_goes_on_after_each_of_its_requests(processes: Processes) -> None:
    dying, other = processes.start(), processes.start()
    await processes.pass_time()
    await dying.jobs.put(KIND, "1", "what was put")
    job = await taken(dying.jobs)
    assert await dying.jobs.begin_request(job, processes.now, AGE, "the first request")
    await dying.jobs.settle(job, Later(0, searched_to="1.5"))
    job = await taken(dying.jobs)
    assert (job.content, job.sending) == ("what was put", "the first request")
    assert job.searched_to == "1.5"

    assert await dying.jobs.end_request(job)
    processes.now += AGE
    second = processes.now
    assert await dying.jobs.begin_request(job, second, AGE, "the second request")
    await processes.pass_time(dead=[dying])

    after = await taken(other.jobs)
    assert (after.sending, after.request_began, after.searched_to) == ("the second request", second, None)


async def test_a_canceled_job_leaves_its_holder_for_good(
    processes: Processes,
) -> None:
    jobs = processes.start().jobs
    await jobs.put(KIND, "1", "first")
    job = await taken(jobs)
    await put(jobs, jobs.canceling("1"))
    assert not await jobs.begin_request(job, processes.now, AGE)
    assert await jobs.due_kinds() == []

    await jobs.put(KIND, "1", "second")
    fresh = await taken(jobs)
    assert fresh.content == "second"
    assert not await jobs.begin_request(job, processes.now, AGE)
    await jobs.settle(job, Done())
    assert await jobs.begin_request(fresh, processes.now, AGE)


async def test_a_job_that_may_be_done_is_not_canceled(processes: Processes) -> None:
    jobs = processes.start().jobs
    await jobs.put(KIND, "1", "first")
    job = await taken(jobs)
    assert await jobs.begin_request(job, processes.now, AGE, "what was sent")
    await put(jobs, jobs.canceling("1"))
    await jobs.settle(job, Later(0))

    left = await taken(jobs)
    assert (left.sending, left.request_began) == ("what was sent", processes.now)


async def test_a_free_job_is_started_by_one_caller(processes: Processes) -> None:
    one, other = processes.start().jobs, processes.start().jobs
    taken_now: list[Job] = []

    def start(kind: str, jobs: Sequence[Job]) -> None:
        assert kind == KIND
        taken_now.extend(jobs)

    one.start = other.start = start
    await put(one, one.putting(KIND, "1", "first", at=processes.now + DAY))
    peeked = await one.peek("1")
    assert peeked is not None
    assert peeked.content == "first"

    started = await asyncio.gather(*(jobs.do_now(peeked, "asked") for jobs in (one, other) * 4))
    assert sorted(started) == [False] * 7 + [True]
    [job] = taken_now
    assert job.content == "asked"
    assert await one.peek("1") is None

    mine = one if any(started[::2]) else other
    assert await mine.begin_request(job, processes.now, AGE)
    await mine.settle(job, Later(60))
    assert await one.peek("1") is None
    processes.now += HOUR
    looked_up = await taken(mine)
    assert looked_up.age == HOUR
    await mine.settle(looked_up, Again(processes.now + DAY, "next"))
    assert not await one.do_now(peeked, "asked once more")
    after = await one.peek("1")
    assert after is not None
    assert after.content == "next"


async def test_a_put_without_replacing_keeps_the_waiting_job(processes: Processes) -> None:
    jobs = processes.start().jobs
    await put(jobs, jobs.putting(KIND, "1", "first", at=processes.now + HOUR))
    await put(jobs, jobs.putting(KIND, "1", "second", replaces=False))
    assert await jobs.take(KIND, 9) == []
    processes.now += HOUR
    job = await taken(jobs)
    assert job.content == "first"

    await put(jobs, jobs.putting(KIND, "1", "third", replaces=False))
    await jobs.settle(job, Done())
    job = await taken(jobs)
    await jobs.settle(job, Done())
    await put(jobs, jobs.putting(KIND, "1", "fourth", replaces=False))
    assert (await taken(jobs)).content == "fourth"


async def test_a_job_to_be_done_is_kept_at_any_age(processes: Processes) -> None:
    jobs = processes.start().jobs
    await jobs.put(KIND, "held", "")
    job = await taken(jobs)
    await jobs.put(KIND, "due", "")
    await jobs.put_held(KIND, "done", "")
    await jobs.settle_as_done({"done"})
    processes.now += 9 * DAY

    await jobs.prune(processes.now)

    assert await jobs.begin_request(job, processes.now, AGE)
    assert (await taken(jobs)).key == "due"
    assert await jobs.put_held(KIND, "done", "")


async def test_an_interrupted_post_is_looked_up_after_its_arrival(
    processes: Processes,
) -> None:
    leaving, other = processes.start().jobs, processes.start().jobs
    await leaving.put(KIND, "1", "")
    assert await leaving.begin_request(await taken(leaving), processes.now, HOUR)
    await leaving.hand_over()

    assert await other.take(KIND, 9) == []
    processes.now += LAST_ARRIVES
    assert (await taken(other)).request_began == processes.now - LAST_ARRIVES


async def test_a_job_that_fails_is_tried_less_and_less_often_up_to_a_limit(processes: Processes) -> None:
    jobs, waited = processes.start().jobs, []
    await jobs.put(KIND, "1", "")
    for _ in range(6):
        job = await taken(jobs)
        waited.append((later := job.later(20)).seconds)
        await jobs.settle(job, later)
        assert await jobs.take(KIND, 9) == []
        processes.now += timedelta(seconds=later.seconds)

    assert waited == [20, 40, 80, 160, 300, 300]
    assert job.later(600).seconds == 600
    await jobs.settle(await taken(jobs), Done())
    await jobs.put(KIND, "1", "")
    assert (await taken(jobs)).later(20).seconds == 20


async def test_many_takers_take_each_of_many_due_jobs_once(processes: Processes) -> None:
    takers = [processes.start().jobs for _ in range(TAKERS)]
    await put(takers[0], *(takers[0].putting(KIND, f"{number}", number) for number in range(MANY)))
    counted: Counter[str] = Counter()

    async def take_all(jobs: Jobs) -> None:
        while some := await jobs.take(KIND, TOGETHER):
            counted.update(job.key for job in some)

    began = time.monotonic()
    await asyncio.gather(*map(take_all, takers))

    assert len(counted) == counted.total() == MANY
    seconds = time.monotonic() - began
    sys.stdout.write(f"{TAKERS} took {MANY} jobs in {seconds:.1f} s\n")  # for `pytest -s`
    assert seconds < 15 * MANY / 1000
