"""What the bot's sentences depend on: the service's name and the command prefix."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from bot.errors import BotError
from bot.service.client import OptionalOperations
from bot.service.conventions import issue_url
from bot.slack.sentences import of_service
from bot.slack.text.markdown import from_markdown
from bot.slack.text.mrkdwn import MAX_CONVERTED, literal
from bot.slack.text.textile import from_textile
from bot.slack.text.to_service import TextFormat

T = TypeVar("T")

PLACE = re.compile(r"\{(/?)([\w ]+)\}")  # a place in a template: a name, or a command after a slash
CONVERSION_SECONDS = 1.0


@dataclass(frozen=True)
class Wording:
    """The service's name and address, its text format, and the command prefix.

    `optional` knows which optional operations the service lacks, whose buttons then go.
    """

    base_url: str
    service: str
    text_format: TextFormat
    prefix: str = ""
    optional: OptionalOperations | None = field(default=None, repr=False)

    def command(self, name: str) -> str:
        """A slash command as users type it in this workspace."""
        return f"/{self.prefix}{name}"

    def sentence(self, error: BotError) -> str:
        """What a user reads of an error. Raises LookupError if nothing words it."""
        told = error if error.says else of_service(error)
        return PLACE.sub(partial(self._value, told), told.says)

    def _value(self, error: BotError, place: re.Match[str]) -> str:
        """What a place in an error's template stands for."""
        slash, name = place.groups()
        if slash:
            return self.command(name)
        value = getattr(self if name in {"service", "prefix"} else error, name)
        if isinstance(value, tuple):
            return " ".join(dict.fromkeys(map(self.sentence, value)))
        return self.sentence(value) if isinstance(value, BotError) else str(value)

    def lacks(self, operation: str) -> bool:
        return self.optional is not None and self.optional.is_missing(operation)

    def url(self, number: int) -> str:
        return issue_url(self.base_url, number)

    async def mrkdwn(self, text: str | None) -> str:
        """The service's text as mrkdwn; plain if converting it takes too long."""
        return (await rendered(text or "", self.text_format)).strip()


async def rendered(text: str, text_format: TextFormat, seconds: float = CONVERSION_SECONDS) -> str:
    """Convert a description to mrkdwn; plain text if that takes longer than `seconds`."""
    convert = from_textile if text_format == "textile" else from_markdown
    return await converted(convert, text, lambda plain: literal(plain[:MAX_CONVERTED]), seconds)


async def converted(
    convert: Callable[[str], T], text: str, otherwise: Callable[[str], T], seconds: float = CONVERSION_SECONDS
) -> T:
    """Convert a text in a thread; `otherwise` converts it if that takes longer than `seconds`.

    The thread can't be stopped, but all converters limit their input, so it ends soon.
    """
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(convert, text)
    except (TimeoutError, RecursionError):  # RecursionError: marks nested a thousand deep
        return otherwise(text)
