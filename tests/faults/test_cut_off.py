"""Work that ends with its process, killed or stopped: nothing is repeated or lost, and everyone is told."""

import json
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from aiohttp import web

from bot.sandbox.people import ANA, PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.timings import Delays, Timings
from tests.faults.scenarios import SCENARIOS
from tests.faults.scene import Scene
from tests.support.bot_process import BotProcess
from tests.support.hasty import Pace
from tests.support.office import Office
from tests.support.people import IDS, KEYS
from tests.support.person import Person
from tests.support.ports import free_port
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until
from tests.support.serving import serving
from tests.support.wire import Wire, app, kept
from tests.support.work import none_held

CUT_OFF = "I was restarted while working on this. Check whether it went through."
TIMINGS = Timings(interval=0.3, heartbeat_timeout=3)


class Pair:
    """The office's own bot, and a second process that gets all payloads while it runs."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.second = BotProcess(office, Pace(TIMINGS))
        self.delivered: list[tuple[bytes, dict[str, str]]] = []

    async def take(self, request: web.Request) -> web.Response:
        """Takes the local Slack's requests."""
        self.delivered.append((await request.read(), kept(request.headers)))
        return web.Response(text=await self._passed_on(*self.delivered[-1]), content_type="application/json")

    async def _passed_on(self, body: bytes, headers: dict[str, str]) -> str:
        port = self.second.port if self.second.alive else self.office.bot.port
        url = f"http://127.0.0.1:{port}/slack/events"
        async with self.office.http.post(url, data=body, headers=headers) as answer:
            assert answer.status == 200
            return await answer.text()

    async def kill(self) -> str:
        """Kills the second process, and repeats all payloads to the other; returns its responses."""
        await self.second.end(signal.SIGKILL)
        return " ".join([await self._passed_on(*each) for each in self.delivered])


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
        bot_port=free_port(),
        rate_limits=False,
    )
    pair = Pair(office)
    async with serving(app(pair.take), port=office.port), office.opened("ana"):
        for login in IDS.keys() - {"ana"}:  # everyone may do everything
            await office.link(IDS[login], KEYS["chris"])
        yield pair
        if pair.second.alive:
            await pair.second.end(signal.SIGKILL)


@dataclass
class Place(Scene):
    """A scene in which somebody does what Ana does elsewhere: everyone has one form at a time."""

    login: str = ""

    def person(self, _login: str) -> Person:
        return Person(self.office, IDS[self.login])


COMMAND, MESSAGE, QUESTION = "issue for a colleague", "submit a message as a comment", "log a long day"
WORK = {
    "submit issue": "ana",
    COMMAND: "farah",
    MESSAGE: "ben",
    "submit comment": "emil",
    "submit a message's files": "chris",
    "retry files": "dana",
    QUESTION: "ana",
}
"""Scenarios, and who does them."""
UPLOADS = (MESSAGE, "submit a message's files", "retry files")
FORMS = ("New issue", "Comment", "Attach files", "Files")


async def done(places: dict[str, Place]) -> dict[str, int]:
    """How often each work took effect."""
    effects = ((name, SCENARIOS[name].effect, place) for name, place in places.items())
    return {name: await effect(place) for name, effect, place in effects if effect}


async def is_told(place: Place) -> bool:
    """Whether the command is quoted once to its user, who checks whether it went through."""
    texts = [text_of(message) for message in await place.ana.messages()]
    return sum(CUT_OFF in text and f"/issue new {place.word}" in text for text in texts) == 1


async def try_again(name: str, place: Place) -> None:
    """Does what the bot asks for: presses or submits again, for a message in a new form."""
    person = place.ana
    if name == QUESTION:
        asked = await person.sees(lambda message: "Log anyway" in str(message["blocks"]))
        await person.press(asked, "Log anyway")
        return
    form = await person.view(lambda view: view["title"]["text"] in FORMS and CUT_OFF in text_of(view))
    assert place.word in json.dumps(form) or not SCENARIOS[name].typed
    if name == MESSAGE:
        original = await person.sees(lambda message: place.word in message["text"] and not message["is_bot"])
        await person.close(form)
        await person.shortcut("comment_from_message", original)
        form = await person.form("Comment")
    await (person.submit(form, {}) if form.get("submit") else person.press_in_form(form, "Retry"))


@pytest.mark.parametrize("how", ["killed", "stopped"])
@pytest.mark.parametrize("sent", [False, True], ids=["before it is sent", "after it is sent"])
async def test_work_that_is_cut_off_is_done_once_when_tried_again(
    pair: Pair, wire: Wire, how: Literal["killed", "stopped"], *, sent: bool
) -> None:
    office, last = pair.office, "late" if sent else "slow"
    places = {
        name: Place(office, number, login=login) for number, (name, login) in enumerate(WORK.items(), 1)
    }
    steps = {name: SCENARIOS[name].steps(place) for name, place in places.items()}
    wire.seconds = wire.too_late = 120
    for setup in steps.values():
        await anext(setup)
    if how == "killed":
        await pair.second.start()
    for number, (name, action) in enumerate(steps.items(), 1):
        wire.faults = ["pass", last] if sent and name in UPLOADS else [last]
        await anext(action, None)
        await until(partial(is_cut_off, wire, {name: places[name]}, number, sent=sent))

    if how == "killed":
        assert "Check whether it went through" in await pair.kill()
    else:
        await office.bot.stop(0.3)
        await office.start_bot()
    wire.heal()
    await until(lambda: none_held(office.bot))

    assert await done(places) == dict.fromkeys(WORK, int(sent))
    await until(partial(is_told, places[COMMAND]))
    others = {name: place for name, place in places.items() if name != COMMAND}
    for name, place in others.items():
        await try_again(name, place)
    await until(partial(all_done, others))
    await office.idle()
    assert await done(places) == dict.fromkeys(WORK, 1) | {COMMAND: int(sent)}
    names = [file.filename for file in places[COMMAND].data.attachments.values() if file.issue_id]
    assert [names.count(places[name].file) for name in UPLOADS] == [1, 1, 1]
    made = f"{ANA.name} created"
    assert await places["submit issue"].ana.sees(lambda m: made in m["text"] and not m["ephemeral"])


async def is_cut_off(wire: Wire, place: dict[str, Place], number: int, *, sent: bool) -> bool:
    return all((await done(place)).values()) if sent else wire.slowed == number


async def all_done(places: dict[str, Place]) -> bool:
    return all((await done(places)).values())


async def test_an_edit_of_details_is_not_repeated_after_a_crash(pair: Pair, wire: Wire) -> None:
    office, name = pair.office, "edit details"
    place = Place(office, 1, login="dana")
    steps = SCENARIOS[name].steps(place)
    wire.seconds = wire.too_late = 120
    await anext(steps)
    await pair.second.start()
    wire.faults = ["late"]
    await anext(steps, None)
    await until(partial(all_done, {name: place}))
    edited = next(issue for issue in place.data.issues.values() if place.word in issue.subject)
    edited.due_date = None  # someone else has changed it back

    assert "You already submitted this form" in await pair.kill()
    wire.heal()
    await until(lambda: none_held(office.bot))
    await office.idle()

    assert edited.due_date is None
    notices = [text_of(message) for message in await place.ana.direct()]
    assert sum(CUT_OFF in text for text in notices) == 1
