"""The service failing midway: the bot reports the truth, loses nothing and does nothing twice."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.data import Issue, free_id, put
from bot.sandbox.tracker.defaults import BUG, NEW, NORMAL
from bot.sandbox.tracker.server import Tracker
from tests.support.office import TIMEOUT_SECONDS, Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of
from tests.support.wire import FULL, Wire

KEY = next(person.api_key for person in PEOPLE if person.login == "ana")
TYPED = {"Subject": "Half of it is gone", "Description": "Nobody knows where"}


@pytest.fixture
def ana(wired: Person) -> Person:
    return wired


async def form(ana: Person) -> JSON:
    await ana.command("/issue new project:webshop")
    return await ana.form("New issue")


async def banner(ana: Person) -> str:
    async def said() -> str | None:
        view = await ana.form("New issue")
        return str(view["blocks"][0]["text"]["text"]) if view["blocks"][0]["type"] == "section" else None

    found: str = await until(said)
    return found


def created_count(service: Tracker, subject: str = TYPED["Subject"]) -> int:
    return sum(issue.subject == subject for issue in service.data.issues.values())


async def test_the_form_shows_an_outage_and_keeps_its_values(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    view = await form(ana)
    await wire.down()
    said = text_of(await ana.ask("/issue new Nobody home project:webshop"))
    assert said.startswith("I can't reach Tracker. Try again in a minute.")
    assert "/issue new Nobody home project:webshop" in said

    await ana.submit(view, TYPED)

    assert await banner(ana) == ":warning: I can't reach Tracker. Try again in a minute."
    again = await ana.form("New issue")
    assert values_of(again)["Description"] == TYPED["Description"]
    await wire.up()
    await ana.submit(again, {})
    await ana.no_form()
    assert created_count(service) == 1


async def test_a_lost_write_is_looked_for_and_never_repeated_unseen(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    view = await form(ana)
    wire.faults = ["lose the answer"]
    assert TYPED["Subject"] in (await ana.after(ana.submit(view, TYPED)))["text"]
    assert created_count(service) == 1

    for subject, is_created_meanwhile in (("Lost once", False), ("Lost, then found", True)):
        view = await form(ana)
        wire.faults = ["lose the request"]
        await ana.submit(view, TYPED | {"Subject": subject})
        assert "may not have been saved" in await banner(ana)
        assert created_count(service, subject) == 0
        again = await ana.form("New issue")
        assert values_of(again)["Subject"] == subject
        if is_created_meanwhile:
            await ana.ask(f"/issue new {subject} project:webshop")
        await ana.after(ana.submit(again, {}))
        assert created_count(service, subject) == 1


async def test_never_mistakes_an_earlier_issue_for_the_lost_one(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    await ana.ask(f"/issue new {TYPED['Subject']} project:webshop")
    wire.faults = ["lose the request"]

    said = text_of(await ana.ask(f"/issue new {TYPED['Subject']} project:webshop desc:upstairs"))

    assert "may not have been saved" in said
    assert created_count(service) == 1


async def test_never_mistakes_an_issue_from_outside_the_bot_for_the_lost_one(
    ana: Person, wire: Wire, service: Tracker
) -> None:
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


async def test_does_nothing_without_the_database(ana: Person, service: Tracker) -> None:
    view = await form(ana)
    await ana.office.bot.database.write(lambda connection: connection.execute(text("drop table deliveries")))
    count = len(service.data.issues)

    said = text_of(await ana.ask("/issue new Twice perhaps project:webshop"))
    await ana.submit(view, TYPED)

    assert "reference" in said
    assert "reference" in (await ana.errors())["project"]
    assert len(service.data.issues) == count


async def linked_chris(ana: Person) -> Person:
    await ana.office.link("U0CHRIS01", next(person.api_key for person in PEOPLE if person.login == "chris"))
    return Person(ana.office, "U0CHRIS01")


@pytest.mark.parametrize("is_full", [False, True])
async def test_reports_a_new_account_that_is_not_linked(
    ana: Person, wire: Wire, service: Tracker, *, is_full: bool
) -> None:
    chris, gwen = await linked_chris(ana), Person(ana.office, "U0GWEN001")
    await chris.command("/tracker user new @gwen")
    if is_full:
        full = text(FULL.format(act="insert", table="links"))
        await ana.office.bot.database.write(lambda connection: connection.execute(full))
    else:
        wire.faults = ["hide the key"]

    said = text_of(await chris.after(chris.submit(await chris.form("New account"), {})))

    assert ("I couldn't store its key" if is_full else "didn't return a working key") in said
    assert any(user.login == "gwen" for user in service.data.users.values())
    if not is_full:
        assert "Link account" in text_of((await gwen.direct())[-1])


async def test_looks_up_accounts_whose_response_was_lost(ana: Person, wire: Wire) -> None:
    chris = await linked_chris(ana)
    await chris.command("/tracker user edit 2")
    form = await chris.form("Edit account")
    wire.faults = ["lose the answer"]
    assert "Ben Ojo" in text_of(await chris.after(chris.submit(form, {"Last name": "Ojo"})))

    await chris.command("/tracker user new @gwen")
    form = await chris.form("New account")
    wire.faults = ["lose the answer"]
    await chris.submit(form, {"Login": "gwendolyn"})
    again = await chris.form_saying("New account", "Check the user list")
    assert values_of(again)["Login"] == "gwendolyn"
    await chris.submit(again, {})
    assert (await chris.errors())["login"] == "Login has already been taken"


async def test_finds_a_project_whose_response_was_lost(ana: Person, wire: Wire, service: Tracker) -> None:
    chris = await linked_chris(ana)
    await chris.command("/tracker project new Lost answer")
    wire.faults = ["lose the answer"]
    answer = await chris.after(chris.submit(await chris.form("New project"), {}))
    await chris.no_form()
    await chris.command("/tracker project new Lost request")
    wire.faults = ["lose the request"]
    await chris.submit(await chris.form("New project"), {})

    again = await chris.form_saying("New project", "may not have been saved")
    assert "`lost-answer`" in text_of(answer)
    assert service.data.project("lost-request") is None
    await chris.after(chris.submit(again, {}))
    assert service.data.project("lost-request")


@pytest.mark.usefixtures("impatient")
async def test_reports_the_result_after_the_waiting_form_was_closed(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    async def close_waiting() -> None:
        async def waiting() -> JSON | None:
            views = (await ana.state())["views"]
            return views[-1] if views and views[-1]["title"]["text"] == "One moment" else None

        await ana.close(await until(waiting))
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
    await ana.submit(view, {"Subject": "Refused late", "Tracker": "Bug"})
    told = await ana.after(close_waiting())
    assert "Severity cannot be blank" in text_of(told)
    await ana.press(told, "Reopen form")
    again = await ana.form("New issue")
    assert values_of(again)["Subject"] == "Refused late"
    ana.office.wait(form=TIMEOUT_SECONDS)  # it closes only if it was never told to wait
    await ana.submit(again, {"Severity": "Minor"})
    await ana.no_form()
    assert created_count(service, "Refused late") == 1


async def test_pages_without_gaps_when_the_service_returns_short_pages(
    tmp_path: Path, service: Tracker
) -> None:
    office = Office(tmp_path, tracker=Tracker(service.data, page_cap=4))
    await office.open()
    await office.link("U0ANA0001", KEY)
    person = Person(office, "U0ANA0001")

    first = await person.ask("/issues project:webshop status:any sort:id")
    second = await person.after(person.press(first, "Next ›"))
    third = await person.after(person.press(second, "Next ›"))
    back = await person.after(person.press(third, "‹ Previous"))

    shown = zip(("*1–4 of", "*5–8 of", "*9–12 of"), map(text_of, (first, second, third)), strict=True)
    assert all(place in text for place, text in shown)
    assert text_of(back) == text_of(second)
    await office.close()


async def test_reports_work_interrupted_by_a_shutdown(ana: Person, wire: Wire) -> None:
    wire.faults = ["slow"]
    asked = asyncio.create_task(ana.ask("/issue new Half done project:webshop"))
    await until(lambda: _working(ana))

    await ana.office.bot.stop(0.3)

    assert "Check whether it went through" in text_of(await asked)


async def _working(ana: Person) -> bool:
    return len(ana.office.bot.in_flight) > 0


async def test_stays_linked_when_only_a_write_is_refused(ana: Person, wire: Wire) -> None:
    wire.faults = ["refuse the key"]

    said = text_of(await ana.ask("/issue new Not for you project:webshop"))

    assert "You don't have permission to do that in Tracker" in said
    assert "*1–10 of" in text_of(await ana.ask("/issues"))
