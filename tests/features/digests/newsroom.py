"""Digests at work: the reference service over HTTP, a real database, engines in the place of processes, and a
board that they post to in the place of Slack.
"""

import asyncio
import itertools
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import SecretStr
from sqlalchemy import bindparam, select

from bot.features.accounts.accounts import Accounts
from bot.features.digests.digests import Digests, Planned, Wanted
from bot.features.digests.posts import (
    Absent,
    Delayed,
    Edition,
    Found,
    Hidden,
    Outcome,
    Posted,
    Refused,
    Standing,
    Unsure,
)
from bot.features.digests.runs import DigestRuns
from bot.features.digests.schedules import parse
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue, Project, User, free_id, put
from bot.sandbox.tracker.server import Tracker
from bot.service.client import Client
from bot.store.channels import Channel
from bot.store.database import Database
from bot.store.digest_runs import Run, RunState
from bot.store.digests import Digest, Notice, Pause
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.store import Store
from bot.store.tables import UtcDateTime
from bot.store.vault import Vault

TEAM = "T1"
SHOP, VAULT = 1, 2
HEARTBEAT = timedelta(seconds=8)
START = datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
Fault = Literal["lose the request", "lose the answer", "refuse", "delay"]


@dataclass(frozen=True)
class Post:
    """What stands on the board."""

    ts: str
    channel: str
    digest: int
    due_at: datetime
    issues: tuple[int, ...]
    missed: int


@dataclass
class Board:
    """Keeps what is posted; fails as told, one fault a post.

    `hidden`: nothing can be looked up; the issues of what should have been are `unsure`, by digest.
    """

    store: Store
    posts: list[Post] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    standing: dict[str, Standing] = field(default_factory=dict)
    told: list[tuple[str, tuple[int, ...], str]] = field(default_factory=list)
    editions: list[Edition] = field(default_factory=list)
    hidden: bool = False
    speechless: int = 0
    """How often nobody can be told anything."""
    unsure: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    async def standings(self, owner: Owner, channels: Collection[str]) -> Mapping[str, Standing]:
        assert owner.team_id == TEAM
        return {channel: self.standing.get(channel, Standing.OPEN) for channel in channels}

    @asynccontextmanager
    async def turn(self, *_: object) -> AsyncIterator[None]:
        await asyncio.sleep(0)
        yield

    def prepared(self, edition: Edition) -> Callable[[float], Awaitable[Outcome]]:
        return lambda _latest: self.post(edition)

    def slack_time(self) -> datetime | None:
        return None

    async def post(self, edition: Edition) -> Outcome:
        fault = self.faults.pop(0) if self.faults else None
        match fault:
            case "lose the request":
                return Unsure()
            case "refuse":
                return Refused(Pause.CHANNEL)
            case "delay":
                return Delayed(30)
        self.editions.append(edition)
        digest = edition.digest
        post = Post(
            f"{next(self._numbers)}.0",
            digest.channel_id,
            digest.id,
            edition.due_at,
            tuple(issue.id for issue in edition.issues),
            edition.missed,
        )
        self.posts.append(post)
        return Unsure() if fault == "lose the answer" else Posted(post.ts)

    async def find(self, digest: Digest, due_at: datetime, *_: object) -> Found:
        if self.hidden:
            run = Run(digest=digest, due_at=due_at, state=RunState.SENDING, holder="")
            self.unsure[digest.id] |= {one.issue_id for one in await self.store.digest_runs.sent(run)}
            return Hidden()
        found = (post for post in self.posts if (post.digest, post.due_at) == (digest.id, due_at))
        return next((Posted(post.ts) for post in found), Absent())

    async def tell_owner(self, digests: Sequence[Digest], notice: Notice) -> bool:
        self.speechless -= 1
        if self.speechless == 1:
            raise TimeoutError
        if self.speechless == 0:
            return False
        self.told.append((digests[0].owner.user_id, tuple(digest.id for digest in digests), notice))
        return True

    async def tell_channel(self, digests: Sequence[Digest]) -> bool:
        self.told.append((digests[0].channel_id, tuple(digest.id for digest in digests), "stopped"))
        return True

    def twice(self) -> list[tuple[int, int]]:
        """The issues that a digest had more than once."""
        seen = Counter((post.digest, issue) for post in self.posts for issue in post.issues)
        return [one for one, times in seen.items() if times > 1]

    def covered(self, digest: int) -> set[int]:
        """The issues that a digest had."""
        return {issue for post in self.posts if post.digest == digest for issue in post.issues}


