"""Three replicas that share only one PostgreSQL, killed in turn while people work, digests come due and
followed issues change: everything happens once, and everyone is told.

`ISSUEBOT_REPLICA_KILLS=60` kills that often, in both modes, with more people and digests.
"""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import select

from bot.sandbox.demo.history import go_on_reporting
from bot.sandbox.people import ANA, CHRIS
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue
from bot.sandbox.workspace.model import Channel, JsonObject
from bot.slack.incoming.feature import Interrupted
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.tables import DigestIssueRow
from bot.timings import Timings
from tests.features.following.threads import change, follow, public_issues
from tests.support.bot_process import Apart, BotProcess
from tests.support.deliveries import listening
from tests.support.due_digests import PROJECTS, add_digests, digest_posts, make_due, still_due
from tests.support.hasty import Pace
from tests.support.office import TEAM, Transport
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import until
from tests.support.replicas import Replicas
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire
from tests.support.wording import worded

LONG = "ISSUEBOT_REPLICA_KILLS" in os.environ
KILLS = int(os.environ.get("ISSUEBOT_REPLICA_KILLS", "3"))
REPLICAS = 3
ENDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)
OWNERS = [Owner(None, TEAM, person.slack_id) for person in (ANA, CHRIS)]
AT_WORK, DIGESTS, FOLLOWED = (8, 10, 3) if LONG else (3, 4, 3)
PATIENCE = 120.0
LONGEST_WORK = 5.0
TIMINGS = Timings(interval=0.5, heartbeat_timeout=4, longest_post=3, look_up_after=1, follow_every=1)
"""Short enough that replicas, which live for seconds, take over each other's work."""


@dataclass
class Asked:
    """A command in its own channel, and the responses to it."""

    number: int
    at: float = field(default_factory=time.monotonic)
    outcome: str = ""

    @property
    def subject(self) -> str:
        """A subject unique to this command."""
        return f"Asked {self.number}."

    @property
    def channel(self) -> str:
        return f"C0ASK{self.number:05}"

    @property
    def failed(self) -> bool:
        """Whether Slack told the user that the command failed, since no acknowledgement came in time."""
        return self.outcome not in {"", "acknowledged"}


class Commands:
    """People who create issues, one after another, and open their Home tabs now and then."""

    def __init__(self, office: Apart, replicas: Replicas) -> None:
        self.asked: dict[str, Asked] = {}
        self._office = office
        self._replicas = replicas
        self._numbers = count(1)

    async def run(self, person: Person) -> None:
        """Works until canceled."""
        state = self._office.workspace.state
        while True:
            asked = Asked(next(self._numbers))
            self.asked[asked.channel] = asked
            members = {person.user_id, state.app.bot_user_id}
            state.add_channel(Channel(asked.channel, asked.channel.lower(), "channel", members))
            person.channel = asked.channel.lower()
            await person.command(f"/issue new {asked.subject} project:webshop")
            if asked.number % 5 == 0:
                await person.open_home()
            with suppress(TimeoutError):
                await until(lambda asked=asked: self._answered(asked), LONGEST_WORK)  # type: ignore[misc] # mypy can't infer the default

    def heard(self, delivery: JsonObject) -> None:
        """Keeps the outcome of a delivery."""
        if asked := self.asked.get(str(delivery["payload"].get("channel_id"))):
            asked.outcome = delivery["outcome"]

    async def all_answered(self) -> bool:
        return not self.unanswered()

    def unanswered(self) -> list[Asked]:
        """The commands that neither the bot answered nor Slack reported as failed."""
        return [asked for asked in self.asked.values() if not (asked.failed or self._replies(asked))]

    def check(self) -> None:
        made = Counter(issue.subject for issue in self._office.tracker.data.issues.values())
        replies = {asked.subject: self._replies(asked) for asked in self.asked.values()}
        cut_off = [a for a in self.asked.values() if worded(Interrupted()) in "".join(replies[a.subject])]
        twice = {subject for subject, texts in replies.items() if len(texts) > 1}
        done = [subject for subject, texts in replies.items() if any(subject in one for one in texts)]
        assert {subject: made[subject] for subject in replies if made[subject] > 1} == {}
        assert [asked for asked in self.asked.values() if len(self._replies(asked, public=True)) > 1] == []
        assert self.unanswered() == []
        assert {asked.subject for asked in cut_off if not self._was_killed(asked)} == set()
        assert {subject: replies[subject] for subject in twice if len(replies[subject]) > 2} == {}
        assert twice <= {asked.subject for asked in cut_off}
        assert [
            s for s, texts in replies.items() if any(f" {s}>" in one for one in texts) and not made[s]
        ] == []
        assert len(done) > len(replies) / 2

    async def _answered(self, asked: Asked) -> bool:
        return asked.failed or bool(self._replies(asked))

    def _replies(self, asked: Asked, *, public: bool = False) -> list[str]:
        """What the bot told the user privately, or posted for everyone in the channel."""
        messages = self._office.workspace.state.messages[asked.channel]
        texts = [m.text for m in messages if m.by_app and (m.to is None) is public]
        return [text for text in texts if not text.endswith("Still working on it…")]

    def _was_killed(self, asked: Asked) -> bool:
        """Whether the process that handled it was killed before it could finish."""
        if given := self._replicas.given.get(asked.channel):
            return not self._replicas.killed.isdisjoint(given)
        return any(0 <= moment - asked.at <= LONGEST_WORK for moment in self._replicas.kills)


