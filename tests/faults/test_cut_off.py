"""Work that ends with its process, killed or stopped: nothing is repeated or lost, and everyone is told."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import aiohttp
import pytest

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.delivery import Answer
from bot.timings import Delays, Timings
from tests.faults.scenario import Steps
from tests.features.files.attached import NUMBER, names, shared
from tests.support.bot_process import BotProcess
from tests.support.office import Office
from tests.support.people import IDS, KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until
from tests.support.wire import Fault, Wire
from tests.support.work import none_held

SUBJECT = "Half done"
CUT_OFF = "I was restarted while working on this. Check whether it went through."
TIMINGS = Timings(interval=0.3, heartbeat_timeout=3)


class Pair:
    """The office's own bot, and a second process that gets all payloads while it runs."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.second = BotProcess(office, TIMINGS)
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

    async def kill(self) -> str:
        """Kills the second process, and repeats all payloads to the other; returns its responses."""
        await self.second.end(signal.SIGKILL)
        async with aiohttp.ClientSession() as session:
            repeated = [await self.post(session, *each) for each in tuple(self.delivered)]
        return json.dumps([answer.payload for answer in repeated])


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
        people=[replace(person, in_slack=True) for person in PEOPLE],
        database_url=url_of_postgresql,
        timings=TIMINGS,
        delays=Delays(form=0.1, lookups=(0.05, 0.1)),
        rate_limits=False,
    )
    async with office.opened("ana"):
        for login in IDS.keys() - {"ana"}:  # everyone may do everything
            await office.link(IDS[login], KEYS["chris"])
        pair = Pair(office)
        yield pair
        if pair.second.alive:
            await pair.second.end(signal.SIGKILL)


# Each sets the scene, yields, does what is cut off, yields, and tries again.


async def new_issue(ana: Person) -> Steps:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    yield
    await ana.submit(form, {"Subject": SUBJECT})
    yield
    again = await ana.form_saying("New issue", CUT_OFF)
    assert SUBJECT in json.dumps(again)
    assert f"{PEOPLE[0].name} created" in text_of(await ana.after(ana.submit(again, {})))


async def command(farah: Person) -> Steps:
    """A command, which is quoted: its user checks whether it went through."""
    farah.channel = "webshop"
    typed = f"/issue new {SUBJECT} too project:webshop"
    yield
    await farah.command(typed)
    yield

    async def told() -> bool:
        found = [text_of(message) for message in await farah.messages()]
        return sum(CUT_OFF in text and typed in text for text in found) == 1

    await until(told)


async def message(ben: Person) -> Steps:
    """Adds a message with its file to an issue; tried again in a new form."""
    said = await shared(ben, ("c.log", b"1"), text=f"Same here #{NUMBER}")
    await ben.shortcut("comment_from_message", said)
    form = await ben.form("Comment")
    yield
    await ben.submit(form, {})
    yield
    await ben.close(await ben.form_saying("Comment", CUT_OFF))
    await ben.shortcut("comment_from_message", said)
    await ben.submit(await ben.form("Comment"), {})


async def comment(emil: Person) -> Steps:
    """Types a comment; tried again in the same form."""
    await emil.press(await emil.ask(f"/issue {NUMBER}"), "Comment")
    form = await emil.form("Comment")
    yield
    await emil.submit(form, {"Comment": "Typed with care"})
    yield
    await emil.submit(await emil.form_saying("Comment", CUT_OFF), {})


async def files(chris: Person) -> Steps:
    """Attaches a message's file; tried again in the same form."""
    await chris.shortcut("files_to_issue", await shared(chris, ("a.log", b"1"), text=f"See #{NUMBER}"))
    form = await chris.form("Attach files")
    yield
    await chris.submit(form, {})
    yield
    await chris.submit(await chris.form_saying("Attach files", CUT_OFF), {})


async def retry(dana: Person) -> Steps:
    """Retries a file whose upload failed."""
    await dana.command(f"/issue attach {NUMBER}")
    form, file = await dana.form("Attach files"), await dana.upload("b.log", b"1")
    dana.office.wire.faults = ["lose the request"]  # type: ignore[union-attr] # it has one
    await dana.submit(form, {"Files": [file]})
    asked = await dana.form_saying("Files", "wasn't attached")
    yield
    await dana.press_in_form(asked, "Retry")
    yield
    await dana.press_in_form(await dana.form_saying("Files", CUT_OFF), "Retry")


async def time(ana: Person) -> Steps:
    """Logs more than a day after a question."""
    await ana.ask(f"/timelog {NUMBER} 20h activity:development")
    asked = await ana.ask(f"/timelog {NUMBER} 10h activity:development")
    yield
    await ana.press(asked, "Log anyway")
    yield
    await ana.press(asked, "Log anyway")


Work = Callable[[Person], Steps]
WORK: tuple[tuple[str, Work], ...] = (
    ("ana", new_issue),
    ("farah", command),
    ("ben", message),
    ("emil", comment),
    ("chris", files),
    ("dana", retry),
    ("ana", time),
)
"""Who does what: everyone has one form at a time."""
UPLOADS = (message, files, retry)


def done(service: Tracker) -> dict[Work, int]:
    """How often each work took effect."""
    data = service.data
    subjects = [issue.subject for issue in data.issues.values()]
    notes = [note.text for note in data.issues[NUMBER].notes]
    return {
        new_issue: subjects.count(SUBJECT),
        command: subjects.count(f"{SUBJECT} too"),
        message: sum("Same here" in text for text in notes),
        comment: sum("Typed with care" in text for text in notes),
        files: names(service).count("a.log"),
        retry: names(service).count("b.log"),
        time: sum(entry.minutes == 600 for entry in data.time_entries.values()),
    }


async def is_cut_off(wire: Wire, service: Tracker, sent: Work | None, number: int) -> bool:
    return done(service)[sent] > 0 if sent else wire.slowed == number


@pytest.mark.parametrize("how", ["killed", "stopped"])
@pytest.mark.parametrize("sent", [False, True], ids=["before it is sent", "after it is sent"])
async def test_work_that_is_cut_off_is_done_once_when_tried_again(
    pair: Pair, wire: Wire, service: Tracker, how: Literal["killed", "stopped"], *, sent: bool
) -> None:
    office, begun = pair.office, []
    wire.seconds = wire.too_late = 120
    last: Fault = "late" if sent else "slow"
    if how == "killed":
        await pair.second.start()
    for login, work in WORK:
        begun.append(work(Person(office, IDS[login])))
        await anext(begun[-1])
    for number, ((_, work), steps) in enumerate(zip(WORK, begun, strict=True), 1):
        wire.faults = ["pass", last] if sent and work in UPLOADS else [last]
        await anext(steps)
        await until(partial(is_cut_off, wire, service, work if sent else None, number))

    if how == "killed":
        assert "Check whether it went through" in await pair.kill()
    else:
        await office.bot.stop(0.3)
        await office.start_bot()
    wire.heal()
    await until(lambda: none_held(office.bot))

    assert done(service) == dict.fromkeys(done(service), int(sent))
    for steps in begun:
        await anext(steps, None)
    await until(lambda: asyncio.sleep(0, all({**done(service), command: 1}.values())))
    await office.idle()
    assert done(service) == dict.fromkeys(done(service), 1) | {command: int(sent)}
    assert names(service) == ["a.log", "b.log", "c.log"]
