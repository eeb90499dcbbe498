import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from bot.tasks import PeriodicJob, PeriodicJobs
from tests.support.reading import until_so

INTERVAL = 0.02


class Work:
    """Counts its runs; each waits for `going`."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        self.going = asyncio.Event()
        self.going.set()

    async def run(self) -> None:
        self.begun += 1
        await self.going.wait()
        self.ended += 1

    async def runs(self, times: int) -> None:
        await until_so(lambda: self.begun >= times)


@asynccontextmanager
async def running(heartbeat: Work, *others: PeriodicJob) -> AsyncIterator[PeriodicJobs]:
    jobs = PeriodicJobs(PeriodicJob("heartbeat", heartbeat.run, INTERVAL), others)
    jobs.start_heartbeat()
    jobs.start()
    try:
        yield jobs
    finally:
        await jobs.stop()
        await jobs.stop_heartbeat()


async def test_heartbeat_goes_on_while_another_job_hangs_and_after_it_stopped() -> None:
    heartbeat, hanging = Work(), Work()
    hanging.going.clear()
    async with running(heartbeat, PeriodicJob("hanging", hanging.run, INTERVAL, at_once=True)) as jobs:
        await hanging.runs(1)
        await heartbeat.runs(heartbeat.begun + 3)
        assert hanging.begun == 1
        await jobs.stop()
        await heartbeat.runs(heartbeat.begun + 3)
    assert (hanging.begun, hanging.ended) == (1, 0)
    beats = heartbeat.begun
    await asyncio.sleep(3 * INTERVAL)
    assert heartbeat.begun == beats


async def test_each_failed_run_is_logged_once_and_the_job_goes_on() -> None:
    runs = 0

    async def fail() -> None:
        nonlocal runs
        runs += 1
        raise ValueError

    with capture_logs() as logged:
        async with running(Work(), PeriodicJob("failing", fail, INTERVAL, at_once=True)):
            await until_so(lambda: runs >= 3)
    assert [(entry["action"], entry["job"]) for entry in logged] == [("job.failed", "failing")] * runs


async def test_a_canceled_run_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    work = Work()
    work.going.clear()
    async with running(Work(), PeriodicJob("work", work.run, INTERVAL, at_once=True)):
        await work.runs(1)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
