"""A harness for digests: the reference service over HTTP, a real database, one engine for each simulated
process, and a fake poster instead of Slack.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from typing import Any, Literal

from pydantic import SecretStr
from sqlalchemy import bindparam, select

from bot.access.access import Access
from bot.features.digests.digests import Digests, Planned
from bot.features.digests.notices import DigestNotices
from bot.features.digests.reading import Edition, Ready
from bot.features.digests.runs import DigestRuns
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue, Project, User, free_id, put
from bot.sandbox.tracker.server import Tracker
from bot.service.client import Client
from bot.slack.outgoing import outbox
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import (
    Absent,
    ChannelStatus,
    Delayed,
    Found,
    Hidden,
    Outcome,
    Posted,
    PostRefused,
    Unsure,
)
from bot.store.channels import Channel
from bot.store.column_types import UtcDateTime
from bot.store.database import Database
from bot.store.digest_runs import Run
from bot.store.digests import NOTICE, Digest
from bot.store.jobs import Job, Later
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import KeyTimings, Timings
from bot.worker import Worker
from tests.support.digesting import wanted
from tests.support.wording import WORDING

TEAM = "T1"
SHOP, VAULT = 1, 2
HEARTBEAT = timedelta(seconds=8)
START = datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
Fault = Literal["lose the request", "lose the answer", "refuse", "delay"]


@dataclass
class FakePoster:
    """Records posts, with one fault from `faults` for each.

    While `hidden`, no post can be looked up, and `unsure` collects the issues of those posts, by digest.
    """

    posts: list[Edition] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    closed: dict[str, ChannelStatus] = field(default_factory=dict)
    notices: list[tuple[str, tuple[int, ...], str]] = field(default_factory=list)
    hidden: bool = False
    failing_notices: int = 0
    """How many of the next notices fail."""
    unsure: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    sent: list[Edition] = field(default_factory=list)
    """What processes have sent, whether or not it arrived."""
    _prepared: dict[tuple[int, datetime], set[int]] = field(default_factory=dict)

    async def channel_status(self, owner: Owner, channel_id: str) -> ChannelStatus:
        assert owner.team_id == TEAM
        return self.closed.get(channel_id, ChannelStatus.OPEN)

    def slack_time(self) -> datetime | None:
        return None

    async def post(
        self, digest: Digest, _due_at: datetime, ready: Ready, step: Callable[..., Any] | None = None
    ) -> Outcome | None:
        """Posts as the outbox does; `step` wraps the request itself."""
        await asyncio.sleep(0)
        if status := self.closed.get(digest.channel_id):
            return PostRefused(status)
        if (edition := await ready()) is None:
            return None
        self._prepared[edition.digest.id, edition.due_at] = {issue.id for issue in edition.issues}
        self.sent.append(edition)
        return await (step or _at_once)("post", lambda: self._posted(edition))

    async def _posted(self, edition: Edition) -> Outcome:
        fault = self.faults.pop(0) if self.faults else None
        match fault:
            case "lose the request":
                return Unsure()
            case "refuse":
                return PostRefused(ChannelStatus.GONE)
            case "delay":
                return Delayed(30)
        self.posts.append(edition)
        return Unsure() if fault == "lose the answer" else Posted("1.0")

    async def find(self, digest: Digest, due_at: datetime, *_: object) -> Found:
        if self.hidden:
            self.unsure[digest.id] |= self._prepared[digest.id, due_at]
            return Hidden()
        posted = {(post.digest.id, post.due_at) for post in self.posts}
        return Posted("1.0") if (digest.id, due_at) in posted else Absent()

    async def send(
        self, _job: Job, post: Post, ready: outbox.Ready, *, content: Callable[[], Any]
    ) -> Later | Outcome | None:
        """Sends a notice as a stored post does."""
        self.failing_notices -= 1
        if self.failing_notices == 1:
            raise TimeoutError
        if self.failing_notices == 0:
            return Later(30)
        if await ready() is None:
            return None
        self.notices.append((post.channel_id, tuple(content()["digests"]), content()["notice"]))
        return Posted("1.0")

    def listed(self, digest: Digest | None = None) -> list[tuple[int, ...]]:
        """The issues in each post, of one digest or of all."""
        posts = (post for post in self.posts if digest is None or post.digest.id == digest.id)
        return [tuple(issue.id for issue in post.issues) for post in posts]

    def repeated_issues(self) -> list[tuple[int, int]]:
        """Issues that a digest posted more than once, each with its digest."""
        seen = Counter((post.digest.id, issue.id) for post in self.posts for issue in post.issues)
        return [one for one, times in seen.items() if times > 1]

    def covered(self, digest: int) -> set[int]:
        """The issues that a digest posted."""
        return {issue.id for post in self.posts if post.digest.id == digest for issue in post.issues}


async def _at_once(_name: str, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
    return await work()


class Killed(BaseException):
    """Raised at the step where a process is killed."""


def _unless_killed(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Reports what tasks died of that nobody awaits, except those of a killed process."""
    if not isinstance(context.get("exception"), Killed):
        loop.default_exception_handler(context)


