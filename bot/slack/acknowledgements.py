"""Which of Slack's requests still wait for their acknowledgement."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from bot.telemetry import ACK_SECONDS


class Answering:
    """Counts the requests that wait for an answer, over either transport, and measures how long they do."""

    def __init__(self) -> None:
        self._waiting = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """A request waits for its answer while the block runs."""
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
        """Returns when no request waits any more, or when the time is up."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return
