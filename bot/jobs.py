"""Background jobs: checks every few seconds whether digests are due."""

import asyncio
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.features.digests.runs import DigestRuns
from bot.store.digest_runs import DigestRuns as StoredRuns

log = structlog.get_logger(__name__)


class Scheduler:
    """Starts due digests every `interval` seconds, by the database's clock."""

    def __init__(self, digests: DigestRuns, stored: StoredRuns, interval: float) -> None:
        self._interval = interval
        self._digests = digests
        self._stored = stored
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._ticking = asyncio.Lock()

    def start(self) -> None:
        """Check now, then at every interval."""
        self._job = self._scheduler.add_job(
            self._tick,
            "interval",
            seconds=self._interval,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
            next_run_time=datetime.now(UTC),
        )
        self._scheduler.start()
        self._watch = asyncio.create_task(self._watch_clock())

    async def stop(self) -> None:
        """Stop checking; digests already started keep running."""
        self._watch.cancel()
        self._scheduler.pause()
        async with self._ticking:  # canceling a tick would drop its database connection
            self._scheduler.shutdown(wait=False)

    async def _watch_clock(self) -> None:
        """Reschedule when the wall clock is set back, which would delay APScheduler's next check."""
        while True:
            await asyncio.sleep(self._interval)
            latest = datetime.now(UTC) + timedelta(seconds=2 * self._interval)
            if self._job.next_run_time > latest:
                self._job.modify(next_run_time=datetime.now(UTC))

    async def _tick(self) -> None:
        async with self._ticking:
            try:
                await self._digests.run_due(await self._stored.now())
            except Exception:
                log.exception("digests not checked", action="digests.tick_failed")