class Process:
    """An engine that can be killed, stalled or made to fail at any database write or post."""

    def __init__(self, harness: "DigestHarness") -> None:
        self.steps_left: int | None = None
        self.dies_at: tuple[Literal["before", "after"], str] | None = None
        self.stall_at: int | str | None = None
        self.stalled = asyncio.Event()
        self.resume_work = asyncio.Event()
        self.dead = False
        self.failing_steps: list[tuple[str, int]] = []
        """Database steps that fail once: method name and digest id."""
        store = harness.new_store()
        vars(store).update(digest_runs=Steps(store.digest_runs, self), digests=Steps(store.digests, self))
        self.engine: DigestRuns = harness.engine(store, Steps(harness.poster, self))

    async def step(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        if name == self.stall_at or (isinstance(self.stall_at, int) and name != "post"):
            await self._stall()
        self._live_through("before", name)
        done = await work()
        self._live_through("after", name)
        return done

    def _live_through(self, when: Literal["before", "after"], name: str) -> None:
        if self.steps_left is not None:
            self.steps_left -= 1
        if self.dead or self.steps_left == 0 or self.dies_at == (when, name):
            self.dead = True
            raise Killed

    async def _stall(self) -> None:
        """Wait at this step; by number, never at a post, which Slack would already have received."""
        if isinstance(self.stall_at, int):
            self.stall_at -= 1
        if self.stall_at == 0 or isinstance(self.stall_at, str):
            self.stalled.set()
            await self.resume_work.wait()


class Steps:
    """A wrapper whose method calls are steps of a process."""

    def __init__(self, of: Any, process: Process) -> None:
        self._of = of
        self._process = process

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._of, name)
        if name == "slack_time":
            return method
        if name == "post":
            return partial(method, step=self._process.step)

        async def step(*given: Any, **named: Any) -> Any:
            about = (name, given[0].digest.id) if given and isinstance(given[0], Run) else None
            if about in self._process.failing_steps:
                self._process.failing_steps.remove(about)
                raise OSError("database unavailable")
            return await self._process.step(name, lambda: method(*given, **named))

        return step


