"""An office whose clocks the test sets, and more processes of its bot that can be cut off at any step."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
from aiohttp import web
from sqlalchemy import Connection

from bot.app import Bot
from bot.sandbox.tracker.data import Issue, free_id, put
from bot.sandbox.tracker.defaults import BUG, CLOSED, HIGH, NEW
from bot.sandbox.workspace.model import Channel, Message
from bot.store.channels import Channel as Place
from bot.store.digests import Digest, Pause
from bot.store.owner import Owner
from bot.tasks import Tasks
from bot.timings import Delays
from tests.support.digesting import requested_plan
from tests.support.due_digests import ISSUE, digest_of
from tests.support.office import FORGETFUL, TEAM, Office
from tests.support.people import IDS, KEYS
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of
from tests.support.slackwire import SlackWire
from tests.support.wire import Proxy, Wire, app, broken
from tests.support.work import at_rest, cut_off, idle, run_due

T = TypeVar("T")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ANA, BEN = Owner(None, TEAM, IDS["ana"]), Owner(None, TEAM, IDS["ben"])
POST, HISTORY = "chat.postMessage", "conversations.history"
WEBSHOP, MOBILE, SECURITY = 1, 2, 4
HEARTBEAT = timedelta(seconds=8)
AT_ONCE = Delays(channels=0, channel_pace=0, workspace_pace=0)
QUIET = replace(FORGETFUL, interval=3600, notice_every=10**8)
"""For a bot that does only what the test lets it do, and tells nobody of assignments."""


@dataclass(frozen=True)
class Post:
    """A digest's message, or one that was sent and lost; `issues` in its order."""

    digest: int
    due_at: datetime
    issues: tuple[int, ...]
    text: str


