"""Records completed deliveries in batches, so that no request waits for the write."""

import asyncio

import structlog

from bot.store.unfinished import Unfinished

BATCH_SECONDS = 0.1
"""How long a batch is collected. After a crash, its users are told that their request was lost."""

log = structlog.get_logger(__name__)


class CompletedDeliveries:
    """Removes this process's completed deliveries from the database, again later if that fails."""

    def __init__(self, unfinished: Unfinished, retry_seconds: float = 5) -> None:
        self._retry_seconds = retry_seconds
        self._unfinished = unfinished
        self._deliveries: set[str] = set()
        self._recording: asyncio.Task[None] | None = None

    def add(self, delivery: str) -> None:
        """Record that a delivery is complete."""
        self._deliveries.add(delivery)
        if self._recording is None:
            self._recording = asyncio.create_task(self._record())

    async def stop(self) -> None:
        """Write what is left, before the process stops."""
        if self._recording is not None:
            self._recording.cancel()
        try:
            if self._deliveries:
                await self._unfinished.finish(self._deliveries)
        except Exception:
            log.exception("completed deliveries not recorded", action="delivery.not_left")

    async def _record(self) -> None:
        pause = BATCH_SECONDS
        while self._deliveries:
            await asyncio.sleep(pause)
            batch = frozenset(self._deliveries)
            try:
                await self._unfinished.finish(batch)
            except Exception:
                log.exception(
                    "completed deliveries not recorded", action="delivery.not_finished", count=len(batch)
                )
                pause = self._retry_seconds
            else:
                self._deliveries -= batch
                pause = BATCH_SECONDS
        self._recording = None
