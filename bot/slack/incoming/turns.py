"""Handles each person's messages one after the other, in the order in which they arrived."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from bot.errors import UserError
from bot.store.owner import Owner


class PersonLocks:
    def __init__(self) -> None:
        self._arriving: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()
        self._handling: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    def arriving(self, owner: Owner) -> asyncio.Lock:
        """Held from a message's arrival until it waits for its turn, so that no later one overtakes it."""
        return self._arriving.setdefault(owner, asyncio.Lock())

    @asynccontextmanager
    async def turn(self, owner: Owner, seconds: float) -> AsyncIterator[None]:
        """A message's turn. Raises UserError if the ones before it take longer than these seconds."""
        lock = self._handling.setdefault(owner, asyncio.Lock())
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(seconds):
                    await stack.enter_async_context(lock)
            except TimeoutError:
                raise UserError(
                    "I'm still answering your earlier messages. Send this one again when I've caught up."
                ) from None
            yield
