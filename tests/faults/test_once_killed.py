"""A replica is killed during a write, and the other replica gets Slack's retry."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
from tests.features.files.attached import NUMBER, names, shared
from tests.support.bot_process import BotProcess
from tests.support.hasty import HASTY
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
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
def service() -> Tracker:
    return demo_tracker(issue_reads=True)


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
    announced = text_of(await ana.after(ana.submit(form, {})))

    assert "Check whether it went through" in said
    assert "Ana Ruiz created" in announced
    assert SUBJECT in announced
    assert SUBJECT in json.dumps(again)
    await pair.second.start()
    await kill_during(pair, wire, ana.command(command))
    await until(cut_off)
    await asyncio.sleep(1)

    [told] = await cut_off()
    assert command in told
    assert "Ana Ruiz" in text_of(await ana.ask("/tracker whoami"))
    assert done() == [SUBJECT, f"{SUBJECT} too"]


Again = Callable[[], Awaitable[object]]


async def comment(ana: Person, kill: Callable[[Awaitable[object]], Awaitable[None]]) -> Again:
    """Adds a message; tried again in a new form."""
    message = await ana.say(f"Same here #{NUMBER}")

    async def again() -> None:
        await ana.shortcut("comment_from_message", message)
        await ana.submit(await ana.form("Comment"), {})

    await ana.shortcut("comment_from_message", message)
    await kill(ana.submit(await ana.form("Comment"), {}))
    await ana.close(await ana.form_saying("Comment", CUT_OFF))
    return again


async def files(ana: Person, kill: Callable[[Awaitable[object]], Awaitable[None]]) -> Again:
    """Attaches a message's file; tried again in the same form."""
    await ana.shortcut("files_to_issue", await shared(ana, ("a.log", b"1"), text=f"See #{NUMBER}"))
    await kill(ana.submit(await ana.form("Attach files"), {}))

    async def again() -> None:
        await ana.submit(await ana.form_saying("Attach files", CUT_OFF), {})

    return again


async def retry(ana: Person, kill: Callable[[Awaitable[object]], Awaitable[None]]) -> Again:
    """Retries a file whose upload failed."""
    await ana.command(f"/issue attach {NUMBER}")
    form, file = await ana.form("Attach files"), await ana.upload("a.log", b"1")
    ana.office.wire.faults = ["lose the request"]  # type: ignore[union-attr] # it has one
    await ana.submit(form, {"Files": [file]})
    asked = await ana.form_saying("Files", "wasn't attached")

    async def press() -> None:
        await ana.press_in_form(asked, "Retry")

        async def shows_progress() -> bool:
            return "Uploading" in text_of((await ana.state())["views"][-1])

        await until(shows_progress)

    await kill(press())

    async def again() -> None:
        await ana.press_in_form(await ana.form_saying("Files", CUT_OFF), "Retry")

    return again


async def time(ana: Person, kill: Callable[[Awaitable[object]], Awaitable[None]]) -> Again:
    """Logs more than a day after a question."""
    await ana.ask(f"/timelog {NUMBER} 20h activity:development")
    asked = await ana.ask(f"/timelog {NUMBER} 10h activity:development")
    await kill(ana.press(asked, "Log anyway"))
    return lambda: ana.press(asked, "Log anyway")


@pytest.mark.parametrize("work", [comment, files, retry, time], ids=lambda work: work.__name__)
@pytest.mark.parametrize("sent", [False, True], ids=["before it is sent", "after it is sent"])
async def test_work_of_a_killed_replica_is_done_once_when_tried_again(
    pair: Pair, wire: Wire, service: Tracker, work: Callable[..., Awaitable[Again]], *, sent: bool
) -> None:
    ana = Person(pair.office, ANA.slack_id)
    entries = len(service.data.time_entries)

    async def kill(action: Awaitable[object]) -> None:
        wire.heal()
        if sent:  # the service does it, and nobody gets the answer
            wire.faults = ["pass", "late"] if work in (files, retry) else ["late"]
            wire.too_late = 120
        else:
            wire.fail("slow", at=1 if work is retry else 0)
            wire.seconds = 120
        await action
        await until(lambda: asyncio.sleep(0, done() if sent else wire.slowed))
        await pair.second.end(signal.SIGKILL)
        wire.released.set()
        wire.heal()

    def done() -> Sequence[object]:
        if work is comment:
            return [note for note in service.data.issues[NUMBER].notes if "Same here" in note.text]
        if work is time:
            return list(service.data.time_entries)[entries + 1 :]
        return list(names(service))

    await pair.second.start()
    again = await work(ana, kill)
    await asyncio.sleep(6)  # until the process counts as dead
    assert len(done()) == sent
    await again()
    await until(lambda: asyncio.sleep(0, done()))
    await pair.office.idle()

    assert len(done()) == 1


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
