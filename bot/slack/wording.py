"""What the bot's sentences depend on: what the service and the commands are called here."""

import re
from dataclasses import dataclass
from typing import Literal

from bot.errors import BotError
from bot.service.conventions import issue_url
from bot.slack.text import rendered

_COMMAND = re.compile(r"`/(?=issue|issues|timelog|digest|tracker)")


@dataclass(frozen=True)
class Wording:
    """The service's name and address, its text format, and the command prefix."""

    base_url: str
    service: str
    text_format: Literal["markdown", "textile"]
    prefix: str = ""

    def command(self, name: str) -> str:
        """A slash command as people type it here."""
        return f"/{self.prefix}{name}"

    def prefixed(self, text: str) -> str:
        """A sentence with the prefix put into the commands that it names in backticks."""
        return _COMMAND.sub(f"`/{self.prefix}", text) if self.prefix else text

    def sentence(self, error: BotError) -> str:
        """What a person is told about an error."""
        return self.prefixed(error.sentence(self.service))

    def url(self, number: int) -> str:
        """The page of issue `number`."""
        return issue_url(self.base_url, number)

    async def mrkdwn(self, text: str | None) -> str:
        """The service's text as Slack's mrkdwn; plain where converting it takes too long."""
        return (await rendered(text or "", self.text_format)).strip()
