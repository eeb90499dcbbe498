"""The service failing midway: the bot reports the truth, loses nothing and does nothing twice."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.store.links import Links
from bot.store.vault import Vault
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of
from tests.support.wire import FULL, Fault, Wire

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


def created_count(service: Tracker) -> int:
    return sum(issue.subject == TYPED["Subject"] for issue in service.data.issues.values())


async def test_the_form_shows_an_outage_and_keeps_its_values(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    view = await form(ana)
    await wire.down()

    await ana.submit(view, TYPED)

    assert await banner(ana) == ":warning: I can't reach Tracker. Try again in a minute."
    again = await ana.form("New issue")
    assert values_of(again)["Description"] == TYPED["Description"]
    await wire.up()
    await ana.submit(again, {})
    await ana.no_form()
    assert created_count(service) == 1


@pytest.mark.parametrize("fault", ["lose the answer", "fail after it"])
async def test_finds_and_announces_an_issue_whose_response_was_lost(
    ana: Person, wire: Wire, service: Tracker, fault: Fault
) -> None:
    view = await form(ana)
    wire.faults = [fault]

    announced = await ana.after(ana.submit(view, TYPED))

    assert TYPED["Subject"] in announced["text"]
    assert created_count(service) == 1


async def test_reports_a_lost_request_without_retrying_it(ana: Person, wire: Wire, service: Tracker) -> None:
    view = await form(ana)
    wire.faults = ["lose the request"]

    await ana.submit(view, TYPED)

    assert "may not have been saved" in await banner(ana)
    assert created_count(service) == 0
    again = await ana.form("New issue")
    assert values_of(again)["Subject"] == TYPED["Subject"]
    wire.faults = []
    await ana.after(ana.submit(again, {}))
    assert created_count(service) == 1


async def test_resubmitting_finds_an_issue_created_in_the_meantime(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    view = await form(ana)
    wire.faults = ["lose the request"]
    await ana.submit(view, TYPED)
    await banner(ana)
    await ana.ask(f"/issue new {TYPED['Subject']} project:webshop")

    await ana.after(ana.submit(await ana.form("New issue"), {}))

    assert created_count(service) == 1


async def test_never_mistakes_an_earlier_issue_for_the_lost_one(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    await ana.ask(f"/issue new {TYPED['Subject']} project:webshop")
    wire.faults = ["lose the request"]

    said = text_of(await ana.ask(f"/issue new {TYPED['Subject']} project:webshop desc:upstairs"))

    assert "may not have been saved" in said
    assert created_count(service) == 1


async def test_the_form_waits_for_a_slow_service(ana: Person, wire: Wire, service: Tracker) -> None:
    view = await form(ana)
    wire.faults = ["slow"]
    wire.seconds = 3.5  # longer than Slack waits

    announced = await ana.after(ana.submit(view, TYPED))

    assert TYPED["Subject"] in announced["text"]
    assert created_count(service) == 1


async def test_suggests_nothing_while_the_service_is_slow(ana: Person, wire: Wire) -> None:
    ana.office.wait(options=0.2)
    await ana.shortcut("log_time")
    form = await ana.form("Log time")
    wire.fail("slow", lasting=True)

    assert (await ana.suggest(form, "Issue", ""))["options"] == []


async def test_a_command_during_an_outage_is_explained_and_repeated(ana: Person, wire: Wire) -> None:
    await wire.down()

    said = text_of(await ana.ask("/issue new Nobody home project:webshop"))

    assert said.startswith("I can't reach Tracker. Try again in a minute.")
    assert "/issue new Nobody home project:webshop" in said


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


async def test_asks_the_owner_to_link_without_a_returned_key(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    chris, gwen = await linked_chris(ana), Person(ana.office, "U0GWEN001")
    await chris.command("/tracker user new @gwen")
    wire.faults = ["hide the key"]

    said = text_of(await chris.after(chris.submit(await chris.form("New account"), {})))

    assert "didn't return a working key" in said
    assert "Link account" in text_of((await gwen.direct())[-1])
    assert any(user.login == "gwen" for user in service.data.users.values())


async def test_reports_an_unlinked_account_when_its_key_cannot_be_stored(
    ana: Person, service: Tracker
) -> None:
    chris = await linked_chris(ana)
    await chris.command("/tracker user new @gwen")
    await ana.office.bot.database.write(
        lambda connection: connection.execute(text(FULL.format(act="insert", table="links")))
    )

    said = text_of(await chris.after(chris.submit(await chris.form("New account"), {})))

    assert "I couldn't store its key" in said
    assert any(user.login == "gwen" for user in service.data.users.values())


async def test_reports_an_unknown_outcome_when_an_account_response_is_lost(ana: Person, wire: Wire) -> None:
    chris = await linked_chris(ana)
    await chris.command("/tracker user new @gwen")
    form = await chris.form("New account")
    wire.faults = ["lose the answer"]

    await chris.submit(form, {"Login": "gwendolyn"})

    again = await chris.form_saying("New account", "Check the user list")
    assert values_of(again)["Login"] == "gwendolyn"
    await chris.submit(again, {})
    assert (await chris.errors())["login"] == "Login has already been taken"


async def test_confirms_an_account_change_whose_response_was_lost(ana: Person, wire: Wire) -> None:
    chris = await linked_chris(ana)
    await chris.command("/tracker user edit 2")
    form = await chris.form("Edit account")
    wire.faults = ["lose the answer"]

    assert "Ben Ojo" in text_of(await chris.after(chris.submit(form, {"Last name": "Ojo"})))


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
async def test_reports_an_error_after_the_waiting_form_was_closed(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    await ana.command("/issue new project:mobile")
    view = await ana.form("New issue")
    wire.faults = ["slow"]
    await ana.submit(view, {"Subject": "Refused late", "Tracker": "Bug"})

    told = await ana.after(_close_waiting(ana))

    assert "Severity cannot be blank" in text_of(told)
    await ana.press(told, "Reopen form")
    again = await ana.form("New issue")
    assert values_of(again)["Subject"] == "Refused late"

    async def is_created() -> bool:
        return any(issue.subject == "Refused late" for issue in service.data.issues.values())

    await ana.submit(again, {"Severity": "Minor"})
    await until(is_created)


@pytest.mark.usefixtures("impatient")
async def test_announces_an_issue_after_the_waiting_form_was_closed(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    view = await form(ana)
    wire.faults = ["slow"]
    await ana.submit(view, TYPED)

    announced = await ana.after(_close_waiting(ana))

    assert TYPED["Subject"] in announced["text"]
    assert created_count(service) == 1


async def _close_waiting(ana: Person) -> None:
    async def waiting() -> JSON | None:
        views = (await ana.state())["views"]
        return views[-1] if views and views[-1]["title"]["text"] == "One moment" else None

    await ana.close(await until(waiting))


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


async def test_keeps_links_while_the_encryption_key_is_wrong(ana: Person) -> None:
    store, right = ana.office.bot.store, ana.office.bot.store.links
    wrong = Links(ana.office.bot.database, Vault([Vault.generate_key()]))
    store.links = wrong
    await ana.command("/issues")
    assert "can't read your saved API key" in text_of(await ana.form("Link account"))
    store.links = right

    assert "*1–10 of" in text_of(await ana.ask("/issues"))


async def test_offers_a_button_when_the_trigger_has_expired(ana: Person) -> None:
    state = ana.office.workspace.state
    state.trigger_seconds, usual = 0, state.trigger_seconds
    offer = await ana.ask("/issue new project:webshop due:2030-01-02")
    state.trigger_seconds = usual
    state.violations.clear()

    await ana.press(offer, "Open form")

    assert values_of(await ana.form("New issue"))["Due date"] == "2030-01-02"


async def test_stays_linked_when_only_a_write_is_refused(ana: Person, wire: Wire) -> None:
    wire.faults = ["refuse the key"]

    said = text_of(await ana.ask("/issue new Not for you project:webshop"))

    assert "You don't have permission to do that in Tracker" in said
    assert "*1–10 of" in text_of(await ana.ask("/issues"))


async def test_stays_linked_when_the_key_is_refused_once(ana: Person, wire: Wire) -> None:
    wire.fail("refuse the key")

    assert "Ana Ruiz" in text_of(await ana.ask("/tracker whoami"))
    assert len(wire.heal()) == 2


async def test_reports_a_key_revoked_between_check_and_write(
    ana: Person, wire: Wire, service: Tracker
) -> None:
    view = await form(ana)
    wire.faults = ["slow"]
    await ana.submit(view, TYPED)
    user = next(user for user in service.data.users.values() if user.login == "ana")
    user.api_key = "f" * 40

    link = await ana.form("Link account")

    assert "no longer accepts your API key" in text_of(link)
    await ana.submit(link, {"API key": "f" * 40})
    assert values_of(await ana.form("New issue"))["Subject"] == TYPED["Subject"]
    assert created_count(service) == 0
