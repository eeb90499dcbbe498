"""The worker's loop: what it starts at once, and what becomes of jobs that nobody settled."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from bot.store.database import Database
from bot.store.jobs import Done, Job, JobOutcome, Jobs, Later
from bot.store.store import Store
from bot.store.vault import Vault
from bot.worker import AT_ONCE, BatchHandler, JobHandler, Settle, Worker
from tests.support.reading import until, until_so
from tests.support.work import idle

SLOW, QUICK = "slow", "quick"
MANY = 3 * AT_ONCE
RETRY = 0.01
WorkerOf = Callable[[Jobs, Mapping[str, JobHandler | BatchHandler]], Worker]


@pytest.fixture
async def worker_of() -> AsyncIterator[WorkerOf]:
    """Makes workers, which are stopped with the test: none wakes while its loop closes."""
    made: list[Worker] = []

    def make(jobs: Jobs, kinds: Mapping[str, JobHandler | BatchHandler]) -> Worker:
        made.append(Worker(jobs, kinds, RETRY))
        return made[-1]

    yield make
    for worker in made:
        await worker.stop(0)


class OneOfThem(BatchHandler):
    """Settles the first of its jobs, and then fails if it is to."""

    def __init__(self, *, fails: bool) -> None:
        self.fails = fails
        self.done: list[str] = []

    async def do(self, jobs: Sequence[Job], settle: Settle) -> None:
        first = jobs[0]
        self.done.append(first.key)
        await settle(first, Done())
        if self.fails:
            raise ValueError("not expected")


async def test_a_kind_with_many_due_jobs_holds_up_no_other(store: Store, worker_of: WorkerOf) -> None:
    doing, most, quick = 0, 0, asyncio.Event()
    released = asyncio.Event()
    done: list[str] = []

    async def slow(job: Job) -> JobOutcome | None:
        nonlocal doing, most
        doing += 1
        most = max(most, doing)
        await released.wait()
        doing -= 1
        done.append(job.key)
        return None

    async def at_once(_: Job) -> JobOutcome | None:
        quick.set()
        return None

    worker = worker_of(store.jobs, {SLOW: slow, QUICK: at_once})
    for number in range(MANY):
        await store.jobs.database.execute(store.jobs.putting(SLOW, f"{number}", number))
    async with asyncio.timeout(10):
        for _ in range(3):
            await worker.run_due()
        await store.jobs.database.execute(store.jobs.putting(QUICK, "quick", ""))
        await worker.run_due()
        await quick.wait()
    assert (doing, done) == (AT_ONCE, [])

    released.set()
    for _ in range(MANY // AT_ONCE):
        await idle(worker.tasks)
        await worker.run_due()
    assert sorted(done, key=int) == [str(number) for number in range(MANY)]
    assert most == AT_ONCE


@pytest.mark.parametrize("fails", [True, False])
async def test_jobs_left_of_a_group_are_done_later(store: Store, worker_of: WorkerOf, *, fails: bool) -> None:
    together = OneOfThem(fails=fails)
    worker = worker_of(store.jobs, {SLOW: together})
    for number in range(3):
        await store.jobs.database.execute(store.jobs.putting(SLOW, f"{number}", number))

    async with asyncio.timeout(10):
        while await store.jobs.due_kinds() or len(together.done) < 3:
            await worker.run_due()
            await idle(worker.tasks)

    assert sorted(together.done) == ["0", "1", "2"]
    assert not await store.jobs.due_kinds()


async def test_jobs_put_by_jobs_need_no_interval(store: Store, worker_of: WorkerOf) -> None:
    done: list[object] = []

    async def first(_: Job) -> JobOutcome | None:
        return Done([store.jobs.putting(QUICK, "2", "put by the first")])

    async def then(job: Job) -> JobOutcome | None:
        done.append(job.content)
        return None

    worker = worker_of(store.jobs, {SLOW: first, QUICK: then})
    await store.jobs.put(SLOW, "1", "")
    await idle(worker.tasks)
    assert done == ["put by the first"]


async def test_a_stopped_worker_starts_nothing_more(store: Store, worker_of: WorkerOf) -> None:
    done: list[str] = []

    async def do(job: Job) -> JobOutcome | None:
        done.append(job.key)
        return None

    worker = worker_of(store.jobs, {QUICK: do})
    await worker.stop(0)
    await store.jobs.put(QUICK, "1", "")
    await worker.run_due()
    await idle(worker.tasks)

    assert done == []
    assert await store.jobs.due_kinds() == [QUICK]


async def test_a_job_that_fails_for_a_day_is_given_up(store: Store, worker_of: WorkerOf) -> None:
    tried: list[timedelta] = []

    async def fails(job: Job) -> JobOutcome | None:
        tried.append(job.age)
        raise ValueError("not expected")

    worker = worker_of(store.jobs, {QUICK: fails})
    now = await store.processes.now()
    long_ago = store.jobs.putting(QUICK, "1", "", at=now - timedelta(hours=25))
    for put in (store.jobs.putting(QUICK, "2", "", at=now - timedelta(hours=1)), long_ago):
        await store.jobs.database.execute(put)
    await worker.run_due()
    await idle(worker.tasks)

    assert len(tried) == 2
    assert await store.jobs.content("1") is None
    assert await store.jobs.content("2") is not None


async def test_results_are_recorded_after_a_database_outage(store: Store, worker_of: WorkerOf) -> None:
    async def breaks(_: Job) -> JobOutcome | None:
        await store.jobs.database.execute(text("alter table jobs rename to moved"))
        return None

    worker = worker_of(store.jobs, {QUICK: breaks})
    await store.jobs.put(QUICK, "1", "")
    with capture_logs() as logs:
        working = asyncio.create_task(idle(worker.tasks))
        await until_so(lambda: [line["action"] for line in logs].count("worker.not_settled") > 1)
        await store.jobs.database.execute(text("alter table moved rename to jobs"))
        await working

    assert await store.jobs.content("1") is None


async def test_a_job_that_no_key_decrypts_waits_for_the_right_key(
    database: Database, store: Store, worker_of: WorkerOf
) -> None:
    done: list[Job] = []

    async def do(job: Job) -> JobOutcome | None:
        done.append(job)
        return None

    stranger = Store(database, Vault([Vault.generate_key()]))
    await stranger.jobs.put(QUICK, "1", "content")
    for jobs in (store.jobs, stranger.jobs):
        worker = worker_of(jobs, {QUICK: do})
        await asyncio.sleep(2 * RETRY)
        await worker.run_due()
        await idle(worker.tasks)
        await worker.stop(0)

    assert [job.content for job in done] == ["content"]


Due = Callable[[], Awaitable[Sequence[str]]]


class WatchedJobs(Jobs):
    """Jobs for which a worker looks by `look`, which gets the usual way."""

    def __init__(self, jobs: Jobs, look: Callable[[Due], Awaitable[Sequence[str]]]) -> None:
        super().__init__(jobs.database, jobs.vault, jobs.claims, jobs.processes)
        self._look = look

    async def due_kinds(self) -> Sequence[str]:
        return await self._look(super().due_kinds)


async def test_jobs_that_are_put_off_together_are_looked_for_together(
    store: Store, worker_of: WorkerOf
) -> None:
    looks, tried = 0, 0

    async def counted(due: Due) -> Sequence[str]:
        nonlocal looks
        looks += 1
        await asyncio.sleep(0.1)
        return await due()

    async def later(_: Job) -> JobOutcome | None:
        nonlocal tried
        tried += 1
        if tried > AT_ONCE:
            return None
        await asyncio.sleep(tried / 100)  # so that each is put off for another moment
        return Later(1)

    async def all_done() -> bool:
        await asyncio.sleep(0.1)
        return tried >= 2 * AT_ONCE

    jobs = WatchedJobs(store.jobs, counted)
    worker = worker_of(jobs, {QUICK: later})
    for number in range(AT_ONCE):
        await jobs.database.execute(jobs.putting(QUICK, f"{number}", number))
    await worker.run_due()
    await until(all_done)
    await idle(worker.tasks)

    assert looks < AT_ONCE / 2


async def test_a_job_put_while_the_worker_looks_is_done_at_once(store: Store, worker_of: WorkerOf) -> None:
    looking, released = asyncio.Event(), asyncio.Event()
    done: list[str] = []

    async def slow(due: Due) -> Sequence[str]:
        kinds = await due()
        looking.set()
        await released.wait()
        return kinds

    async def do(job: Job) -> JobOutcome | None:
        done.append(job.key)
        return None

    jobs = WatchedJobs(store.jobs, slow)
    worker = worker_of(jobs, {QUICK: do})
    worker.wake()
    await looking.wait()
    await jobs.put(QUICK, "1", "")
    released.set()
    await idle(worker.tasks)

    assert done == ["1"]
