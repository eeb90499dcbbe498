"""Claims for work that must be done only once, however often it is requested."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from bot.errors import UserError
from bot.slack.posting import Announced
from bot.store.deliveries import Deliveries

DOUBLE_CLICK = timedelta(seconds=5)
"""For this long, a second share of the same thing in the same place is ignored."""


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


async def announced_once(
    deliveries: Deliveries, claim: str, announce: Callable[[], Awaitable[Announced]]
) -> Announced | None:
    """Announce something; None after a double click. If nothing was posted, the user can share it again."""
    if not await deliveries.claim_for(claim, DOUBLE_CLICK):
        return None
    announced = await announce()
    if announced not in (Announced.YES, Announced.UNSURE):
        await deliveries.release(claim)
    return announced
