"""The loop for what any process may do: it does the jobs that are due, or whose process died."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from bot.store.jobs import FURTHEST, Job, Jobs, Later
from bot.store.processes import Clock
from bot.tasks import Tasks

AT_ONCE = 50  # how many jobs of one kind a process does at a time, so that no kind holds up the others
SOON = 60.0  # a job put off for no longer than these seconds is taken on time, another at the next interval

log = structlog.get_logger(__name__)

Do = Callable[[Job], Awaitable[Later | None]]
"""Does a job once; returns when to do it again if that couldn't be done."""


@dataclass
class Worker:
    """`kinds` has what does the jobs of each kind; `retry` is the least number of seconds until a failed job
    is tried again.
    """

    jobs: Jobs
    kinds: Mapping[str, Do]
    retry: float
    tasks: Tasks = field(default_factory=Tasks, init=False)
    _clock: Clock = field(default_factory=Clock, init=False)
    _doing: Counter[str] = field(default_factory=Counter, init=False)
    _stopping: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.jobs.on_put.append(self.wake)

    def wake(self) -> None:
        """Look for due jobs now."""
        if not self._stopping:
            self.tasks.start(self._look())

    async def run_due(self) -> None:
        """Start the jobs that are due; called at every interval."""
        self._clock.set(now := await self.jobs.processes.now())
        if self._clock.suspect:
            await self.jobs.realign(now)
            self._clock.suspect = False
        for kind in await self.jobs.due():
            if kind in self.kinds and (room := AT_ONCE - self._doing[kind]) > 0 and not self._stopping:
                self._doing[kind] += room
                try:
                    taken = await self.jobs.take(kind, room)
                finally:
                    self._doing[kind] -= room
                for job in taken:
                    self._doing[kind] += 1
                    self.tasks.start(self._do(kind, job))

    async def stop(self, seconds: float) -> None:
        """Give what runs `seconds` to finish; another process does the rest."""
        self._stopping = True
        await self.tasks.drain(seconds)

    async def _look(self) -> None:
        try:
            await self.run_due()
        except Exception:
            log.exception("jobs not taken", action="worker.not_taken")

    async def _do(self, kind: str, job: Job) -> None:
        """Do a job and settle it; if this is canceled, another process takes it over."""
        try:
            later = await self._done(kind, job)
            await self._settle(kind, job, later)
        finally:
            self._doing[kind] -= 1
        if later and later.seconds <= SOON:
            asyncio.get_running_loop().call_later(later.seconds, self.wake)

    async def _done(self, kind: str, job: Job) -> Later | None:
        if job.content is None:
            return None
        try:
            return await self.kinds[kind](job)
        except Exception:
            log.exception("job failed", action="worker.failed", kind=kind)
            if job.age > FURTHEST:
                return None
            return job.later(self.retry, unknown=True)

    async def _settle(self, kind: str, job: Job, later: Later | None) -> None:
        while True:
            try:
                await (self.jobs.later(job, later) if later else self.jobs.end(job))
            except Exception:
                log.exception("job not settled", action="worker.not_settled", kind=kind)
                await asyncio.sleep(self.retry)
            else:
                return