class Died(BaseException):
    """The process was killed here."""


class Process:
    """An engine whose every step towards database and Slack may be its last, or take very long."""

    def __init__(self, newsroom: "Newsroom") -> None:
        self.left: int | None = None
        self.dies: tuple[Literal["before", "after"], str] | None = None
        self.stalls_at: int | str | None = None
        self.stands_still = asyncio.Event()
        self.go_on = asyncio.Event()
        self.dead = False
        self.fails: list[tuple[str, int]] = []
        """Steps of the database that fail, once each: by name and digest."""
        store = newsroom.new_store()
        vars(store).update(digest_runs=Steps(store.digest_runs, self), digests=Steps(store.digests, self))
        self.engine: DigestRuns = newsroom.engine(store, Steps(newsroom.board, self))

    def die_after(self, steps: int) -> None:
        self.left = steps

    async def step(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        if name == self.stalls_at or (isinstance(self.stalls_at, int) and name != "post"):
            await self._stall()
        if self.dies == ("before", name):
            self.dead = True
        if self.dead:
            raise Died
        if self.left is None:
            done = await work()
            if self.dies == ("after", name):
                self.dead = True
                raise Died
            return done
        self.left -= 1
        if self.left == 0:
            self.dead = True
            raise Died
        done = await work()
        self.left -= 1
        if self.left <= 0:
            self.dead = True
            raise Died
        return done

    async def _stall(self) -> None:
        """Stand still; never at a post: what Slack already has can't be called back."""
        if isinstance(self.stalls_at, int):
            self.stalls_at -= 1
        if self.stalls_at == 0 or isinstance(self.stalls_at, str):
            self.stands_still.set()
            await self.go_on.wait()


class Steps:
    """Something whose methods are steps of a process."""

    def __init__(self, of: Any, process: Process) -> None:
        self._of = of
        self._process = process

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._of, name)
        if name in {"turn", "slack_time"}:
            return method
        if name == "prepared":
            return lambda edition: lambda latest: self._process.step("post", lambda: method(edition)(latest))

        async def step(*given: Any, **named: Any) -> Any:
            about = (name, given[0].digest.id) if given and isinstance(given[0], Run) else None
            if about in self._process.fails:
                self._process.fails.remove(about)
                raise OSError("the database is away")
            return await self._process.step(name, lambda: method(*given, **named))

        return step


