"""One or more replicas of the bot that serve the workspaces of `slack`."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from bot.app import Bot
from bot.config import Settings
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.slack.waits import Waits
from bot.store.owner import Owner
from bot.timings import DEFAULT, Timings
from tests.slack.workspaces.slack import CLIENT_ID, CLIENT_SECRET, SIGNING_SECRET, Slack

KEYS = {person.login: SecretStr(person.api_key) for person in PEOPLE}


@dataclass
class Company:
    """The running replicas; `bot` is the first."""

    slack: Slack
    tracker: Tracker
    database_url: str
    key: SecretStr
    timings: Timings = DEFAULT
    waits: Waits | None = None
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
            "slack_client_secret": SecretStr(CLIENT_SECRET),
            "slack_signing_secret": SecretStr(SIGNING_SECRET),
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
        bot = Bot(self.settings(**changes), self.timings, self.waits)
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
        while any(len(bot.in_flight) for bot in self.bots):
            await asyncio.sleep(0.01)

    async def ask(self, who: dict[str, str], text: str, bot: Bot | None = None) -> str:
        """Send `/tracker …` as a user and return the answer sent to the response URL, if any."""
        name = await self.slack.command((bot or self.bot).port, who, text)
        async with asyncio.timeout(10):
            while not (said := self.slack.said[name]):
                await asyncio.sleep(0.01)
        return str(said[0].get("text"))
