"""Acknowledges Slack's requests: the response to a form, and which requests still await theirs."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from bot.slack.blocks import JSON
from bot.telemetry import ACK_SECONDS


class Acknowledgement:
    """The response to a form submission: given once, within Slack's three seconds."""

    def __init__(self) -> None:
        self._given = asyncio.Event()
        self._body: JSON = {}

    def give(self, **body: object) -> bool:
        """Respond; returns False if a response was already given."""
        if self._given.is_set():
            return False
        self._body = body
        self._given.set()
        return True

    async def body(self, seconds: float) -> JSON:
        """The response; empty, which closes the form, if none is given within `seconds`."""
        try:
            await asyncio.wait_for(self._given.wait(), seconds)
        except TimeoutError:
            self._given.set()
        return self._body


class PendingRequests:
    """Counts requests that await a response, over either transport, and measures how long they wait."""

    def __init__(self) -> None:
        self._waiting = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one request while the block runs."""
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
        """Return when no request is waiting, or after `seconds`."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return
