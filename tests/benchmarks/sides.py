"""The bot as in production, and the minimal Bolt app, with the same Slack and the same service."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from pydantic import SecretStr

from bot.sandbox.people import ANA
from bot.service.client import Client
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from tests.benchmarks.processes import Side, running
from tests.benchmarks.slack import SECRET, TEAM, TOKEN, USER, Slack
from tests.support.ports import free_port
from tests.support.rounds import Span


@dataclass(frozen=True)
class Seen:
    """The service's requests and their times, and when its last upload was complete."""

    paths: list[str]
    spans: list[Span]
    uploaded_at: float


@dataclass
class Scene:
    """Slack and the service, both running, and a user who is linked in the bot's database."""

    directory: Path
    slack: Slack
    service_url: str
    database_url: str
    encryption_key: str

    @asynccontextmanager
    async def bot(self) -> AsyncIterator[tuple[Side, str]]:
        """Yields the bot, once it is ready, and its URL."""
        port = free_port()
        variables = {
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_URL": f"{self.slack.url}/api/",
            "SERVICE_BASE_URL": self.service_url,
            "DATABASE_URL": self.database_url,
            "ENCRYPTION_KEYS": self.encryption_key,
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "LOG_FORMAT": "json",
        }
        async with running(self.directory, "bot", "run", variables=variables) as side:
            await side.answers(f"http://127.0.0.1:{port}/readyz", 200)
            yield side, f"http://127.0.0.1:{port}"

    @asynccontextmanager
    async def bare(self, requests: str, by: str = "httpx") -> AsyncIterator[tuple[Side, str]]:
        """Yields the minimal app, once it listens, and its URL; `requests` are its requests as JSON."""
        port = free_port()
        variables = {
            "SLACK": f"{self.slack.url}/api/",
            "SECRET": SECRET,
            "SERVICE": self.service_url,
            "SERVICE_KEY": ANA.api_key,
            "REQUESTS": requests,
            "BY": by,
            "PORT": str(port),
        }
        async with running(self.directory, "tests.benchmarks.bare", variables=variables) as side:
            await side.answers(f"http://127.0.0.1:{port}/")
            yield side, f"http://127.0.0.1:{port}"

    async def seen(self, **changes: str) -> Seen:
        """Returns what the service has seen since the last call."""
        url = f"{self.service_url}/seen"
        async with aiohttp.ClientSession() as http, http.get(url, params=changes) as answer:
            told = await answer.json()
        paths = [path for path, *_ in told["seen"]]
        return Seen(paths, [Span(*times) for _, *times in told["seen"]], told["uploaded_at"])

    async def delay(self, seconds: float) -> None:
        """Makes the service answer every request this much later."""
        await self.seen(latency=str(seconds))


@asynccontextmanager
async def scene(directory: Path, database_url: str | None = None) -> AsyncIterator[Scene]:
    """Runs Slack and the service while the block lasts; the database is SQLite's unless another is given."""
    database_url = database_url or f"sqlite:///{directory / 'bot.db'}"
    async with AsyncExitStack() as closing:
        slack = await closing.enter_async_context(Slack())
        port = free_port()
        service = await closing.enter_async_context(running(directory, "tests.benchmarks.service", str(port)))
        url = f"http://127.0.0.1:{port}"
        await service.answers(f"{url}/seen", 200)
        key = Vault.generate_key()
        database = Database(database_url)
        closing.push_async_callback(database.close)
        await database.open()
        async with Client(url) as client:
            user = await client.get_user(SecretStr(ANA.api_key))
        await Store(database, Vault((key,))).links.put(
            Owner(None, TEAM, USER), SecretStr(ANA.api_key), user.id, ANA.name
        )
        yield Scene(directory, slack, url, database_url, key.get_secret_value())
