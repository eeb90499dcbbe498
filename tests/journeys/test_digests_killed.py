"""Two real processes on one PostgreSQL, killed at random while digests are due."""

import asyncio
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import func, select, update

from bot.sandbox.demo import demo_data
from bot.sandbox.demo.life import go_on_reporting
from bot.sandbox.people import ANA, CHRIS, PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.server import Workspace
from bot.service.client import Client
from bot.slack.manifest import manifest
from bot.store.digest_runs import RunState
from bot.store.digests import Digest
from bot.store.engine import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import DigestIssueRow, DigestRow, DigestRunRow
from bot.store.vault import Vault
from bot.usecases.accounts import Accounts
from bot.usecases.catalog import Catalogs
from bot.usecases.digests import Digests, Wanted
from bot.usecases.projects import Channel as Place
from bot.usecases.projects import Projects
from bot.usecases.schedules import parse
from tests.journeys.office import TEAM, free_port
from tests.journeys.slackwire import SlackWire

DIGESTS = int(os.environ.get("ISSUEBOT_KILLED_DIGESTS", "10"))
A_SECOND = 3
LATE_ANSWER = ("chat.postMessage", "late answer:0.3")
CHANNELS = 10
PROJECTS = ("webshop", "mobile", "infrastructure")
ISSUE = re.compile(r"/issues/([0-9]+)\|")


@dataclass(frozen=True)
class Post:
    """A digest's message, as it stands in its channel."""

    digest: int
    due_at: str
    issues: frozenset[int]


class Scene:
    """A service, a Slack behind a wire, and a database; the bot's processes come and go."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = Vault.generate_key()
        self.database = Database(url)
        self.store = Store(self.database, Vault([self.key]))
        self.tracker = Tracker(demo_data(datetime.now(UTC)))
        self.wire = SlackWire()
        self.workspace = Workspace(manifest=manifest("socket"), people=PEOPLE)
        self.known = set(self.tracker.data.issues)
        self.kills = 0

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

    async def add_digests(self) -> list[Digest]:
        async with Client(self.tracker.url) as client:
            accounts = Accounts(client, self.store)
            projects = Projects(client, self.store, accounts)
            digests = Digests(client, self.store, accounts, projects, Catalogs(client))
            owners = [Owner(None, TEAM, person.slack_id) for person in (ANA, CHRIS)]
            for owner, person in zip(owners, (ANA, CHRIS), strict=True):
                user = await client.get_user(SecretStr(person.api_key))
                await self.store.links.put(owner, SecretStr(person.api_key), user.id, person.name)
            added = []
            for n in range(DIGESTS):
                schedule = parse(f"cron {n % 60} {n // 60} 29 2 *")
                wanted = Wanted(project=PROJECTS[n % 3], schedule=schedule, zone="UTC", empty=True)
                place = Place(TEAM, f"C0D{n % CHANNELS:06}")
                added.append((await digests.add(owners[n % 2], place, wanted)).digest)
            return added

    async def due(self, digests: list[Digest], *, over: float) -> None:
        """Make them due from now on, one after the other."""
        now = await self.store.digest_runs.now()
        async with self.database.session() as session:
            for n, digest in enumerate(digests):
                moment = now + timedelta(seconds=1 + over * n / len(digests))
                await session.execute(
                    update(DigestRow).where(DigestRow.id == digest.id).values(next_due=moment)
                )

    async def left(self) -> int:
        """How many due times aren't done."""
        runs = select(func.count()).where(DigestRunRow.lease_until.is_not(None))
        due = select(func.count()).where(DigestRow.next_due < func.now() + timedelta(days=1))
        async with self.database.reading() as session:
            return (await session.scalar(runs) or 0) + (await session.scalar(due) or 0)

    async def process(self) -> asyncio.subprocess.Process:
        environment = {
            "PATH": os.environ["PATH"],
            "SLACK_BOT_TOKEN": self.workspace.bot_token,
            "SLACK_APP_TOKEN": self.workspace.app_token,
            "SLACK_API_URL": f"{self.api}api/",
            "SERVICE_BASE_URL": self.tracker.url,
            "DATABASE_URL": self.url,
            "ENCRYPTION_KEYS": self.key.get_secret_value(),
            "HOST": "127.0.0.1",
            "PORT": str(free_port()),
            "LOG_LEVEL": "warning",
        }
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.journeys.hasty",
            "run",
            env=environment,
            stderr=asyncio.subprocess.DEVNULL,
        )

    async def killing(self, dice: random.Random) -> None:
        """Two processes, of which one or the other is killed again and again, until nothing is left to do."""
        processes = [await self.process(), await self.process()]
        try:
            while await self.left():
                await asyncio.sleep(dice.uniform(0.5, 3.0))
                one = dice.randrange(2)
                processes[one].kill()
                await processes[one].wait()
                self.kills += 1
                processes[one] = await self.process()
        finally:
            for process in processes:
                process.kill()
                await process.wait()

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


@pytest.mark.timeout(900)
async def test_processes_killed_at_random_neither_lose_nor_repeat_a_digest_or_an_issue(
    url_of_postgresql: str,
) -> None:
    dice = random.Random(20)  # noqa: S311 - when processes die is no secret
    async with Scene(url_of_postgresql).opened() as scene:
        digests = await scene.add_digests()
        # Slack has the message and answers late: the moment at which it hurts most to die
        scene.wire.faults += [LATE_ANSWER] * DIGESTS * 3
        numbers = [p.id for p in scene.tracker.data.projects.values() if p.identifier in PROJECTS]
        reporting = [asyncio.create_task(go_on_reporting(scene.tracker.data, n, 0.5)) for n in numbers]
        await scene.due(digests, over=DIGESTS / A_SECOND)
        await scene.killing(dice)
        for task in reporting:
            task.cancel()
        await scene.due(digests, over=1)
        await scene.killing(dice)
        posts = scene.posts()
        async with scene.database.reading() as session:
            states = Counter(await session.scalars(select(DigestRunRow.state)))
            rows = (
                await session.scalars(select(DigestIssueRow).where(DigestIssueRow.due_at.is_not(None)))
            ).all()
        reported = [i for i in scene.tracker.data.issues.values() if i.id not in scene.known]
    looked_up = len(scene.wire.called("conversations.history"))
    sys.stdout.write(
        f"{len(posts)} posts, {len(reported)} issues, {scene.kills} kills, {looked_up} looked up\n"
    )
    assert states == {RunState.SENT: DIGESTS * 2}
    assert len({(post.digest, post.due_at) for post in posts}) == len(posts) == DIGESTS * 2
    by_project = {d.id: {i.id for i in reported if i.project_id == d.plan.project_id} for d in digests}
    covered = {(row.digest_id, row.issue_id): row.due_at for row in rows}
    assert covered.keys() == {(digest, issue) for digest, issues in by_project.items() for issue in issues}
    for post in posts:  # long ones have the last of their issues behind a link
        due_at = datetime.fromisoformat(post.due_at)
        assert {covered[post.digest, issue] for issue in post.issues} <= {due_at}
