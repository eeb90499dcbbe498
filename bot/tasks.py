"""Running tasks, since Bolt and asyncio keep no reference to them."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Tasks:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def idle(self) -> None:
        """Wait until all of it is done."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def drain(self, seconds: float) -> int:
        """Wait up to `seconds` for in-flight work and what that starts, cancel the rest, and return how many
        were canceled.
        """
        latest = time.monotonic() + seconds
        while self._tasks and (left := latest - time.monotonic()) > 0:
            await asyncio.wait(set(self._tasks), timeout=left)
        cut_off = set(self._tasks)
        for task in cut_off:
            task.cancel()
        await asyncio.gather(*cut_off, return_exceptions=True)
        return len(cut_off)
