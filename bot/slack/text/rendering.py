"""Converts the service's text to mrkdwn without blocking the event loop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bot.slack.text.markdown import from_markdown
from bot.slack.text.mrkdwn import LONGEST, literal
from bot.slack.text.textile import from_textile
from bot.slack.text.to_service import TextFormat

T = TypeVar("T")
_SECONDS = 1.0


async def rendered(text: str, text_format: TextFormat, seconds: float = _SECONDS) -> str:
    """Convert a description to mrkdwn; plain text if that takes longer than `seconds`."""
    convert = from_textile if text_format == "textile" else from_markdown
    return await converted(convert, text, lambda plain: literal(plain[:LONGEST]), seconds)


async def converted(
    convert: Callable[[str], T], text: str, otherwise: Callable[[str], T], seconds: float = _SECONDS
) -> T:
    """Convert a text in a thread; `otherwise` converts it if that takes longer than `seconds`.

    The thread can't be stopped, but all converters limit their input, so it ends soon.
    """
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(convert, text)
    except (TimeoutError, RecursionError):  # RecursionError: marks nested a thousand deep
        return otherwise(text)
