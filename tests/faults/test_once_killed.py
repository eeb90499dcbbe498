"""A replica is killed during a write, and the other replica gets Slack's retry."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import aiohttp
import pytest

from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.delivery import Answer
from bot.store.deliveries import UnfinishedRequest
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import Timings
from tests.support.bot_process import BotProcess
from tests.support.hasty import HASTY
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import text_of, until
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire

SUBJECT = "Half done"
CUT_OFF = "I was restarted while working on this"


class Pair:
    """The office's own bot, and a second process that gets all payloads while it runs."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.second = BotProcess(office, HASTY)
        self.delivered: list[tuple[bytes, dict[str, str]]] = []
        office.workspace._delivery._post = self.post  # type: ignore[attr-defined] # only HTTP's has it

    async def post(self, session: aiohttp.ClientSession, body: bytes, headers: dict[str, str]) -> Answer:
        """Replaces the local Slack's POST."""
        self.delivered.append((body, headers))
        port = self.second.port if self.second.alive else self.office.port
        url = f"http://127.0.0.1:{port}/slack/events"
        async with session.post(url, data=body, headers=headers) as answer:
            assert answer.status == 200
            return Answer("acknowledged", await answer.json(content_type=None))


@pytest.fixture
async def pair(tmp_path: Path, service: Tracker, wire: Wire, url_of_postgresql: str) -> AsyncIterator[Pair]:
    office = Office(
        tmp_path,
        "http",
        service,
        wire=wire,
        database_url=url_of_postgresql,
        timings=Timings(interval=0.2, heartbeat_timeout=4),
    )
    async with office.opened("ana"):
        pair = Pair(office)
        yield pair
        await pair.second.end(signal.SIGKILL)


async def kill_during(pair: Pair, wire: Wire, action: Awaitable[object]) -> str:
    """Kills the second process during its write; returns the other replica's response to the retry."""
    wire.heal()
    wire.faults = ["slow"]
    await action

    async def sent() -> bool:
        return wire.slowed > 0

    await until(sent)
    await pair.second.end(signal.SIGKILL)
    async with aiohttp.ClientSession() as session:
        return str((await pair.post(session, *pair.delivered[-1])).payload or "")


async def test_a_killed_replicas_work_is_never_repeated_and_always_told(
    pair: Pair, wire: Wire, service: Tracker
) -> None:
    ana = Person(pair.office, ANA.slack_id)
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    command = f"/issue new {SUBJECT} too project:webshop"

    def done() -> list[str]:
        return [i.subject for i in service.data.issues.values() if i.subject.startswith(SUBJECT)]

    async def cut_off() -> list[str]:
        told = [text_of(message) for message in await ana.messages()]
        return [text for text in told if CUT_OFF in text]

    await pair.second.start()
    said = await kill_during(pair, wire, ana.submit(form, {"Subject": SUBJECT}))
    again = await ana.form_saying("New issue", CUT_OFF)
    await until(lambda: asyncio.sleep(0, done()))
    await ana.submit(form, {})
    submitted = text_of(await ana.form_saying("New issue", "already submitted"))

    assert "Check whether it went through" in said
    assert "Check whether it went through" in submitted
    assert SUBJECT in json.dumps(again)
    await pair.second.start()
    await kill_during(pair, wire, ana.command(command))
    await until(cut_off)
    await asyncio.sleep(1)

    [told] = await cut_off()
    assert command in told
    assert "Ana Ruiz" in text_of(await ana.ask("/tracker whoami"))
    assert done() == [SUBJECT, f"{SUBJECT} too"]


async def test_replica_stays_alive_while_slack_is_slow(tmp_path: Path) -> None:
    timings, wire = Timings(interval=0.3, heartbeat_timeout=3), SlackWire()
    office = Office(tmp_path, slack_wire=wire, timings=timings)
    await office.open()
    vault = Vault(office.bot.settings.encryption_keys)
    dead, other = (Store(office.bot.database, vault, timings=timings) for _ in range(2))
    asked = {"command": "/issue", "user_id": ANA.slack_id, "team_id": TEAM, "channel_id": "C0GENERAL01"}
    wire.lasting = {"chat.postEphemeral": "slow:5"}
    await dead.deliveries.claim("1", UnfinishedRequest(Owner(None, TEAM, ANA.slack_id), (None, TEAM), asked))
    taken = {}

    async def told() -> bool:
        await other.processes.beat()
        if wire.called("chat.postEphemeral"):
            taken.update(await other.deliveries.take_abandoned())
        told = [text_of(message) for message in await Person(office, ANA.slack_id).messages()]
        return any(CUT_OFF in text for text in told)

    await until(told, 30)
    await office.close()

    assert taken == {}
