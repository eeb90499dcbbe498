"""Two simulated processes, each killed at a random step of what they do, while followed issues change."""

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import bindparam, select

from bot.features.accounts.accounts import Accounts
from bot.features.background.outcomes import (
    Absent,
    ChannelStatus,
    Delayed,
    Found,
    Outcome,
    Posted,
    Unsure,
)
from bot.features.following.reading import IssueReader, Seen
from bot.features.following.runs import FollowRuns
from bot.features.issues.issues import Issues
from bot.features.projects.projects import Projects
from bot.sandbox.people import ANA
from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.server import Tracker
from bot.service.client import Client
from bot.store.database import Database
from bot.store.followed import Followed
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import UtcDateTime
from bot.store.vault import Vault
from bot.timings import DEFAULT
from tests.features.following.threads import assert_each_line_once, changes, close_or_reopen, open_issues
from tests.support.prepared import demo, sqlite

CHANGES = changes(20)
ISSUES, MOST_STEPS = 5, 60
FAULTS = [None] * 6 + ["lose the request", "lose the answer", "delay"]
OWNER = Owner(None, "T1", "U1")


class Killed(BaseException):
    """Raised at the step where a process is killed."""


class FakePoster:
    """Threads with their lines, which may lose a request or an answer."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.shown: dict[int, str] = {}
        self.lines: dict[int, list[tuple[int, bool]]] = {}

    async def channel_status(self, *_: object) -> ChannelStatus:
        return ChannelStatus.OPEN

    def slack_time(self) -> None: ...

    async def update(self, followed: Followed, seen: Seen) -> Outcome:
        self.shown[followed.issue_id] = seen.issue.subject
        return Posted("1.1")

    async def tell(self, followed: Followed, seen: Seen) -> Outcome:
        fault = self._rng.choice(FAULTS)
        if fault == "delay":
            return Delayed(0)
        if fault != "lose the request":
            self.lines.setdefault(followed.issue_id, []).append((followed.told, seen.closed))
        return Unsure() if fault else Posted("1.2")

    async def find_line(self, followed: Followed, *_: object) -> Found:
        told = [number for number, _ in self.lines.get(followed.issue_id, ())]
        return Posted("1.2") if followed.told in told else Absent()


class Steps:
    """A wrapper whose method calls are steps of a process; it may die before or after each."""

    def __init__(self, of: Any, process: "Process") -> None:
        self._of = of
        self._process = process

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._of, name)
        if name == "slack_time":
            return method

        async def step(*given: Any, **named: Any) -> Any:
            return await self._process.step(lambda: method(*given, **named))

        return step


class Process:
    """A process that dies when `steps_left` is used up; None never."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.steps_left: int | None = None
        self.store = world.new_store()
        vars(self.store)["followed"] = Steps(self.store.followed, self)
        self.runs = FollowRuns(
            world.client,
            self.store,
            world.accounts,
            reader=world.reader,
            poster=Steps(world.poster, self),
            timings=DEFAULT,
        )

    async def step(self, work: Callable[[], Awaitable[Any]]) -> Any:
        self._count()
        done = await work()
        self._count()
        return done

    def _count(self) -> None:
        if self.steps_left is not None:
            self.steps_left -= 1
            if self.steps_left <= 0:
                raise Killed

    @property
    def dead(self) -> bool:
        return self.steps_left is not None and self.steps_left <= 0

    async def minute(self) -> None:
        """Lets a minute pass with heartbeats, then reads what is due."""
        for _ in range(8):
            self.world.now += timedelta(seconds=8)
            await self.store.processes.beat()
        try:
            await self.runs.run_due()
        except Killed:
            return
        await self.runs.idle()


class World:
    """A service, a database, and the time on every clock."""

    def __init__(self, database: Database, rng: random.Random) -> None:
        self._database = database
        self._vault = Vault([Vault.generate_key()])
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.tracker = Tracker(demo(), issue_reads=True)
        self.poster = FakePoster(rng)
        self.store = self.new_store()

    def new_store(self) -> Store:
        """A store, as in a separate process."""
        clock = select(bindparam("now", callable_=lambda: self.now, type_=UtcDateTime()))
        return Store(self._database, self._vault, clock=clock)

    async def open(self) -> list[Issue]:
        """Starts the service, and follows some issues."""
        await self.tracker.start()
        self.client = Client(self.tracker.url)
        self.accounts = Accounts(self.client, self.store)
        projects = Projects(self.client, self.store, self.accounts, ())
        issues = Issues(self.client, self.store, self.accounts, projects)
        self.reader = IssueReader(self.client, issues)
        await self.store.links.put(OWNER, SecretStr(ANA.api_key), 1, ANA.name)
        found = open_issues(self.tracker, ISSUES)
        for issue in found:
            one = Followed(
                owner=OWNER,
                issue_id=issue.id,
                channel_id="C1",
                thread_ts="1.0",
                ts="1.1",
                posted_by="U1",
                created=True,
            )
            await self.store.followed.add(one)
        return found

    async def close(self) -> None:
        await self.client.aclose()
        await self.tracker.stop()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return sqlite(tmp_path / "bot.db")


@pytest.mark.timeout(900)
async def test_a_kill_at_any_step_neither_loses_nor_repeats_a_line(database: Database) -> None:
    rng = random.Random(16)  # noqa: S311 - not used for cryptography
    world = World(database, rng)
    issues = await world.open()
    processes, kills = [Process(world), Process(world)], 0
    for number in range(CHANGES):
        issue = rng.choice(issues)
        close_or_reopen(issue, f"Change {number}", world.now)
        chosen = rng.randrange(2)
        processes[chosen].steps_left = rng.randint(1, MOST_STEPS)
        await processes[chosen].minute()
        if processes[chosen].dead:
            kills += 1
            processes[chosen] = Process(world)
        processes[chosen].steps_left = None
    for _ in range(5):
        await processes[0].minute()
    await world.close()

    assert CHANGES / 4 < kills < CHANGES
    for issue in issues:
        told = [closed for _, closed in world.poster.lines.get(issue.id, ())]
        assert_each_line_once(told, issue)
        assert world.poster.shown.get(issue.id, issue.subject) == issue.subject
