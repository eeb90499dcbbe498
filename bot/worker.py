"""The worker: takes the jobs that are due or whose process crashed, and gives them to their handlers."""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from bot.store.jobs import RETRIED_FOR, Done, Job, JobOutcome, Jobs, Later
from bot.tasks import Tasks

AT_ONCE = 50  # jobs of one kind that a process does at a time, so that no kind blocks the others
SETTLE_AGAIN = 5.0  # the most seconds until a failed write of an outcome is retried
SOON_SECONDS = (
    60.0  # a job postponed by at most this many seconds is taken on time, others at the next interval
)

log = structlog.get_logger(__name__)

JobHandler = Callable[[Job], Awaitable[JobOutcome | None]]
"""Does one job and returns its outcome; None means done."""
Settle = Callable[[Job, JobOutcome], Awaitable[None]]
"""Records a job's outcome; later calls for the same job do nothing."""


class BatchHandler(ABC):
    """Does several jobs of one kind in one call."""

    at_once: int = AT_ONCE

    @abstractmethod
    async def do(self, jobs: Sequence[Job], settle: Settle) -> None:
        """Do the jobs, and settle each as soon as its outcome is known; the others are retried."""


@dataclass(frozen=True)
class _OneByOne(BatchHandler):
    one: JobHandler
    retry: float

    async def do(self, jobs: Sequence[Job], settle: Settle) -> None:
        await asyncio.gather(*(self._do(job, settle) for job in jobs))

    async def _do(self, job: Job, settle: Settle) -> None:
        outcome: JobOutcome | None = None
        if job.content is not None:
            try:
                outcome = await self.one(job)
            except Exception:
                log.exception("job failed", action="worker.failed", job=job.key.partition(":")[0])
                outcome = None if job.age > RETRIED_FOR else job.later(self.retry)
        await settle(job, outcome or Done())


class Worker:
    """`kinds` maps each kind of job to the code that does it; `retry` is the least number of seconds until a
    failed job is retried.
    """

    def __init__(self, jobs: Jobs, kinds: Mapping[str, JobHandler | BatchHandler], retry: float) -> None:
        self.jobs = jobs
        self.kinds = {
            kind: handler if isinstance(handler, BatchHandler) else _OneByOne(handler, retry)
            for kind, handler in kinds.items()
        }
        self.retry = retry
        self.tasks = Tasks()
        self._doing: Counter[str] = Counter()
        self._stopping = self._looking = self._look_again = False
        jobs.wake, jobs.start = self.wake, self.start

    def wake(self) -> None:
        """Take due jobs now; if that is in progress, once more afterwards."""
        self._look_again = True
        if not (self._stopping or self._looking):
            self._looking = True
            self.tasks.start(self._look())

    def start(self, kind: str, jobs: Sequence[Job]) -> None:
        """Start jobs that this process took, and settle them."""
        self.tasks.start(self._do(kind, jobs))

    async def run_due(self) -> None:
        """Take and start the jobs that are due; called at every interval."""
        for kind in await self.jobs.due_kinds():
            if kind not in self.kinds or self._stopping:
                continue
            if (room := self.kinds[kind].at_once - self._doing[kind]) > 0:
                self._doing[kind] += room
                try:
                    taken = await self.jobs.take(kind, room)
                finally:
                    self._doing[kind] -= room
                if taken:
                    self.start(kind, taken)

    async def stop(self, seconds: float) -> None:
        """Wait up to `seconds` for the jobs that are running; other processes do the rest."""
        self._stopping = True
        await self.tasks.drain(seconds)

    async def _look(self) -> None:
        try:
            while self._look_again:
                self._look_again = False
                try:
                    await self.run_due()
                except Exception:
                    log.exception("jobs not taken", action="worker.not_taken")
        finally:
            self._looking = False

    async def _do(self, kind: str, jobs: Sequence[Job]) -> None:
        """Do jobs and settle them; after a cancellation, another process takes those that aren't settled."""
        unsettled = {job.key: job for job in jobs}
        self._doing[kind] += len(unsettled)
        # Content that no key decrypts waits, because an operator may restore the key.
        readable = [job for job in jobs if job.content is not None or job.age >= RETRIED_FOR]

        async def settle(job: Job, outcome: JobOutcome) -> None:
            if unsettled.pop(job.key, None):
                try:
                    await self._settle(kind, job, outcome)
                finally:
                    self._doing[kind] -= 1

        try:
            try:
                if readable:
                    await self.kinds[kind].do(readable, settle)
            except Exception:
                log.exception("job failed", action="worker.failed", kind=kind)
            for job in tuple(unsettled.values()):
                await settle(job, job.later(self.retry))
        finally:
            self._doing[kind] -= len(unsettled)

    async def _settle(self, kind: str, job: Job, outcome: JobOutcome) -> None:
        while True:
            try:
                await self.jobs.settle(job, outcome)
                break
            except Exception:
                log.exception("job not settled", action="worker.not_settled", kind=kind)
                await asyncio.sleep(min(self.retry, SETTLE_AGAIN))
        if isinstance(outcome, Later):
            if outcome.seconds <= SOON_SECONDS:
                asyncio.get_running_loop().call_later(outcome.seconds, self.wake)
        elif outcome.also:
            self.wake()
