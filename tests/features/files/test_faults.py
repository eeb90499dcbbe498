"""Attaching files while requests or answers of the service are lost."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.tracker.server import Tracker
from bot.store.owner import Owner
from bot.timings import Delays
from tests.features.files.attached import ANA, NUMBER, attached, buttons, names, shared
from tests.support.office import TEAM, Office
from tests.support.people import IDS, KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of, until_so
from tests.support.wire import Wire

CHRIS = 3


@pytest.fixture
def service() -> Tracker:
    return demo_tracker()


@pytest.fixture
async def office(
    service: Tracker, wire: Wire, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Office]:
    delays = getattr(request, "param", None)
    async with Office(tmp_path, tracker=service, wire=wire, delays=delays).opened("ana") as office:
        yield office
    assert office.violations() == []


async def form_and_file(ana: Person) -> tuple[JSON, JSON]:
    await ana.command(f"/issue attach {NUMBER}")
    return await ana.form("Attach files"), await ana.upload("a.log", b"1")


async def form_for_new_issue(ana: Person) -> JSON:
    await ana.shortcut("issue_from_message", await shared(ana, ("a.csv", b"a"), text="Wrong numbers"))
    return await ana.form("New issue")


async def test_lost_upload_is_reported_and_retried_alone(ana: Person, wire: Wire, service: Tracker) -> None:
    form, file = await form_and_file(ana)
    wire.faults = ["lose the request"]
    await ana.submit(form, {"Files": [file, await ana.upload("b.log", b"22")]})
    next_form = await ana.form_saying("Files", "wasn't attached")
    assert "wasn't attached. The connection to Tracker was lost. Try again." in text_of(next_form)
    assert buttons(next_form) == ["Rename or describe", "Retry", "Open in Tracker"]
    assert len(names(service)) == 1

    await ana.press_in_form(next_form, "Retry")

    next_form = await ana.form_saying("Files", "*a.log* attached")
    assert "*b.log* attached" in text_of(next_form)
    assert buttons(next_form) == ["Rename or describe", "Rename or describe", "Open in Tracker"]
    assert names(service) == ["a.log", "b.log"]


async def test_file_named_like_a_key_is_held_back(ana: Person, service: Tracker) -> None:
    form, file = await form_and_file(ana)
    key = await ana.upload(f"{KEYS['ana']}.log", b"1")

    await ana.submit(form, {"Files": [key, file]})

    await ana.form_saying("Files", "your account again")
    assert names(service) == ["a.log"]


async def requested(wire: Wire, what: str) -> None:
    """Delays until the bot has sent the request."""

    await until_so(lambda: what in wire.asked)


@pytest.mark.parametrize("office", [Delays(lookups=(0.5,))], indirect=True)
async def test_create_is_not_repeated_with_a_revoked_key(ana: Person, wire: Wire, service: Tracker) -> None:
    form = await form_for_new_issue(ana)
    wire.heal()
    wire.faults = ["pass", "lose the request"]
    await ana.submit(form, {"Project": "Web Shop"})
    await requested(wire, "POST /issues.json")
    service.data.users[ANA].api_key = "0" * 40

    await ana.form_saying("New issue", "may not have been saved")
    assert wire.asked.count("POST /issues.json") == 1


@pytest.mark.parametrize("title", ["Attach files", "New issue"])
async def test_relinking_during_an_upload_stops_what_follows_it(
    office: Office, ana: Person, wire: Wire, service: Tracker, title: str
) -> None:
    count = len(service.data.issues)
    form, file = await form_and_file(ana)
    typed: JSON = {"Files": [file]}
    if title == "New issue":
        form, typed = await form_for_new_issue(ana), {"Project": "Web Shop"}
    wire.heal()
    wire.faults, wire.seconds = ["slow"], 20
    await ana.submit(form, typed)
    await requested(wire, "POST /uploads.json")

    await office.link(ana.user_id, KEYS["ben"])
    wire.released.set()

    await ana.form_saying(title, "linked a different Tracker account while")
    assert (names(service), len(service.data.issues)) == ([], count)


@pytest.mark.usefixtures("impatient")
async def test_closed_form_moves_progress_to_a_message(ana: Person, wire: Wire, service: Tracker) -> None:
    ana.office.wait(progress=0.2)
    form, file = await form_and_file(ana)
    wire.faults = ["slow"]
    await ana.submit(form, {"Files": [file]})

    await ana.close(await ana.view(lambda view: ":arrow_up: a.log" in text_of(view)))
    await ana.office.idle()

    assert any("*a.log* attached" in text_of(m) for m in await ana.messages())
    assert names(service) == ["a.log"]


@pytest.mark.parametrize(
    "case", ["own, lost", "own", "another's", "another's, unlinked since", "another's, lost"]
)
async def test_an_unconfirmed_file_is_looked_up_as_its_sender(
    office: Office, ana: Person, wire: Wire, service: Tracker, case: str
) -> None:
    message, chris = await shared(ana, ("a.log", b"1"), text=f"For #{NUMBER}"), Person(office, IDS["chris"])
    await office.link(chris.user_id, KEYS["chris"])
    await ana.shortcut("files_to_issue", message)
    form = await ana.form("Attach files")
    wire.heal()
    wire.faults = ["pass", "lose the request", "lose the request"]
    await ana.submit(form, {})
    await ana.close(await ana.form_saying("Files", "couldn't confirm that"))
    if "lost" not in case:  # it arrived late
        service.data.attachments[max(service.data.attachments)].issue_id = NUMBER
    if "unlinked" in case:
        await office.bot.store.links.delete(Owner(None, TEAM, ana.user_id))

    person = ana if "own" in case else chris
    await person.shortcut("files_to_issue", message)
    await person.submit(await person.form("Attach files"), {})

    await person.form_saying("Files", "*a.log* attached")
    assert [file.author_id for file in attached(service)] == [CHRIS if case == "another's, lost" else ANA]
