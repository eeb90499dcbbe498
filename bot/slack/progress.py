"""Shows a user in a form how far the work is."""

import asyncio
from collections.abc import Callable

from bot.slack.forms import FormResult, notice
from bot.slack.replies import Reply


async def follow(
    reply: Reply,
    task: asyncio.Task[FormResult],
    doing: Callable[[], str],
    said: str,
    interval: float,
) -> FormResult:
    """Await the task and return its result, showing `doing()` (mrkdwn) in the form whenever it changes.

    Looks every `interval` seconds. `said` is what the form already shows. Cancels the task if this is
    canceled; stops showing progress when the user closes the form.
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
