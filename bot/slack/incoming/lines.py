"""Answers each person's messages one after the other, in the order in which they arrived."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from bot.store.owner import Owner

MOST = 20  # how many messages of one person wait at most, beside the one that is being answered


@dataclass(eq=False)
class Line:
    """A person's unanswered messages; `told` is whether they know that it is full."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0
    told: bool = False


class Lines:
    def __init__(self) -> None:
        self._lines: dict[Owner, Line] = {}
        self._arriving: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    def arriving(self, owner: Owner) -> asyncio.Lock:
        """Held from a message's arrival until it is in line, so that no later one overtakes it."""
        return self._arriving.setdefault(owner, asyncio.Lock())

    def join(self, owner: Owner) -> AbstractAsyncContextManager[None] | None:
        """A message's place in its author's line, entered when it is its turn; None if the line is full."""
        line = self._lines.setdefault(owner, Line())
        if line.length > MOST:
            return None
        line.length += 1
        return self._turn(owner, line)

    def must_tell(self, owner: Owner) -> bool:
        """Whether to tell a person that their line is full, which is done once."""
        line = self._lines[owner]
        must, line.told = not line.told, True
        return must

    @asynccontextmanager
    async def _turn(self, owner: Owner, line: Line) -> AsyncIterator[None]:
        try:
            async with line.turn:
                yield
        finally:
            line.length -= 1
            if not line.length:
                del self._lines[owner]
