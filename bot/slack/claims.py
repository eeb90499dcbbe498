"""Work that is done once, however often it is asked for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.errors import UserError
from bot.store.deliveries import Deliveries


@asynccontextmanager
async def claimed(deliveries: Deliveries, claim: str, otherwise: str) -> AsyncIterator[None]:
    """Hold a claim; it is released if the block fails.

    Raises UserError with the sentence `otherwise` if the claim is taken.
    """
    if not await deliveries.claim(claim):
        raise UserError(otherwise)
    try:
        yield
    except BaseException:
        await deliveries.release(claim)
        raise
