"""Posting within Slack's rates (slack-rules, Rates): one message a second and channel, some a second in all.

Who waits is let through in order of due times; a channel that has to wait holds up no other one.
"""

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime

SECONDS_PER_CHANNEL = 1.05
SECONDS_PER_WORKSPACE = 0.2
"""Several hundred a minute and workspace are allowed: this leaves room for what people do meanwhile."""


class Pacer:
    """The turns to post in one workspace."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._waiting: list[tuple[datetime, int, str, asyncio.Future[None]]] = []
        self._open_at = 0.0
        self._channels: dict[str, float] = {}
        self._changed = asyncio.Event()
        self._doorman: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, channel_id: str, due_at: datetime) -> AsyncIterator[None]:
        """Waits for the moment at which a message may go to the channel, and keeps it until it is over."""
        let_in: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (due_at, next(self._numbers), channel_id, let_in))
        self._changed.set()
        if self._doorman is None or self._doorman.done():
            self._doorman = asyncio.create_task(self._let_in())
        try:
            await let_in
            yield
        finally:
            if not let_in.cancelled():
                self._channels[channel_id] = time.monotonic() + SECONDS_PER_CHANNEL
                self._changed.set()

    def hold(self, seconds: float) -> None:
        """Lets nobody through for so long: Slack asked for that."""
        self._open_at = max(self._open_at, time.monotonic() + seconds)

    async def _let_in(self) -> None:
        while self._waiting:
            now = time.monotonic()
            wait = self._open_at - now
            if wait <= 0:
                wait = self._let_one_in(now)
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait)
        self._channels = {
            channel: free for channel, free in self._channels.items() if free > time.monotonic()
        }

    def _let_one_in(self, now: float) -> float:
        """Lets the first one in whose channel is free; the seconds until it's worth looking again, unless a
        turn ends before.
        """
        soonest = math.inf
        passed_over = []
        while self._waiting:
            entry = heapq.heappop(self._waiting)
            _, _, channel_id, let_in = entry
            if let_in.done():  # whoever waited was cut off
                continue
            free_at = self._channels.get(channel_id, 0.0)
            if free_at <= now:
                self._channels[channel_id] = math.inf
                self._open_at = now + SECONDS_PER_WORKSPACE
                let_in.set_result(None)
                soonest = now + SECONDS_PER_WORKSPACE
                break
            soonest = min(soonest, free_at)
            passed_over.append(entry)
        for entry in passed_over:
            heapq.heappush(self._waiting, entry)
        return max(0.0, soonest - now) if self._waiting else 0.0
