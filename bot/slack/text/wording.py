"""What the bot's sentences depend on, and what a user reads of the service's errors, which carry facts; all
other errors have their sentences with them.
"""

import asyncio
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from bot import errors
from bot.errors import BotError, UserError
from bot.service.client import OptionalOperations
from bot.service.conventions import issue_url
from bot.slack.text.markdown import from_markdown
from bot.slack.text.mrkdwn import MAX_CONVERTED, literal
from bot.slack.text.textile import from_textile
from bot.slack.text.to_service import TextFormat
from bot.spelling import prose_kind

T = TypeVar("T")

PLACE = re.compile(r"\{(/?)([\w ]+)\}")  # a place in a template: a name, or a command after a slash
CONVERSION_SECONDS = 1.0
SAYS: dict[type[BotError], UserError] = {
    errors.ServiceError: UserError("{service} couldn't do that. Try again in a minute."),
    errors.Unauthorized: UserError(
        "{service} refused your API key. Link your account again with `{/tracker link}`."
    ),
    errors.Forbidden: UserError(
        "You don't have permission to do that in {service}. Ask a project manager for access."
    ),
    errors.SwitchedOff: UserError(
        "{service}'s REST API is turned off. Ask a {service} administrator to turn it on."
    ),
    errors.NotFound: UserError(
        "{service} can't find that, or you don't have access to it. Check the number or name."
    ),
    errors.Refused: UserError(
        "{service} rejected that without giving a reason. Check what you entered and try again."
    ),
    errors.TooLarge: UserError("That's too large for {service}. Shorten it, or attach a smaller file."),
    errors.AnswerTooLarge: UserError(
        "{service} sent more than I can load at once. Open it in {service} instead."
    ),
    errors.ServiceBroken: UserError(
        "{service} ran into an error. Try again in a minute. If it keeps happening, tell a {service} "
        "administrator."
    ),
    errors.NoFreeConnection: UserError(
        "I'm sending {service} too many requests, so this wasn't sent. Try again in a minute."
    ),
    errors.Unreachable: UserError("I can't reach {service}. Try again in a minute."),
    errors.TimedOut: UserError("{service} isn't responding. Try again in a minute."),
    errors.Redirected: UserError(
        "{service} redirected me to another address, so I stopped. "
        "Ask your Issue Bot administrator to check SERVICE_BASE_URL."
    ),
    errors.OutcomeUnknown: UserError(
        "{service} stopped responding, so the change may not have been saved. Check before you try again."
    ),
}


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
        spoken = error if error.says else of_service(error)
        return PLACE.sub(partial(self._value, spoken), spoken.says)

    def _value(self, error: BotError, place: re.Match[str]) -> str:
        """What a place in an error's template stands for."""
        slash, name = place.groups()
        if slash:
            return self.command(name)
        value = getattr(self if name in {"service", "prefix"} else error, name)
        if isinstance(value, tuple):
            return " ".join(dict.fromkeys(map(self.sentence, value)))
        return self.sentence(value) if isinstance(value, BotError) else str(value)

    @property
    def updates_issues(self) -> bool:
        return self.optional is None or self.optional.updates_issues

    def url(self, number: int) -> str:
        return issue_url(self.base_url, number)

    async def mrkdwn(self, text: str | None) -> str:
        """The service's text as mrkdwn; plain if converting it takes too long."""
        return (await rendered(text or "", self.text_format)).strip()


def of_service(error: BotError) -> UserError:
    """What to tell a user of an error of the service. Raises LookupError for any other error."""
    if isinstance(error, errors.FilterIgnored):
        name = prose_kind(error.filter)
        return UserError("{service} can't filter by {name}. Remove that filter.", name=name)
    if isinstance(error, errors.Refused) and error.errors:
        why = ". ".join(message.rstrip(".") for message in error.errors)
        them = "it" if len(error.errors) == 1 else "these"
        return UserError("{service} rejected that: {why}. Fix {them} and try again.", why=why, them=them)
    if isinstance(error, errors.TooManyRequests):
        seconds = math.ceil(error.retry_after or 0)
        unit = "second" if seconds == 1 else "seconds"
        wait = f"in {seconds} {unit}" if seconds else "in a minute"
        return UserError("{service} is limiting requests right now. Try again {wait}.", wait=wait)
    for kind in type(error).__mro__:
        if kind in SAYS:
            return SAYS[kind]
    raise LookupError(f"no sentence for {type(error).__name__}")


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
