"""The service failing midway: the bot reports the truth, loses nothing and does nothing twice."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.data import Issue, free_id, put
from bot.sandbox.tracker.defaults import BUG, NEW, NORMAL
from bot.sandbox.tracker.server import Tracker
from tests.support.digesting import WEB
from tests.support.office import TIMEOUT_SECONDS, Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of, values_of
from tests.support.wire import FULL, Altered, Fault, Wire

KEY = next(person.api_key for person in PEOPLE if person.login == "ana")
TYPED = {"Subject": "Half of it is gone", "Description": "Nobody knows where"}


@pytest.fixture
def ana(wired: Person) -> Person:
    return wired


async def form(ana: Person) -> JSON:
    await ana.command("/issue new project:webshop")
    return await ana.form("New issue")


async def banner(ana: Person) -> str:
    view = await ana.form("New issue", lambda view: view["blocks"][0]["type"] == "section")
    return str(view["blocks"][0]["text"]["text"])


def created_count(service: Tracker, subject: str = TYPED["Subject"]) -> int:
    return sum(issue.subject == subject for issue in service.data.issues.values())


async def test_an_issue_created_since_is_the_lost_one(ana: Person, wire: Wire, service: Tracker) -> None:
    view = await form(ana)
    wire.faults = ["lose the request"]
    await ana.submit(view, TYPED)
    assert "may not have been saved" in await banner(ana)
    await ana.ask(f"/issue new {TYPED['Subject']} project:webshop")

    await ana.after(ana.submit(await ana.form("New issue"), {}))

    assert created_count(service) == 1


async def test_an_issue_of_others_is_not_the_lost_one(ana: Person, wire: Wire, service: Tracker) -> None:
    data, earlier = service.data, datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=10)
    older = Issue(free_id(data.issues), 1, BUG, NEW, NORMAL, 1, TYPED["Subject"], created_on=earlier)
    put(data.issues, older).updated_on = earlier
    view = await form(ana)
    wire.faults = ["lose the request"]

    await ana.submit(view, TYPED)

    assert "may not have been saved" in await banner(ana)
    await ana.after(ana.submit(await ana.form("New issue"), {}))
    assert created_count(service) == 2


async def test_suggests_nothing_while_the_service_is_slow(ana: Person, wire: Wire) -> None:
    ana.office.wait(options=0.2)
    await ana.shortcut("log_time")
    form = await ana.form("Log time")
    wire.seconds = 60
    wire.fail("slow", lasting=True)

    assert (await ana.suggest(form, "Issue", ""))["options"] == []
    assert wire.slowed
    wire.heal()
    wire.released.set()
    ana.office.wait(options=60)
    assert (await ana.suggest(form, "Issue", ""))["options"]


async def test_a_word_is_not_searched_as_text_because_the_names_cannot_be_read(
    ana: Person, wire: Wire
) -> None:
    wire.fail("500 before it", "GET /trackers")

    assert "ran into an error" in text_of(await ana.ask("/issues open bugs"))
    assert "Issue type: Bug" in text_of(await ana.ask("/issues open bugs"))


async def test_does_nothing_without_the_database(ana: Person, service: Tracker) -> None:
    view = await form(ana)
    await ana.office.bot.database.write(lambda connection: connection.execute(text("drop table jobs")))
    count = len(service.data.issues)

    answer_text = text_of(await ana.ask("/issue new Twice perhaps project:webshop"))
    await ana.submit(view, TYPED)

    assert "reference" in answer_text
    assert "reference" in (await ana.errors())["project"]
    assert len(service.data.issues) == count


async def linked_chris(ana: Person) -> Person:
    await ana.office.link("U0CHRIS01", next(person.api_key for person in PEOPLE if person.login == "chris"))
    return Person(ana.office, "U0CHRIS01")


@pytest.mark.parametrize("is_full", [False, True])
async def test_reports_unlinked_accounts(ana: Person, wire: Wire, service: Tracker, *, is_full: bool) -> None:
    chris, gwen = await linked_chris(ana), Person(ana.office, "U0GWEN001")
    await chris.command("/tracker user new @gwen")
    if is_full:
        full = text(FULL.format(act="insert", table="links"))
        await ana.office.bot.database.write(lambda connection: connection.execute(full))
    else:
        wire.faults = ["hide the key"]

    answer_text = text_of(await chris.after(chris.submit(await chris.form("New account"), {})))

    assert "I couldn't link it" in answer_text
    assert any(user.login == "gwen" for user in service.data.users.values())
    if not is_full:
        assert "Link account" in text_of((await gwen.direct())[-1])


@pytest.mark.usefixtures("impatient")
async def test_reports_the_result_after_the_form_closed(ana: Person, wire: Wire, service: Tracker) -> None:
    async def close_waiting() -> None:
        await ana.close(await ana.view(lambda view: view["title"]["text"] == "One moment"))
        wire.released.set()

    view, wire.seconds = await form(ana), TIMEOUT_SECONDS
    wire.faults = ["slow"]
    await ana.submit(view, TYPED)
    assert TYPED["Subject"] in (await ana.after(close_waiting()))["text"]
    assert created_count(service) == 1

    await ana.command("/issue new project:mobile")
    view = await ana.form("New issue")
    wire.released.clear()
    wire.faults = ["slow"]
    await ana.submit(view, {"Subject": "Refused late", "Issue type": "Bug"})
    answer = await ana.after(close_waiting())
    assert "Severity cannot be blank" in text_of(answer)
    await ana.press(answer, "Reopen form")
    again = await ana.form("New issue")
    assert values_of(again)["Subject"] == "Refused late"
    ana.office.wait(form=TIMEOUT_SECONDS)  # it closes only if it was never told to wait
    await ana.submit(again, {"Severity": "Minor"})
    await ana.no_form()
    assert created_count(service, "Refused late") == 1


async def test_short_pages_of_the_service_leave_no_gaps(tmp_path: Path, service: Tracker) -> None:
    office = Office(tmp_path, tracker=Tracker(service.data, page_cap=4))
    await office.open()
    await office.link("U0ANA0001", KEY)
    person = Person(office, "U0ANA0001")

    first = await person.ask("/issues project:webshop status:any sort:id")
    second = await person.after(person.press(first, "Next ›"))
    third = await person.after(person.press(second, "Next ›"))
    back = await person.after(person.press(third, "‹ Previous"))

    pages = zip(("*1–4 of", "*5–8 of", "*9–12 of"), map(text_of, (first, second, third)), strict=True)
    assert all(place in text for place, text in pages)
    assert (back["ts"], text_of(back)) == (first["ts"], text_of(second))
    await office.close()


@pytest.mark.parametrize("fault", ["404", "forbid"])
async def test_a_refused_read_leaves_others_their_details(tmp_path: Path, fault: Fault) -> None:
    wire = Wire()
    async with Office(tmp_path, tracker=demo_tracker(issue_reads=True), wire=wire).opened("ana") as office:
        person = Person(office, "U0ANA0001")
        wire.fail(fault)
        await person.ask("/issue 42")
        wire.heal()
        await person.ask("/issue 43")

        assert "GET /issues/43.json" in wire.heal()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("created_on", "0001-01-01T00:00:00+02:00"),
        ("updated_on", "0001-01-01T00:00:00+02:00"),
        ("estimated_hours", "1e9999"),
    ],
)
async def test_a_value_out_of_range_counts_as_absent(tmp_path: Path, field: str, value: str) -> None:
    wire = Altered(lambda it: it | {field: value} if it.get("subject") == "The odd one" else it)
    async with Office(tmp_path, wire=wire).opened("ana") as office:
        ana = Person(office, "U0ANA0001")
        await ana.ask(WEB)
        for subject in ("The odd one", "The next one"):
            assert "created <" in text_of(await ana.ask(f"/issue new {subject} project:webshop"))
        number = office.newest_issue().id - 1

        assert "The odd one" in text_of(await ana.ask("/issues project:webshop sort:id:desc"))
        assert "The odd one" in text_of(await ana.ask(f"/issue {number}"))
        assert "→ *High*" in text_of(await ana.ask(f"/issue {number} priority:high"))
        assert "The next one" in text_of(await ana.ask("/digest now"))
