"""Running tasks, since Bolt and asyncio keep no reference to them, and what runs periodically."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

log = structlog.get_logger(__name__)

T = TypeVar("T")


class Tasks:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def drain(self, seconds: float) -> int:
        """Wait up to `seconds` for in-flight work and what that starts, cancel the rest, and return how many
        were canceled.
        """
        latest = time.monotonic() + seconds
        while self._tasks and (left := latest - time.monotonic()) > 0:
            await asyncio.wait(set(self._tasks), timeout=left)
        cut_off = set(self._tasks)
        for task in cut_off:
            task.cancel()
        await asyncio.gather(*cut_off, return_exceptions=True)
        return len(cut_off)


async def cancel(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has ended."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


@dataclass(frozen=True)
class PeriodicJob:
    """A function that runs every `seconds`, first after one interval or `at_once`; a run is canceled at
    shutdown.
    """

    name: str
    run: Callable[[], Awaitable[object]]
    seconds: float
    at_once: bool = False


class PeriodicJobs:
    """Runs jobs on APScheduler until they are stopped: the heartbeat from first to last, the others while the
    bot works.

    A job never overlaps with itself, and no job waits for another.
    """

    def __init__(self, heartbeat: PeriodicJob, others: Sequence[PeriodicJob]) -> None:
        self._heartbeat = heartbeat
        self._others = others
        self._running: dict[str, asyncio.Task[Any] | None] = {}
        defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        self._scheduler = AsyncIOScheduler(timezone=UTC, job_defaults=defaults)

    def start_heartbeat(self) -> None:
        self._scheduler.start()
        self._add(self._heartbeat)

    def start(self) -> None:
        for job in self._others:
            self._add(job)

    async def stop(self) -> None:
        """Stop everything but the heartbeat. Work that a job has started elsewhere goes on."""
        for job in self._others:
            await self._remove(job)

    async def stop_heartbeat(self) -> None:
        await self._remove(self._heartbeat)
        self._scheduler.shutdown(wait=False)

    def _add(self, job: PeriodicJob) -> None:
        first = datetime.now(UTC) + timedelta(seconds=0 if job.at_once else job.seconds)
        self._scheduler.add_job(
            self._run, "interval", [job], seconds=job.seconds, id=job.name, next_run_time=first
        )

    async def _remove(self, job: PeriodicJob) -> None:
        if self._scheduler.get_job(job.name):
            self._scheduler.remove_job(job.name)
        if task := self._running.get(job.name):
            await cancel(task)

    async def _run(self, job: PeriodicJob) -> None:
        if not self._scheduler.get_job(job.name):  # removed after APScheduler started this run
            return
        self._running[job.name] = asyncio.current_task()
        try:
            await job.run()
        except asyncio.CancelledError:  # by `_remove`; APScheduler would log it as an error
            return
        except Exception:
            log.exception("periodic job failed", action="job.failed", job=job.name)
        finally:
            del self._running[job.name]
