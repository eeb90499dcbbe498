"""A service, a Slack and a PostgreSQL database for bot processes that come and go during digests."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from pydantic import SecretStr
from sqlalchemy import Connection, func, select, update

from bot.features.accounts.accounts import Accounts
from bot.features.digests.digests import Digests
from bot.features.digests.plans import DigestSettings
from bot.features.digests.schedules import parse
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.sandbox.people import ANA, CHRIS, PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.server import Workspace
from bot.service.client import Client
from bot.slack.manifest import manifest
from bot.slack.waits import Waits
from bot.store.channels import Channel as Place
from bot.store.database import Database
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import DigestRow, DigestRunRow
from bot.store.vault import Vault
from bot.timings import Timings
from tests.support.hasty import HASTY, command
from tests.support.office import TEAM
from tests.support.prepared import demo
from tests.support.slackwire import SlackWire

CHANNELS = 10
PROJECTS = ("webshop", "mobile", "infrastructure")
ISSUE = re.compile(r"/issues/([0-9]+)\|")


@dataclass(frozen=True)
class Post:
    """A digest's message as it appears in its channel."""

    digest: int
    due_at: str
    issues: frozenset[int]


class Scene:
    """A service, a Slack behind a faulty proxy, and a database, shared by several bot processes."""

    def __init__(
        self,
        url: str,
        request_url: str | None = None,
        timings: Timings = HASTY,
        tracker: Tracker | None = None,
    ) -> None:
        self.url = url
        self.timings = timings
        self.key = Vault.generate_key()
        self.database = Database(url)
        self.store = Store(self.database, Vault([self.key]))
        self.tracker = tracker or Tracker(demo())
        self.wire = SlackWire()
        self.request_url = request_url
        described = manifest("http", request_url) if request_url else manifest("socket")
        self.workspace = Workspace(manifest=described, people=PEOPLE, request_url=request_url)
        self.known = set(self.tracker.data.issues)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Scene"]:
        await self.database.open()
        await self.tracker.start()
        await self.workspace.start(port=0)
        self.api = await self.wire.up(self.workspace.url)
        self.workspace.state.base_url = self.api
        state = self.workspace.state
        for number in range(CHANNELS):
            state.add_channel(Channel(f"C0D{number:06}", f"d{number}", "channel", {state.app.bot_user_id}))
        try:
            yield self
        finally:
            await self.wire.down()
            await self.workspace.stop()
            await self.tracker.stop()
            await self.database.close()

    async def add_digests(self, count: int) -> list[Digest]:
        async with Client(self.tracker.url) as client:
            accounts = Accounts(client, self.store)
            projects = Projects(client, self.store, accounts, Waits().lookups)
            digests = Digests(client, self.store, accounts, projects, Catalogs(client))
            owners = [Owner(None, TEAM, person.slack_id) for person in (ANA, CHRIS)]
            for owner, person in zip(owners, (ANA, CHRIS), strict=True):
                user = await client.get_user(SecretStr(person.api_key))
                await self.store.links.put(owner, SecretStr(person.api_key), user.id, person.name)
            added = []
            for n in range(count):
                schedule = parse(f"cron {n % 60} {n // 60} 29 2 *")
                wanted = DigestSettings(project=PROJECTS[n % 3], schedule=schedule, zone="UTC", empty=True)
                place = Place(TEAM, f"C0D{n % CHANNELS:06}")
                added.append((await digests.add(owners[n % 2], place, wanted)).digest)
            return added

    async def due(self, digests: list[Digest], *, over: float) -> None:
        """Makes the digests due one after the other, starting now."""
        now = await self.store.digest_runs.now()

        def make(connection: Connection) -> None:
            for n, digest in enumerate(digests):
                moment = now + timedelta(seconds=1 + over * n / len(digests))
                connection.execute(update(DigestRow).where(DigestRow.id == digest.id).values(next_due=moment))

        await self.database.write(make)

    async def left(self) -> int:
        """Returns how many due digests aren't posted yet."""
        runs = select(func.count()).where(DigestRunRow.lease_until.is_not(None))
        due = select(func.count()).where(DigestRow.next_due < func.now() + timedelta(days=1))
        return await self.database.read(
            lambda connection: (connection.scalar(runs) or 0) + (connection.scalar(due) or 0)
        )

    async def process(self, port: int = 0) -> asyncio.subprocess.Process:
        """Starts the bot as in production but with shorter timings; without `port` it uses a free one."""
        way_in = {"SLACK_APP_TOKEN": self.workspace.app_token}
        if self.request_url:
            way_in = {"SLACK_SIGNING_SECRET": self.workspace.signing_secret}
        environment = {
            **way_in,
            "PATH": os.environ["PATH"],
            "SLACK_BOT_TOKEN": self.workspace.bot_token,
            "SLACK_API_URL": f"{self.api}api/",
            "SERVICE_BASE_URL": self.tracker.url,
            "DATABASE_URL": self.url,
            "ENCRYPTION_KEYS": self.key.get_secret_value(),
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "LOG_LEVEL": "warning",
        }
        return await asyncio.create_subprocess_exec(
            *command(self.timings),
            env=environment,
            stderr=asyncio.subprocess.DEVNULL,
        )

    def posts(self) -> list[Post]:
        return [
            Post(
                message.metadata["event_payload"]["digest"],
                message.metadata["event_payload"]["due_at"],
                frozenset(map(int, ISSUE.findall(json.dumps(message.blocks)))),
            )
            for messages in self.workspace.state.messages.values()
            for message in messages
            if message.metadata
        ]
