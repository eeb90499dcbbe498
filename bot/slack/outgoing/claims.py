"""Claims of handlers, in words: each request that can't act gets a reply."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from bot.errors import InProgress, UserError
from bot.slack.outgoing.outcomes import PostOutcome
from bot.store.job import Job, State
from bot.store.jobs import Jobs

DOUBLE_CLICK = timedelta(seconds=5)
"""For this long, a second share of the same thing in the same place is refused."""


@asynccontextmanager
async def claimed(
    jobs: Jobs, key: str, done: UserError, *, unknown: tuple[type[Exception], ...] = ()
) -> AsyncIterator[Job]:
    """Hold a job (`Jobs.hold`). Raises `done` if the work is done, and InProgress while it is in progress."""
    async with jobs.hold(key, unknown=unknown) as claim:
        if not claim.won:
            raise done if claim.done else InProgress
        yield claim


async def announced_once(jobs: Jobs, key: str, announce: Callable[[], Awaitable[PostOutcome]]) -> PostOutcome:
    """Announce something. If nothing was posted, the user can share it again. Raises UserError."""
    claim = await jobs.claim(key, DOUBLE_CLICK)
    if not claim.won:
        raise UserError("I just got the same request. If nothing shows up in a few seconds, try again.")
    state: State | None = None
    try:
        announced = await announce()
        if announced in (PostOutcome.YES, PostOutcome.UNSURE):
            state = State.DONE
    except asyncio.CancelledError:
        state = State.UNKNOWN
        raise
    finally:
        await jobs.settle(claim, state)
    return announced
