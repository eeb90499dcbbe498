"""What is in flight: tasks, since Bolt and asyncio keep no reference to them, and unanswered requests."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any, TypeVar

from bot.telemetry import ACK_SECONDS

T = TypeVar("T")


class InFlight:
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
        """Wait up to `seconds` for in-flight work, cancel the rest, and return how many were canceled."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        left = set(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        return len(left)


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
