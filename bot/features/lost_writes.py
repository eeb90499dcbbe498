"""Looks for the result of a write whose response was lost."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from bot.errors import ServiceError, UserError

T = TypeVar("T")

CLOCK_SKEW = timedelta(minutes=5)
"""How far the service's clock may be behind the bot's."""


async def looked_for(find: Callable[[], Awaitable[T | None]], waits: Sequence[float]) -> T | None:
    """The first thing that `find` returns after one of the waits, in seconds; None if it finds nothing.

    The service may be too slow to answer, so an error counts as nothing found.
    """
    for wait in waits:
        await asyncio.sleep(wait)
        with suppress(ServiceError, UserError):
            if found := await find():
                return found
    return None