class DigestHarness:
    """A service with two users and two projects; `now` is the time on every clock."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._vault = Vault([Vault.generate_key()])
        self._processes: dict[DigestRuns, Processes] = {}
        self._workers: dict[DigestRuns, Worker] = {}
        self.now = START
        self.store = self.new_store()
        self.service_clock_offset = timedelta(0)
        self.requests: Counter[str] = Counter()
        self.poster = FakePoster()
        self.tracker = Tracker(clock=lambda: self.now + self.service_clock_offset)
        self.ana, self.ben = Owner(None, TEAM, "U0ANA"), Owner(None, TEAM, "U0BEN")
        self.finished: list[str] = []
        self._hidden: dict[int, Issue] = {}
        self._users: dict[str, User] = {}

    async def open(self) -> None:
        """Create users, projects and keys."""
        asyncio.get_running_loop().set_exception_handler(_unless_killed)
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
        self.access = Access.to(self.client, self.store, Timings(keys=KeyTimings(recheck=0)))
        self.digests = Digests(self.access)
        for owner, name in ((self.ana, "ana"), (self.ben, "ben")):
            await self.store.links.put(owner, SecretStr(f"key-of-{name}"), self._users[name].id, name.title())

    async def close(self) -> None:
        await self.client.aclose()
        await self.tracker.stop()

    @cached_property
    def living(self) -> DigestRuns:
        """The engine of a process that is never cut off."""
        return self.engine()

    def engine(self, store: Store | None = None, poster: Any = None) -> DigestRuns:
        """An engine, as in a separate process."""
        store = store or self.new_store()
        access = replace(self.access, store=store)
        poster = poster or self.poster
        engine = DigestRuns(access, poster, lambda state, _late: self.finished.append(state))
        self._processes[engine] = store.processes
        notices = DigestNotices(store.digests, poster, WORDING)
        self._workers[engine] = Worker(store.jobs, {NOTICE: notices.send}, retry=1)
        return engine

    def new_store(self) -> Store:
        """A store, as in a separate process."""
        clock = select(bindparam("now", callable_=lambda: self.now, type_=UtcDateTime()))
        return Store(self._database, self._vault, clock=clock)

    async def add(
        self, channel: str = "C1", schedule: str = "hourly", *, owner: Owner | None = None, **plan: Any
    ) -> Digest:
        """Add a digest for the shop project."""
        about = {"project": "Shop", "zone": "Europe/Madrid", "schedule": schedule} | plan
        where = Channel(TEAM, channel)
        planned: Planned = await self.digests.add(owner or self.ana, where, wanted(**about))
        return planned.digest

    async def stored(self, digest: Digest) -> Digest:
        """The digest as stored now."""
        found = await self.store.digests.get(TEAM, digest.id)
        assert found
        return found

    async def invalidate_zone(self, digest: Digest) -> None:
        """Give the digest an unknown time zone."""
        plan = replace(digest.plan, zone="Atlantis/Capital")
        await self.store.digests.change(digest, plan, digest.next_due or self.now, ())

    def report(
        self, project: int = SHOP, *, visible: bool = True, private: bool = False, tracker: int = defaults.BUG
    ) -> Issue:
        """Open an issue; unless `visible`, it stays hidden until `reveal_hidden` is called."""
        data = self.tracker.data
        opened = (self.now + self.service_clock_offset).replace(microsecond=0)
        issue = Issue(
            id=free_id(data.issues, self._hidden),
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
        put(data.issues if visible else self._hidden, issue)
        return issue

    def reveal_hidden(self) -> None:
        """Make all hidden issues visible."""
        self.tracker.data.issues.update(self._hidden)
        self._hidden.clear()

    async def beat(self, engine: DigestRuns) -> None:
        """Send one heartbeat."""
        await self._processes[engine].beat()

    async def tick(self, engine: DigestRuns | None = None, *, after: timedelta = timedelta(0)) -> None:
        """Advance the time, send some heartbeats, and run all due digests, by default in a process that stays
        the same.
        """
        engine = engine or self.living
        self.now += after
        for _ in range(4):
            self.now += HEARTBEAT
            await self._processes[engine].beat()
        await self._run(engine)

    async def run_for(self, engine: DigestRuns, seconds: int) -> None:
        """Run the engine for some seconds, every five seconds as in production."""
        for _ in range(seconds // 5):
            self.now += timedelta(seconds=5)
            await self._processes[engine].beat()
            await self._run(engine)

    async def _run(self, engine: DigestRuns) -> None:
        await engine.run_due(self.now)
        await engine.idle()
        await self._workers[engine].run_due()
        await self._workers[engine].tasks.idle()

    async def run_until_killed(self, process: Process) -> None:
        """Run the due digests of a process until it finishes or is killed."""
        try:
            await self.tick(process.engine)
        except Killed:
            await process.engine.idle()

    async def while_stalled(
        self, slow: Process, at: int | str, meanwhile: Callable[[], Coroutine[Any, Any, object]]
    ) -> None:
        """Stall a process at a step, by number or name, run `meanwhile`, then let it continue."""
        slow.stall_at, slow.stalled, slow.resume_work = at, asyncio.Event(), asyncio.Event()
        work = asyncio.create_task(self.run_until_killed(slow))
        stalled = asyncio.create_task(slow.stalled.wait())
        await asyncio.wait({work, stalled}, return_when=asyncio.FIRST_COMPLETED)
        stalled.cancel()
        await meanwhile()
        slow.stall_at = None
        slow.resume_work.set()
        await work