class Digests:
    """An office with digests, no issues, and faulty proxies: `wire` to Slack and `service` to the tracker.

    The test sets the database's clock and the service's; it is half past eight at first. Slack's is real.
    """

    def __init__(self, directory: Path, url: str = "", *, listing: bool = False, **office: Any) -> None:
        self.wire, self.service = SlackWire(), Wire()
        tracker = demo_tracker(issue_reads=True, listing=listing)
        tracker.data.issues.clear()
        tracker.clock = lambda: self.now + self.service_ahead
        settings: dict[str, Any] = {"timings": QUIET, "delays": AT_ONCE, "rate_limits": False} | office
        self.office = Office(
            directory, tracker=tracker, slack_wire=self.wire, wire=self.service, database_url=url, **settings
        )
        now = datetime.now(UTC)
        self._passed = (now + DAY).replace(hour=8, minute=30, second=0, microsecond=0) - now
        self.office.clock.ahead = self._passed
        self.service_ahead = timedelta(0)
        self.processes: list[Process] = []
        self._hidden: dict[int, Issue] = {}
        self.person = Person(self.office, ANA.user_id)
        self.ben = Person(self.office, BEN.user_id)

    @asynccontextmanager
    async def opened(self, *linked: str) -> AsyncIterator["Digests"]:
        """Opens the office while the block runs."""
        async with self.office.opened(*linked):
            await run_due(self.office.bot)  # reads what is assigned to each for the first and the last time
            try:
                yield self
            finally:
                for process in self.processes:
                    await process.close()
        assert self.office.violations() == []

    @property
    def now(self) -> datetime:
        """The time that has passed for everyone, however the database's clock jumps."""
        return datetime.now(UTC) + self._passed

    def pass_time(self, time: timedelta) -> None:
        self._passed += time
        self.office.clock.ahead += time

    def wait_until_half_past(self) -> None:
        """Lets time pass until no hourly digest comes due for half an hour."""
        self.pass_time(timedelta(minutes=(30 - self.now.minute) % 60))

    # What people and the service do

    async def add(
        self, channel: str = "general", project: str = "webshop", *, owner: Owner = ANA, **plan: Any
    ) -> Digest:
        where = Place(TEAM, self.office.channel_id(channel))
        return (await self.office.digests.add(owner, where, requested_plan(project, **plan))).digest

    async def add_personal(self) -> Digest:
        """Ana's personal digest, hourly."""
        await self.person.ask("/digest me hourly")
        digest = await self.office.digests.personal(ANA)
        assert digest
        return digest

    def add_channel(self, name: str) -> str:
        """Adds a channel that the bot and the owners are in; returns its name."""
        state = self.office.workspace.state
        members = {state.app.bot_user_id, ANA.user_id, BEN.user_id}
        state.add_channel(Channel(f"C0{name.upper()}", name, "channel", members))
        return name

    def report(
        self, subject: str = "It rings twice", project: int = WEBSHOP, *, hidden: bool = False, **has: Any
    ) -> Issue:
        """Opens an issue with these fields; a hidden one isn't visible until `reveal` is called."""
        data = self.office.tracker.data
        now = self.office.tracker.clock().replace(microsecond=0)
        number = free_id(data.issues, self._hidden)
        issue = Issue(number, project, BUG, NEW, HIGH, 2, subject, created_on=now, updated_on=now)
        for name, value in has.items():
            setattr(issue, name, value)
        return put(self._hidden if hidden else data.issues, issue)

    def reveal(self) -> None:
        """Makes all hidden issues visible."""
        self.office.tracker.data.issues.update(self._hidden)
        self._hidden.clear()

    def update(self, issue: Issue, status: int = NEW) -> None:
        issue.status_id = status
        issue.updated_on = self.office.tracker.clock().replace(microsecond=0)
        if status == CLOSED:
            issue.closed_on = issue.updated_on

    async def chris(self) -> Person:
        """Chris, linked."""
        await self.office.link(IDS["chris"], KEYS["chris"])
        return Person(self.office, IDS["chris"])

    async def send_now(self, digest: Digest) -> str:
        """Lets Ana type that a digest is to be posted now; returns the answer, once all is done."""
        self.pass_time(timedelta(seconds=11))  # not taken for a double click
        answer = await self.person.ask(f"/digest now {digest.id}")
        await self.office.idle()
        await at_rest(self.office.bot)
        return text_of(answer)

    # What the bot does

    async def tick(self, after: timedelta = HOUR, by: "Process | None" = None) -> None:
        """Lets time pass, and runs the jobs that are due then: in the office's bot, or another process."""
        self.pass_time(after)
        await self.beats(by.bot if by else self.office.bot)
        await (by.run() if by else run_due(self.office.bot))

    async def beats(self, *bots: Bot) -> None:
        """Sends heartbeats until what doesn't send any counts as dead."""
        for _ in range(4):
            self.pass_time(HEARTBEAT)
            for bot in bots:
                await bot.store.processes.beat()

    async def run_for(self, seconds: int, by: "Process | None" = None) -> None:
        """Runs the jobs that are due, and sends heartbeats, every few seconds."""
        for _ in range(math.ceil(seconds / HEARTBEAT.seconds)):
            self.pass_time(HEARTBEAT)
            await (by.bot if by else self.office.bot).store.processes.beat()
            await (by.run() if by else run_due(self.office.bot))

    async def process(self) -> "Process":
        """Another process of the bot."""
        process = await Process.started(self.office)
        self.processes.append(process)
        return process

    # What there is to see

    async def posts(self, channel: str = "general") -> list[JSON]:
        """The digests posted in a channel."""
        state = self.office.workspace.state
        where = self.office.channel_id(channel)
        return [{"text": m.text, "blocks": m.blocks} for m in state.messages[where] if digest_of(m)]

    def posted(self, digest: Digest | int | None = None) -> list[Post]:
        """All that is posted of one digest, or of all."""
        number = digest.id if isinstance(digest, Digest) else digest
        messages = self.office.workspace.state.messages.values()
        found = (post for channel in messages for message in channel if (post := _post_of(message)))
        return [post for post in found if number in (None, post.digest)]

    def sent(self) -> list[Post]:
        """All digests that a process began to send, whether or not Slack got them."""
        found = []
        for call in self.wire.called(POST):
            blocks = call.arguments.get("blocks") or []
            blocks = json.loads(blocks) if isinstance(blocks, str) else blocks
            found.append(_post_of(Message("", "", "", "", blocks)))
        return [post for post in found if post]

    def listed(self, digest: Digest | None = None) -> list[tuple[int, ...]]:
        """The issues in each post of one digest, or of all."""
        return [post.issues for post in self.posted(digest)]

    def covered(self, digest: Digest | int) -> set[int]:
        """The issues that a digest has posted."""
        return {issue for post in self.posted(digest) for issue in post.issues}

    def repeated(self) -> list[object]:
        """Due times and issues that a digest posted more than once."""
        posts = self.posted()
        times: Counter[object] = Counter((post.digest, post.due_at) for post in posts)
        issues: Counter[object] = Counter((post.digest, issue) for post in posts for issue in post.issues)
        return [one for one, often in (times + issues).items() if often > 1]

    async def stored(self, digest: Digest) -> Digest:
        found = await self.office.bot.store.digests.get(TEAM, digest.id)
        assert found
        return found

    async def paused(self, digest: Digest) -> Pause | None:
        return (await self.stored(digest)).paused

    async def notices(self, saying: str = "") -> list[str]:
        """The bot's direct messages to Ana that say this."""
        told = [text_of(message) for message in await self.person.messages(DM)]
        return [text for text in told if saying in text]