class FollowedIssues:
    """Open issues, each followed with its comments in its own thread, that are closed and opened again."""

    def __init__(self, office: Apart) -> None:
        self._office = office
        self._threads: dict[str, Issue] = {}
        self._changes = 0

    async def follow(self) -> None:
        issues = [i for i in public_issues(self._office.tracker) if i.status_id == defaults.NEW]
        workspace = self._office.workspace
        slack = AsyncWebClient(workspace.bot_token, base_url=workspace.api_url)
        for number, issue in enumerate(issues[:FOLLOWED]):
            channel = f"C0D{number:06}"
            thread = str((await slack.chat_postMessage(channel=channel, text="Please fix this"))["ts"])
            post = await slack.chat_postMessage(channel=channel, thread_ts=thread, text="Created")
            owner = OWNERS[number % 2]
            place = (channel, thread, str(post["ts"]))
            await follow(self._office.store, issue, *place, owner=owner, quoted_to=0)
            self._threads[thread] = issue

    async def run(self, dice: random.Random) -> None:
        """Changes one issue after another until canceled."""
        while True:
            issue = dice.choice(list(self._threads.values()))
            status = defaults.NEW if issue.status_id == defaults.CLOSED else defaults.CLOSED
            text = f"Change {self._changes}"
            change(issue, status_id=status, subject=text, comment_by=2, comment=text)
            self._changes += 1
            await until(self._all_have_a_line, PATIENCE)

    async def all_told(self) -> bool:
        rows = [row for owner in OWNERS for row in await self._office.store.followed.of(owner)]
        return len(rows) == len(self._threads) and all(
            row.closed == (self._threads[row.thread_ts].status_id == defaults.CLOSED)
            and self._threads[row.thread_ts].subject in self._texts(row.thread_ts)[0]
            for row in rows
        )

    def check(self) -> None:
        assert self._lines() == self._changes
        quotes = Counter(text for thread in self._threads for text in self._texts(thread) if _is_quote(text))
        assert sorted(quotes.values()) == [1] * self._changes
        for thread in self._threads:
            lines = [text for text in self._texts(thread)[1:] if not _is_quote(text)]
            closed = [line.startswith(":white_check_mark: Closed") for line in lines]
            # Each line says the opposite of the one before: none is repeated, and none is missing in between.
            assert closed == [n % 2 == 0 for n in range(len(closed))]
            assert len(closed) % 2 == (self._threads[thread].status_id == defaults.CLOSED)

    async def _all_have_a_line(self) -> bool:
        return self._lines() == self._changes

    def _lines(self) -> int:
        texts = (text for thread in self._threads for text in self._texts(thread)[1:])
        return sum(not _is_quote(text) for text in texts)

    def _texts(self, thread: str) -> list[str]:
        """The replies of a thread: the post, and the lines below it."""
        messages = (m for channel in self._office.workspace.state.messages.values() for m in channel)
        return [message.text for message in messages if message.thread_ts == thread]


