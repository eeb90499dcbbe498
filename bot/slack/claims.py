"""Claims for work that must be done only once, however often it is requested."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.errors import UserError
from bot.store.deliveries import Deliveries


@asynccontextmanager
async def claimed(deliveries: Deliveries, claim: str, otherwise: UserError) -> AsyncIterator[None]:
    """Hold a claim, and release it if the block fails. Raises `otherwise` if the claim is taken."""
    if not await deliveries.claim(claim):
        raise otherwise
    try:
        yield
    except BaseException:
        await deliveries.release(claim)
        raise
