"""Checks a key beside the reads that use it, so that reading and checking take one round trip."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from bot.service.client import watched_reads
from bot.service.models import User

Check = Callable[[], Coroutine[Any, Any, User]]


class KeyChecks:
    """Sends a check right after each round of reads, and returns the one that was sent last.

    A check proves that the key was good for the reads sent before it, unless it overtook them on the network.
    Reads that start after a check has started are the next round and get a check of their own. After `most`
    rounds only one more check is sent, at the end.
    """

    def __init__(self, check: Check, most: int) -> None:
        self._check = check
        self._left = most
        self._tasks: list[asyncio.Task[User]] = []
        self._starting = False
        self._last: asyncio.Task[User] | None = None

    def read_starts(self) -> None:
        """Schedule a check, unless one is scheduled that will start after this read."""
        if self._starting:
            return
        self._last = None
        if self._left:
            self._left -= 1
            self._starting = True
            self._last = asyncio.create_task(self._start())
            self._tasks.append(self._last)

    def last(self) -> Awaitable[User]:
        """The check that was sent after all reads; sends one if there is none."""
        return self._last or self._check()

    async def close(self) -> None:
        """Cancel the checks that nobody needs anymore."""
        self._left = 0
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _start(self) -> User:
        await asyncio.sleep(0)  # tasks that the first reads' tasks have started belong to the same round
        self._starting = False
        with watched_reads(lambda: None):  # the check is a read as well
            return await self._check()
