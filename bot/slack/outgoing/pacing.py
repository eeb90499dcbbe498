"""Gives writes to Slack their turns, within its rate limits (docs/slack.md, Rates).

Turns come in order of due times, but a busy channel doesn't hold up the others. The writes to one channel go
out one after the other.
"""

import asyncio
import itertools
import math
import time
from bisect import insort
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

Waiting = tuple[datetime, int, str, str, asyncio.Future[None]]
"""When a write is due, its number, its method and channel, and its turn."""


class Turns:
    """The turns of one workspace.

    The paces are seconds between two writes: to one channel, after a `burst` of them, and by method.
    """

    def __init__(self, channel_pace: float, burst: int, methods: Mapping[str, float]) -> None:
        self._channel_pace = channel_pace
        self._burst = burst
        self._methods = methods
        self._open_at = dict.fromkeys(methods, 0.0)
        self._channels: dict[str, float] = {}
        """By the monotonic clock, when a channel's burst starts anew."""
        self._busy: set[str] = set()
        self._numbers = itertools.count()
        self._waiting: list[Waiting] = []
        self._next: asyncio.Handle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, method: str, channel_id: str, due_at: datetime) -> AsyncIterator[None]:
        """Wait until the method may write to the channel, which stays reserved until the block ends."""
        came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        insort(self._waiting, (due_at, next(self._numbers), method, channel_id, came))
        self._start_after(0)
        try:
            await came
            yield
        finally:
            if not came.cancelled():
                self._busy.discard(channel_id)
                now = time.monotonic()
                self._channels[channel_id] = max(self._channels.get(channel_id, 0), now) + self._channel_pace
            self._start_after(0)

    def hold(self, method: str, seconds: float) -> None:
        """Let a method wait for `seconds`, as Slack asks for with a 429."""
        self._open_at[method] = max(self._open_at[method], time.monotonic() + seconds)

    def _start_after(self, seconds: float) -> None:
        if self._next:
            self._next.cancel()
        self._next = asyncio.get_running_loop().call_later(seconds, self._start)

    def _start(self) -> None:
        """Start the writes that may go now, and come back when the next one may."""
        now, soonest = time.monotonic(), math.inf
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            _, _, method, channel_id, came = one
            if came.done():  # the waiting task was canceled
                continue
            free_at = max(self._open_at[method], self._free_at(channel_id))
            if free_at <= now:
                self._open_at[method] = now + self._methods[method]
                self._busy.add(channel_id)
                came.set_result(None)
            else:
                self._waiting.append(one)
                soonest = min(soonest, free_at)
        self._channels = {channel: at for channel, at in self._channels.items() if at > now}
        if soonest < math.inf:
            self._start_after(soonest - now)

    def _free_at(self, channel_id: str) -> float:
        if channel_id in self._busy:
            return math.inf
        return self._channels.get(channel_id, 0) - (self._burst - 1) * self._channel_pace