class Newsroom:
    """A service with two people and two projects; `now` is everybody's clock, moved by hand."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._vault = Vault([Vault.generate_key()])
        self._processes: dict[DigestRuns, Processes] = {}
        self.now = START
        self.store = self.new_store()
        self.service_is_ahead = timedelta(0)
        self.requests: Counter[str] = Counter()
        self.board = Board(self.store)
        self.tracker = Tracker(clock=lambda: self.now + self.service_is_ahead)
        self.ana, self.ben = Owner(None, TEAM, "U0ANA"), Owner(None, TEAM, "U0BEN")
        self.finished: list[RunState] = []
        self._unseen: dict[int, Issue] = {}
        self._users: dict[str, User] = {}

    async def open(self) -> None:
        """People, projects, and keys."""
        data = self.tracker.data
        for number, name in ((1, "Shop"), (2, "Vault")):
            project = Project(
                number, name, identifier=name.lower(), tracker_ids=(defaults.BUG, defaults.TASK)
            )
            put(data.projects, project).is_public = number == SHOP
        for number, owner in enumerate((self.ana, self.ben), 1):
            name = owner.user_id[2:].lower()
            user = User(number, name, name.title(), "Test", f"{name}@x.example", f"key-of-{name}")
            self._users[name] = put(data.users, user)
            data.join(data.projects[SHOP], user, defaults.DEVELOPER)
        data.join(data.projects[VAULT], self._users["ana"], defaults.DEVELOPER)
        await self.tracker.start()
        self.client = Client(self.tracker.url, on_answer=lambda name, *_: self.requests.update([name]))
        self.accounts = Accounts(self.client, self.store)
        self.projects = Projects(self.client, self.store, self.accounts)
        self.digests = Digests(self.client, self.store, self.accounts, self.projects, Catalogs(self.client))
        for owner, name in ((self.ana, "ana"), (self.ben, "ben")):
            await self.store.links.put(owner, SecretStr(f"key-of-{name}"), self._users[name].id, name.title())

    async def close(self) -> None:
        """Everything ends."""
        await self.client.aclose()
        await self.tracker.stop()

    def engine(self, store: Store | None = None, board: Any = None) -> DigestRuns:
        """Another process's engine."""
        store = store or self.new_store()
        engine = DigestRuns(
            self.client,
            store,
            self.accounts,
            poster=board or self.board,
            on_finished=lambda state, _late: self.finished.append(state),
        )
        self._processes[engine] = store.processes
        return engine

    def new_store(self) -> Store:
        """Another process's store."""
        clock = select(bindparam("now", callable_=lambda: self.now, type_=UtcDateTime()))
        return Store(self._database, self._vault, clock=clock)

    async def add(
        self, channel: str = "C1", schedule: str = "hourly", *, owner: Owner | None = None, **wanted: Any
    ) -> Digest:
        """A new digest of the shop."""
        about: dict[str, Any] = {"project": "Shop", "zone": "Europe/Madrid", "schedule": parse(schedule)}
        where = Channel(TEAM, channel)
        planned: Planned = await self.digests.add(owner or self.ana, where, Wanted(**about | wanted))
        return planned.digest

    async def stored(self, digest: Digest) -> Digest:
        """The digest as it is now."""
        found = await self.store.digests.get(TEAM, digest.id)
        assert found
        return found

    async def forget_zone(self, digest: Digest) -> None:
        """The digest's time zone is known no more."""
        plan = replace(digest.plan, zone="Atlantis/Capital")
        await self.store.digests.change(digest, plan, digest.next_due or self.now, ())

    def report(
        self, project: int = SHOP, *, visible: bool = True, private: bool = False, tracker: int = defaults.BUG
    ) -> Issue:
        """An issue opened now; one that isn't `visible` yet appears once it is `appear`ed."""
        data = self.tracker.data
        opened = (self.now + self.service_is_ahead).replace(microsecond=0)
        issue = Issue(
            id=free_id(data.issues, self._unseen),
            project_id=project,
            tracker_id=tracker,
            status_id=defaults.NEW,
            priority_id=defaults.NORMAL,
            author_id=1,
            subject="Something is broken",
            created_on=opened,
            updated_on=opened,
            is_private=private,
        )
        put(data.issues if visible else self._unseen, issue)
        return issue

    def appear(self) -> None:
        """What was opened earlier, and not visible yet, is visible now."""
        self.tracker.data.issues.update(self._unseen)
        self._unseen.clear()

    async def tick(self, engine: DigestRuns, *, after: timedelta = timedelta(0)) -> None:
        """Time passes, then the engine sends some heartbeats, its clock ticks, and its work is done."""
        self.now += after
        for _ in range(4):
            self.now += HEARTBEAT
            await self._processes[engine].beat()
        await engine.run_due(self.now)
        await engine.idle()

    async def goes_on(self, engine: DigestRuns, seconds: int) -> None:
        """The engine's process does what it does in production, every five seconds."""
        for _ in range(seconds // 5):
            self.now += timedelta(seconds=5)
            await self._processes[engine].beat()
            await engine.run_due(self.now)
            await engine.idle()

    async def works(self, process: Process) -> None:
        """A process ticks, and works until it is done or dies."""
        try:
            await self.tick(process.engine)
        except Died:
            await process.engine.idle()

    async def stalls(
        self, slow: Process, at: int | str, meanwhile: Callable[[], Coroutine[Any, Any, object]]
    ) -> None:
        """A process stands still at one of its steps, by number or name, while something else happens."""
        slow.stalls_at, slow.stands_still, slow.go_on = at, asyncio.Event(), asyncio.Event()
        work = asyncio.create_task(self.works(slow))
        standing = asyncio.create_task(slow.stands_still.wait())
        await asyncio.wait({work, standing}, return_when=asyncio.FIRST_COMPLETED)
        standing.cancel()
        await meanwhile()
        slow.stalls_at = None
        slow.go_on.set()
        await work
