"""A bot, or several replicas of it, for the workspaces of `slack`."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from bot.app import Bot
from bot.config import Settings
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.store.owner import Owner
from bot.timings import DEFAULT, Timings
from tests.slack.workspaces.slack import CLIENT_ID, CLIENT_SECRET, SIGNING_SECRET, Slack

KEYS = {person.login: SecretStr(person.api_key) for person in PEOPLE}


@dataclass
class Company:
    """The bots that run, the first of them at hand as `bot`."""

    slack: Slack
    tracker: Tracker
    database_url: str
    key: SecretStr
    timings: Timings = DEFAULT
    bots: list[Bot] = field(default_factory=list)

    @property
    def bot(self) -> Bot:
        """The first one."""
        return self.bots[0]

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.bot.port

    def settings(self, **changes: Any) -> Settings:
        """What the bots are configured with."""
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
        """One more bot."""
        bot = Bot(self.settings(**changes), self.timings)
        await bot.start()
        self.bots.append(bot)
        return bot

    async def close(self) -> None:
        """Stop them all."""
        await asyncio.gather(*(bot.stop(5) for bot in self.bots))

    async def link(self, owner: Owner, login: str) -> None:
        """Have somebody linked already."""
        user = await self.bot.client.get_user(KEYS[login])
        await self.bot.store.links.put(owner, KEYS[login], user.id, user.name)

    async def idle(self) -> None:
        """Everything that was begun is done."""
        while any(len(bot.in_flight) for bot in self.bots):
            await asyncio.sleep(0.01)

    async def ask(self, who: dict[str, str], text: str, bot: Bot | None = None) -> str:
        """Somebody types `/tracker …`; what they are told, if it is by response URL."""
        name = await self.slack.command((bot or self.bot).port, who, text)
        async with asyncio.timeout(10):
            while not (said := self.slack.said[name]):
                await asyncio.sleep(0.01)
        return str(said[0].get("text"))
