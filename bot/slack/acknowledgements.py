"""Acknowledging Slack's requests: the answer to a submission, and which requests still wait for theirs."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from bot.slack.blocks import JSON
from bot.telemetry import ACK_SECONDS


class Acknowledgement:
    """The answer to a form's submission, which can be given once, within Slack's three seconds."""

    def __init__(self) -> None:
        self._given = asyncio.Event()
        self._body: JSON = {}

    def give(self, **body: object) -> bool:
        """Answer; False where the submission was answered already."""
        if self._given.is_set():
            return False
        self._body = body
        self._given.set()
        return True

    async def body(self, seconds: float) -> JSON:
        """What Slack is answered; empty, which closes the form, where nothing was given in time."""
        try:
            await asyncio.wait_for(self._given.wait(), seconds)
        except TimeoutError:
            self._given.set()
        return self._body


class PendingRequests:
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
