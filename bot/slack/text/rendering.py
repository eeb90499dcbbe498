"""Converts the service's text to mrkdwn without blocking the event loop."""

import asyncio
from typing import Literal

from bot.slack.text.building import LONGEST
from bot.slack.text.escaping import literal
from bot.slack.text.markdown import from_markdown
from bot.slack.text.textile import from_textile

_SECONDS = 1.0


async def rendered(text: str, text_format: Literal["markdown", "textile"], seconds: float = _SECONDS) -> str:
    """Convert a description to mrkdwn in a thread; plain text if that takes longer than `seconds`.

    The thread can't be stopped, but both converters limit their input, so it ends soon.
    """
    convert = from_textile if text_format == "textile" else from_markdown
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(convert, text)
    except (TimeoutError, RecursionError):  # RecursionError: marks nested a thousand deep
        return literal(text[:LONGEST])