def _is_quote(text: str) -> bool:
    return " commented on " in text


class DueDigests:
    """Digests in several channels, of projects in which new issues are reported all the time."""

    def __init__(self, office: Apart) -> None:
        self._office = office
        self._digests: list[Digest] = []
        self._known = set(office.tracker.data.issues)
        self._times = 0

    async def come_due(self, *, over: float) -> None:
        """Makes each digest due once more."""
        self._digests = self._digests or await add_digests(self._office, DIGESTS)
        self._times += 1
        await make_due(self._office, self._digests, over=over)

    async def run(self, project: str) -> None:
        data = self._office.tracker.data
        number = next(p.id for p in data.projects.values() if p.identifier == project)
        await go_on_reporting(data, number, 0.5)

    async def none_due(self) -> bool:
        return not await still_due(self._office)

    async def check(self) -> None:
        office, digests = self._office, self._digests
        rows = await office.database.rows(select(DigestIssueRow))
        posts = digest_posts(office)
        issues = [i for i in office.tracker.data.issues.values() if i.id not in self._known]
        in_project = {d.id: {i.id for i in issues if i.project_id == d.plan.project_id} for d in digests}
        covered = {(row.digest_id, row.issue_id) for row in rows if row.issue_id not in self._known}
        listed = Counter((post.digest, issue) for post in posts for issue in post.issues)
        assert len({(post.digest, post.due_at) for post in posts}) == len(posts)
        assert len(posts) == len(digests) * self._times
        assert covered == {(digest, issue) for digest in in_project for issue in in_project[digest]}
        assert listed.keys() <= covered  # a long digest lists its last issues only behind a link
        assert set(listed.values()) == {1}


@pytest.mark.timeout(0 if LONG else 600)
@pytest.mark.parametrize("transport", ["http", "socket"] if LONG else ["http"])
async def test_killed_replicas_do_everything_once_and_notify_every_user(
    transport: Transport, tmp_path: Path, url_of_postgresql: str
) -> None:
    wire, slack_wire = Wire(), SlackWire()
    office = Apart(
        tmp_path,
        transport,
        tracker=demo_tracker(issue_reads=True),
        database_url=url_of_postgresql,
        wire=wire,
        slack_wire=slack_wire,
        rate_limits=False,
    )
    # So that there is always work in flight to kill, and processes die between a post and its answer
    wire.fail("slow", lasting=True)
    wire.seconds, slack_wire.lasting = 0.15, {"chat.postMessage": "late answer:0.5"}
    dice = random.Random(6)  # noqa: S311 - not security-relevant
    bots = [BotProcess(office, Pace(TIMINGS)) for _ in range(REPLICAS)]
    replicas = Replicas(office, bots)
    commands, followed, digests = Commands(office, replicas), FollowedIssues(office), DueDigests(office)
    with listening("delivered", commands.heard):
        async with office.opened("ana", "chris"), replicas.up():
            await digests.come_due(over=KILLS * 1.5)
            await followed.follow()
            people = [Person(office, (ANA, CHRIS)[n % 2].slack_id) for n in range(AT_WORK)]
            work = [*map(commands.run, people), *map(digests.run, PROJECTS), followed.run(dice)]
            tasks = [asyncio.create_task(one) for one in work]
            for number in range(KILLS):
                await asyncio.sleep(dice.uniform(0.2, 2.0))
                await replicas.end(number, ENDS[number % len(ENDS)])
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            await until(digests.none_due, PATIENCE)
            await digests.come_due(over=1)
            for finished in (commands.all_answered, digests.none_due, followed.all_told):
                await until(finished, PATIENCE)
            await digests.check()

    assert [one for one in ended if not isinstance(one, asyncio.CancelledError)] == []
    commands.check()
    followed.check()
