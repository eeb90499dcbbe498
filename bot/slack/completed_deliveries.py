"""What is finished is noted some at a time: nobody waits for that."""

import asyncio

import structlog

from bot.store.unfinished import Unfinished

PAUSE = 0.1
"""Seconds in which more may be finished; who dies meanwhile is told of again."""
LATER = 5.0
"""Seconds until it is tried again where the database doesn't take it."""

log = structlog.get_logger(__name__)


class CompletedDeliveries:
    """Forgets in the database what this process has at hand no more."""

    def __init__(self, unfinished: Unfinished) -> None:
        self._unfinished = unfinished
        self._deliveries: set[str] = set()
        self._noting: asyncio.Task[None] | None = None

    def add(self, delivery: str) -> None:
        """The delivery is finished."""
        self._deliveries.add(delivery)
        if self._noting is None:
            self._noting = asyncio.create_task(self._note())

    async def stop(self) -> None:
        """Notes what is finished, at once: the process stops."""
        if self._noting is not None:
            self._noting.cancel()
        try:
            if self._deliveries:
                await self._unfinished.finish(self._deliveries)
        except Exception:
            log.exception("not noted as finished", action="delivery.not_left")

    async def _note(self) -> None:
        pause = PAUSE
        while self._deliveries:
            await asyncio.sleep(pause)
            noted = frozenset(self._deliveries)
            try:
                await self._unfinished.finish(noted)
            except Exception:
                log.exception("not noted as finished", action="delivery.not_finished", count=len(noted))
                pause = LATER
            else:
                self._deliveries -= noted
                pause = PAUSE
        self._noting = None
