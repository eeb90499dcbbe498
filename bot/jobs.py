"""The clock of every process: it ticks, and nothing else. What is due lies in the database."""

import asyncio
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.features.digests.runs import DigestRuns
from bot.store.digest_runs import DigestRuns as Kept

log = structlog.get_logger(__name__)


class Scheduler:
    """Has whatever is due set going every few seconds, by the database's clock."""

    def __init__(self, digests: DigestRuns, kept: Kept, interval: float) -> None:
        self._interval = interval
        self._digests = digests
        self._kept = kept
        self._clock = AsyncIOScheduler(timezone=UTC)
        self._ticking = asyncio.Lock()

    def start(self) -> None:
        """Tick from now on."""
        self._job = self._clock.add_job(
            self._tick,
            "interval",
            seconds=self._interval,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
            next_run_time=datetime.now(UTC),
        )
        self._clock.start()
        self._watch = asyncio.create_task(self._watched())

    async def stop(self) -> None:
        """Tick no more; what was set going goes on."""
        self._watch.cancel()
        self._clock.pause()
        async with self._ticking:  # a tick that is cut off would drop its connection to the database
            self._clock.shutdown(wait=False)

    async def _watched(self) -> None:
        """APScheduler goes by the wall clock: where that is set back, it would wait for the time it had."""
        while True:
            await asyncio.sleep(self._interval)
            latest = datetime.now(UTC) + timedelta(seconds=2 * self._interval)
            if self._job.next_run_time > latest:
                self._job.modify(next_run_time=datetime.now(UTC))

    async def _tick(self) -> None:
        async with self._ticking:
            try:
                await self._digests.run_due(await self._kept.now())
            except Exception:
                log.exception("digests not looked at", action="digests.tick_failed")
