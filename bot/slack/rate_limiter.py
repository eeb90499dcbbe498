"""Keeps posts within Slack's rate limits (docs/slack.md, Rates): one message per second and channel, and a
limit per workspace. Posts go out in order of due times; a busy channel doesn't hold up the others.
"""

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime


class RateLimiter:
    """Limits how fast the bot posts in one workspace; the paces are seconds between two posts."""

    def __init__(self, channel_pace: float, workspace_pace: float) -> None:
        self._channel_pace = channel_pace
        self._workspace_pace = workspace_pace
        self._numbers = itertools.count()
        self._waiting: list[tuple[datetime, int, str, asyncio.Future[None]]] = []
        self._open_at = 0.0
        self._channels: dict[str, float] = {}
        self._changed = asyncio.Event()
        self._scheduler: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, channel_id: str, due_at: datetime) -> AsyncIterator[None]:
        """Wait until a message may go to the channel; the channel stays reserved until the block ends."""
        turn_came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (due_at, next(self._numbers), channel_id, turn_came))
        self._changed.set()
        if self._scheduler is None or self._scheduler.done():
            self._scheduler = asyncio.create_task(self._run())
        try:
            await turn_came
            yield
        finally:
            if not turn_came.cancelled():
                self._channels[channel_id] = time.monotonic() + self._channel_pace
                self._changed.set()

    def hold(self, seconds: float) -> None:
        """Pause all posts for `seconds`, as Slack asked for in a 429."""
        self._open_at = max(self._open_at, time.monotonic() + seconds)

    async def _run(self) -> None:
        while self._waiting:
            now = time.monotonic()
            wait = self._open_at - now
            if wait <= 0:
                wait = self._start_next(now)
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait)
        self._channels = {
            channel: free for channel, free in self._channels.items() if free > time.monotonic()
        }

    def _start_next(self, now: float) -> float:
        """Start the first post whose channel is free; returns the seconds until the next check."""
        soonest = math.inf
        skipped = []
        while self._waiting:
            entry = heapq.heappop(self._waiting)
            _, _, channel_id, turn_came = entry
            if turn_came.done():  # the waiting task was canceled
                continue
            free_at = self._channels.get(channel_id, 0.0)
            if free_at <= now:
                self._channels[channel_id] = math.inf
                self._open_at = now + self._workspace_pace
                turn_came.set_result(None)
                soonest = now + self._workspace_pace
                break
            soonest = min(soonest, free_at)
            skipped.append(entry)
        for entry in skipped:
            heapq.heappush(self._waiting, entry)
        return max(0.0, soonest - now) if self._waiting else 0.0
