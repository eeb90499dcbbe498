"""Requests that await a response."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter

from bot.telemetry import ACK_SECONDS


class PendingRequests:
    """Counts requests that await a response, over either transport, and measures how long they wait."""

    def __init__(self) -> None:
        self._waiting = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        started = perf_counter()
        self._waiting += 1
        self._idle.clear()
        try:
            yield
        finally:
            ACK_SECONDS.observe(perf_counter() - started)
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()

    async def idle(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)
