"""What this process has at hand is known to the others, so that they can tell of it where it dies."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from bot.store.unfinished import Asked, Unfinished

AT_ONCE = 0.01
"""Seconds within which what is done isn't worth a note."""

log = structlog.get_logger(__name__)


class AtHand:
    """Notes in the database what takes longer than a moment, and forgets it there when it is finished."""

    def __init__(self, unfinished: Unfinished) -> None:
        self._unfinished = unfinished
        self._begun: dict[str, Asked] = {}
        self._noted: set[str] = set()
        self._finished: set[str] = set()
        self._writing: asyncio.Task[None] | None = None

    @contextmanager
    def until_done(self, delivery: str, asked: Callable[[], Asked]) -> Iterator[None]:
        """A delivery is at hand while the block runs; `asked` is what somebody waits for."""

        def note() -> None:
            self._begun[delivery] = asked()
            self._write()

        timer = asyncio.get_running_loop().call_later(AT_ONCE, note)
        try:
            yield
        finally:
            timer.cancel()
            if self._begun.pop(delivery, None) is None and delivery in self._noted:
                self._finished.add(delivery)
                self._write()

    async def leave(self) -> None:
        """The process ends, and has nothing at hand any more."""
        if self._writing is not None:
            self._writing.cancel()
        try:
            await self._unfinished.leave()
        except Exception:
            log.exception("not noted as finished", action="delivery.not_left")

    def _write(self) -> None:
        if self._writing is None:
            self._writing = asyncio.create_task(self._written())

    async def _written(self) -> None:
        while self._begun or self._finished:
            begun, self._begun = self._begun, {}
            finished, self._finished = self._finished, set()
            self._noted = self._noted - finished | begun.keys()
            try:
                await self._unfinished.note(begun, finished)
            except Exception:
                log.exception("not noted what is at hand", action="delivery.not_noted")
        self._writing = None
