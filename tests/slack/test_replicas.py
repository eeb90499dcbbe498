"""Three replicas that share only one PostgreSQL, killed in turn while people work."""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
from sqlalchemy import select

from bot.sandbox.demo.life import go_on_reporting
from bot.sandbox.people import ANA, CHRIS
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.delivery import Answer
from bot.sandbox.workspace.http import HttpDelivery
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.socket import SocketDelivery
from bot.slack.errors import Interrupted
from bot.store.digest_runs import RunState
from bot.store.tables import DigestRunRow
from tests.support.bot_process import Apart
from tests.support.due_digests import PROJECTS, add_digests, digest_posts, make_due, still_due
from tests.support.hasty import HASTY
from tests.support.office import Transport
from tests.support.prepared import demo
from tests.support.replicas import Replicas
from tests.support.wording import worded

LONG = "ISSUEBOT_REPLICA_KILLS" in os.environ
KILLS = int(os.environ.get("ISSUEBOT_REPLICA_KILLS", "2"))
PEOPLE_AT_WORK = {"http": 8 if LONG else 3, "socket": 3}
DIGESTS = {"http": 10 if LONG else 4, "socket": 4}
SERVICE_TAKES = 0.15
PATIENCE = 15.0
LONGEST_WORK = 5.0


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


class Work:
    """Sends commands one after another and records the outcomes."""

    def __init__(self, office: Apart, replicas: Replicas) -> None:
        self.asked: dict[str, Asked] = {}
        self._office = office
        self._replicas = replicas
        self._numbers = count(1)

    async def run(self, person: str) -> None:
        """Create issues one at a time until canceled, opening the Home tab now and then."""
        while True:
            asked = await self._ask(person)
            if asked.number % 5 == 0:
                await self._act("home", person)
            ends = time.monotonic() + LONGEST_WORK
            while not (asked.failed or self.answers(asked)) and time.monotonic() < ends:
                await asyncio.sleep(0.05)

    async def _ask(self, person: str) -> Asked:
        asked = Asked(next(self._numbers))
        self.asked[asked.channel] = asked
        state = self._office.workspace.state
        members = {person, state.app.bot_user_id}
        state.add_channel(Channel(asked.channel, asked.channel.lower(), "channel", members))
        text = f"/issue new {asked.subject} project:webshop"
        await self._act("command", person, channel=asked.channel, text=text)
        return asked

    async def _act(self, what: str, person: str, **body: str) -> None:
        url = f"{self._office.workspace.url}page/{what}"
        async with self._office.http.post(url, json={"user": person, **body}) as answer:
            assert answer.status == 200

    def answers(self, asked: Asked) -> list[str]:
        """What the bot told the user privately."""
        found = self._messages(asked, public=False)
        return [text for text in found if not text.endswith("Still working on it…")]

    def posts(self, asked: Asked) -> list[str]:
        """What the bot posted for everyone in the channel."""
        return self._messages(asked, public=True)

    def _messages(self, asked: Asked, *, public: bool) -> list[str]:
        messages = self._office.workspace.state.messages[asked.channel]
        return [m.text for m in messages if m.by_app and (m.to is None) is public]

    def was_killed(self, asked: Asked) -> bool:
        """Whether the process that handled it was killed before it could finish."""
        if given := self._replicas.given.get(asked.channel):
            return not self._replicas.killed.isdisjoint(given)
        return any(0 <= moment - asked.at <= LONGEST_WORK for moment in self._replicas.kills)

    def unanswered(self) -> list[Asked]:
        """The commands that neither the bot answered nor Slack reported as failed."""
        return [asked for asked in self.asked.values() if not (asked.failed or self.answers(asked))]

    async def settled(self) -> None:
        """Wait until every command is answered."""
        ends = time.monotonic() + PATIENCE
        while self.unanswered() and time.monotonic() < ends:
            await asyncio.sleep(0.1)


class SlowTracker(Tracker):
    """Takes its time, so that there is always in-flight work to kill."""

    def app(self) -> web.Application:
        @web.middleware
        async def later(request: web.Request, handler: Handler) -> web.StreamResponse:
            await asyncio.sleep(SERVICE_TAKES)
            return await handler(request)

        app = super().app()
        app.middlewares.insert(0, later)
        return app


@pytest.mark.timeout(0 if LONG else 600)
@pytest.mark.parametrize("transport", ["http", "socket"] if LONG else ["http"])
async def test_killed_replicas_act_once_and_notify_every_user(
    transport: Transport, tmp_path: Path, url_of_postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = Apart(
        tmp_path, transport, SlowTracker(demo()), database_url=url_of_postgresql, rate_limits=False
    )
    kills, due = KILLS if transport == "http" else (KILLS + 1) // 2, DIGESTS[transport]
    dice = random.Random(6)  # noqa: S311 - not security-relevant
    async with office.opened("ana", "chris"), Replicas(office, HASTY).up() as replicas:
        work = Work(office, replicas)
        for delivery in (HttpDelivery, SocketDelivery):
            monkeypatch.setattr(delivery, "deliver", _heard(delivery.deliver, work))
        digests = await add_digests(office, due)
        project = next(p.id for p in office.tracker.data.projects.values() if p.identifier == PROJECTS[1])
        tasks = [asyncio.create_task(go_on_reporting(office.tracker.data, project, 0.5))]
        tasks += [
            asyncio.create_task(work.run((ANA, CHRIS)[n % 2].slack_id))
            for n in range(PEOPLE_AT_WORK[transport])
        ]
        await make_due(office, digests, over=kills * 1.5)
        for number in range(kills):
            await asyncio.sleep(dice.uniform(0.2, 1.0))
            await replicas.end(number, (signal.SIGKILL, signal.SIGTERM)[number % 2])
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await work.settled()
        async with asyncio.timeout(60):
            while await still_due(office):
                await asyncio.sleep(0.2)
        states = await office.database.read(
            lambda connection: Counter(connection.scalars(select(DigestRunRow.state)))
        )
        posts = digest_posts(office)

    made = Counter(issue.subject for issue in office.tracker.data.issues.values())
    told = {asked.subject: work.answers(asked) for asked in work.asked.values()}
    was_killed = [
        asked for asked in work.asked.values() if worded(Interrupted()) in "".join(told[asked.subject])
    ]
    twice = {subject for subject, said in told.items() if len(said) > 1}
    done = [subject for subject, said in told.items() if any(subject in one for one in said)]
    assert {subject: made[subject] for subject in told if made[subject] > 1} == {}
    assert [asked for asked in work.asked.values() if len(work.posts(asked)) > 1] == []
    assert work.unanswered() == []
    assert {asked.subject for asked in was_killed if not work.was_killed(asked)} == set()
    assert {subject: told[subject] for subject in twice if len(told[subject]) > 2} == {}
    assert twice <= {asked.subject for asked in was_killed}
    assert [s for s, said in told.items() if any(f" {s}>" in one for one in said) and not made[s]] == []
    assert states == {RunState.SENT: due}
    assert len({(post.digest, post.due_at) for post in posts}) == len(posts) == due
    assert len(done) > len(told) / 2


def _heard(deliver: Any, work: Work) -> Any:
    async def heard(self: object, kind: str, payload: dict[str, Any], **how: Any) -> Answer:
        answer: Answer = await deliver(self, kind, payload, **how)
        if asked := work.asked.get(str(payload.get("channel_id"))):
            asked.outcome = answer.outcome
        return answer

    return heard
