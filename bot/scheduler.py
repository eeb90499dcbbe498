"""The clock of every process: it ticks, and nothing else. What is due lies in the database."""

import asyncio
from datetime import UTC, datetime

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.store.digest_runs import DigestRuns as Kept
from bot.usecases.digest_runs import DigestRuns

SECONDS = 5

log = structlog.get_logger(__name__)


class Scheduler:
    """Has whatever is due set going every few seconds, by the database's clock."""

    def __init__(self, digests: DigestRuns, kept: Kept) -> None:
        self._digests = digests
        self._kept = kept
        self._clock = AsyncIOScheduler(timezone=UTC)
        self._ticking = asyncio.Lock()

    def start(self) -> None:
        """Tick from now on."""
        self._clock.add_job(
            self._tick,
            "interval",
            seconds=SECONDS,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
            next_run_time=datetime.now(UTC),
        )
        self._clock.start()

    async def stop(self) -> None:
        """Tick no more; what was set going goes on."""
        self._clock.pause()
        async with self._ticking:  # a tick that is cut off would drop its connection to the database
            self._clock.shutdown(wait=False)

    async def _tick(self) -> None:
        async with self._ticking:
            try:
                await self._digests.run_due(await self._kept.now())
            except Exception:
                log.exception("digests not looked at", action="digests.tick_failed")
