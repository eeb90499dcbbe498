"""One or more replicas of the bot that serve the workspaces of `slack`."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from bot.app import Bot
from bot.config import Settings
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.store.owner import Owner
from bot.timings import DEFAULT, Delays, Timings
from tests.slack.workspaces.slack import CLIENT_ID, CLIENT_SECRET, SIGNING_SECRET, Slack
from tests.support.clock import SetClock
from tests.support.reading import until_so

KEYS = {person.login: SecretStr(person.api_key) for person in PEOPLE}
OF_ONE_WORKSPACE = {"slack_client_id": None, "slack_client_secret": None}
"""The changes for a bot with a fixed token."""


@dataclass
class Company:
    """The running replicas; `bot` is the first."""

    slack: Slack
    tracker: Tracker
    database_url: str
    key: SecretStr
    timings: Timings = DEFAULT
    delays: Delays | None = None
    clock: SetClock = field(default_factory=SetClock)
    bots: list[Bot] = field(default_factory=list)

    @property
    def bot(self) -> Bot:
        return self.bots[0]

    @property
    def port(self) -> int:
        return self.bot.port

    def settings(self, **changes: Any) -> Settings:
        """The replicas' configuration."""
        usual: dict[str, Any] = {
            "slack_client_id": CLIENT_ID,
            "slack_client_secret": CLIENT_SECRET,
            "slack_signing_secret": SIGNING_SECRET,
            "slack_api_url": self.slack.api_url,
            "service_base_url": self.tracker.url,
            "database_url": self.database_url,
            "encryption_keys": (self.key,),
            "host": "127.0.0.1",
            "port": 0,
        }
        return Settings(**{name: value for name, value in (usual | changes).items() if value is not None})

    async def start(self, **changes: Any) -> Bot:
        """Start another replica."""
        bot = Bot(self.settings(**changes), self.timings, self.delays, self.clock.query())
        await bot.start()
        self.bots.append(bot)
        return bot

    async def close(self) -> None:
        await asyncio.gather(*(bot.stop(5) for bot in self.bots))

    async def link(self, owner: Owner, login: str) -> None:
        """Link a user's account."""
        user = await self.bot.client.get_user(KEYS[login])
        await self.bot.store.links.put(owner, KEYS[login], user.id, user.name)

    async def idle(self) -> None:
        """Wait until all work is done."""
        await until_so(lambda: not any(len(bot.in_flight) for bot in self.bots))

    async def send_event(self, content: Mapping[str, Any], bot: Bot | None = None, **about: object) -> int:
        """Send an event, and wait until all work is done; returns the response status."""
        status = await self.slack.event((bot or self.bot).port, content, **about)
        await self.idle()
        return status

    async def ask(self, who: dict[str, str], text: str, bot: Bot | None = None) -> str:
        """Send `/tracker …` as a user and return the answer sent to the response URL, if any."""
        name = await self.slack.command((bot or self.bot).port, who, text)
        await until_so(lambda: self.slack.replies[name])
        return str(self.slack.replies[name][0].get("text"))
