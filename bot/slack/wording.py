"""What the bot's sentences depend on: the service's name and the command prefix."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.errors import BotError
from bot.service.conventions import issue_url
from bot.slack.text import rendered
from bot.slack.text.formats import TextFormat


@dataclass(frozen=True)
class Wording:
    """The service's name and address, its text format, the command prefix, and how errors are worded.

    Each of `sentences` returns the sentence for an error, or None for an error that another one words.
    `lacks` tells whether the service is known to lack an optional operation, whose buttons then go.
    """

    base_url: str
    service: str
    text_format: TextFormat
    prefix: str = ""
    sentences: "tuple[Sentences, ...]" = field(default=(), repr=False)
    lacks: Callable[[str], bool] = field(default=lambda _: False, repr=False)

    def command(self, name: str) -> str:
        """A slash command as users type it in this workspace."""
        return f"/{self.prefix}{name}"

    def sentence(self, error: BotError) -> str:
        for words in self.sentences:
            if said := words(error, self):
                return said
        raise LookupError(f"no sentence for {type(error).__name__}")

    def url(self, number: int) -> str:
        return issue_url(self.base_url, number)

    async def mrkdwn(self, text: str | None) -> str:
        """The service's text as mrkdwn; plain if converting it takes too long."""
        return (await rendered(text or "", self.text_format)).strip()


Sentences = Callable[[BotError, Wording], str | None]