def _post_of(message: Message) -> Post | None:
    found = digest_of(message)
    if found is None:
        return None
    issues = dict.fromkeys(map(int, ISSUE.findall(json.dumps(message.blocks))))
    text = text_of({"blocks": message.blocks})
    return Post(int(found[1]), datetime.fromisoformat(found[2]), tuple(issues), text)


class Process:
    """A process of the bot that begins nothing on its own, and can be cut off at each of its steps: a write
    to the database, or a message to Slack.

    Once dead, it never beats, writes or sends again. Steps, and the writes of them, count from 1 in each run.
    """

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.steps = self._writes = self._runs = 0
        self._cut_off = False
        self.dies_at: int | None = None
        self.fails_at: Collection[int] = ()
        """The steps at which the database fails."""
        self._stalls_at: int | None = None
        self._stalled, self._released, self._died = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._transactions, self._closing = Tasks(), AsyncExitStack()

    @classmethod
    async def started(cls, office: Office) -> "Process":
        usual = office.bot.settings
        line = Line(usual.slack_api_url.removesuffix("/api/"))
        settings = usual.model_copy(update={"slack_api_url": f"{await line.up()}/api/"})
        bot = Bot(settings, office.timings, office.delays, office.clock.query())
        process = line.process = cls(bot)
        process._closing.push_async_callback(line.down)
        process._closing.push_async_callback(bot._closing.aclose)
        process._closing.push_async_callback(idle, process._transactions)
        process._closing.push_async_callback(cut_off, bot)
        await bot.database.open()
        transact = bot.database._driver.transact

        async def step(work: Callable[[Connection], T], *, writes: bool) -> T:
            if writes:
                await process.step()
            # A request in flight is carried out, even if the process crashes.
            return await asyncio.shield(process._transactions.start(transact(work, writes=writes)))

        vars(bot.database._driver)["transact"] = step
        return process

    @property
    def dead(self) -> bool:
        return self._died.is_set()

    def die(self) -> None:
        """Cuts the process off now, as SIGKILL does; what it sent may still arrive."""
        self._died.set()

    async def step(self, *, writes: bool = True) -> None:
        """Called before each step; it comes to nothing once the process is dead."""
        number = 0
        if self._runs:
            self.steps += 1
            self._writes += writes
            number = self.steps
            if writes and self._writes == self._stalls_at:
                self._stalled.set()
                await self._released.wait()
        if number and number == self.dies_at:
            self.die()
        if self.dead:
            if writes and not self._cut_off:
                await asyncio.Event().wait()  # until everything is canceled together
            raise asyncio.CancelledError
        if writes and number in self.fails_at:
            raise OSError("database unavailable")

    async def run(self) -> None:
        """Runs the jobs that are due, until they are done or the process dies."""
        self.steps = self._writes = 0
        self._runs += 1
        work, died = asyncio.create_task(run_due(self.bot)), asyncio.create_task(self._died.wait())
        await asyncio.wait({work, died}, return_when=asyncio.FIRST_COMPLETED)
        died.cancel()
        self._runs -= 1
        if self.dead:
            self._cut_off = True
            work.cancel()
            await asyncio.wait({work})
            await self.close()
        else:
            with suppress(OSError):  # as at any interval
                await work

    @asynccontextmanager
    async def stalled(self, at: int) -> AsyncIterator[bool]:
        """Runs the due jobs, and stalls at a write while the block runs; yields whether it stalled. Never
        at a message, which Slack would get in the meantime.
        """
        self._stalls_at = at
        self._stalled.clear()
        self._released.clear()
        work, stalled = asyncio.create_task(self.run()), asyncio.create_task(self._stalled.wait())
        await asyncio.wait({work, stalled}, return_when=asyncio.FIRST_COMPLETED)
        stalled.cancel()
        yield self._stalled.is_set()
        self._stalls_at = None
        self._released.set()
        await work

    async def close(self) -> None:
        self._cut_off = True
        await self._closing.aclose()


class Line(Proxy):
    """Passes what one process sends on to Slack."""

    process: Process

    async def up(self) -> str:
        await self._connect()
        return await self._serve(app(self._pass_on))

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        try:
            if request.path.endswith(POST):
                await self.process.step(writes=False)
            return await self._passed_on(request)
        except (asyncio.CancelledError, aiohttp.ClientError):
            return broken(request, None)
