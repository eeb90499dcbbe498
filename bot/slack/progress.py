"""Showing a user in a form how far the work is."""

import asyncio
from collections.abc import Callable

from bot.slack.forms import FormResult, notice
from bot.slack.replies import Reply

INTERVAL = 1.5
"""Seconds between two looks at the progress."""


async def followed(
    reply: Reply,
    task: asyncio.Task[FormResult],
    doing: Callable[[], str],
    said: str,
    interval: float = INTERVAL,
) -> FormResult:
    """The task's result; the form shows `doing()` (mrkdwn) whenever it changes, until the user closes it.

    `said` is what the form already shows. Cancels the task if this is cancelled.
    """
    watched = True
    try:
        while watched and not (await asyncio.wait({task}, timeout=interval))[0]:
            if (now := doing()) != said:
                said, watched = now, await reply.shown(notice("One moment", now))
        return await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
