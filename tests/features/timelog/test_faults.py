"""Service failures while logging time: an accurate answer, nothing lost or logged twice."""

import pytest
from sqlalchemy import text

from bot.sandbox.tracker.data import Issue
from tests.support.person import Person
from tests.support.reading import JSON, input_named, text_of, values_of
from tests.support.wire import FULL, Wire

OPEN = "Open form"
UNKNOWN = "before you try again"


@pytest.fixture
def ana(wired: Person) -> Person:
    return wired


def count(ana: Person) -> int:
    return len(ana.office.tracker.data.time_entries)


async def answer(ana: Person, text: str) -> JSON:
    return await ana.sees(lambda message: message["ephemeral"] and text in text_of(message))


async def test_lost_answer_is_recovered_from_spent_hours(ana: Person, wire: Wire, issue: Issue) -> None:
    before = count(ana)
    wire.faults = ["lose the request"]
    await ana.command(f"/timelog {issue.id} 0.01 activity:design")  # less than the service may round off
    await answer(ana, UNKNOWN)
    assert count(ana) == before

    wire.faults = ["lose the answer"]
    await ana.command(f"/timelog {issue.id} 20m activity:design")

    assert "you can't edit it from Slack" in text_of(await answer(ana, "Logged 20m on"))
    assert count(ana) == before + 1


async def test_the_last_choice_wins_on_a_slow_service(ana: Person, wire: Wire, issue: Issue) -> None:
    issues = ana.office.tracker.data.issues.values()
    other = next(i for i in issues if i.project_id == 3 and not i.is_private)
    await ana.command("/timelog")
    form = await ana.form("Log time")
    block = input_named(form, "Issue")
    options = [(await ana.suggest(form, "Issue", f"#{one.id}"))["options"][0] for one in (other, issue)]
    wire.fail("slow")

    for option in options:
        await ana._act({"view": {"id": form["id"]}}, block, block["element"], selected_option=option)
    await ana.office.idle()

    assert values_of(await ana.form("Log time"))["Issue"].startswith(f"#{issue.id} ")


async def test_expired_trigger_offers_a_button_for_the_form(ana: Person, wire: Wire, issue: Issue) -> None:
    state = ana.office.workspace.state
    state.trigger_seconds, usual = 1, state.trigger_seconds
    wire.faults = ["slow"]
    wire.seconds = 1.5

    await ana.command(f"/timelog {issue.id} 20m on:2026-01-05 Looked")
    offer = await answer(ana, "Slack ")
    state.trigger_seconds = usual
    state.violations.clear()
    await ana.press(offer, OPEN)

    form = await ana.form("Log time")
    values = values_of(form)
    assert (values["Hours"], values["Date"], values["Comment"]) == ("0:20", "2026-01-05", "Looked")
    await ana.submit(form, {})
    await answer(ana, "Logged 20m on")


async def test_an_uncertain_change_can_be_reverted_or_deleted(ana: Person, wire: Wire, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    await ana.press(await answer(ana, "Logged 1h on"), "Edit")
    form = await ana.form("Edit time")
    wire.faults = ["lose the answer"]
    await ana.submit(form, {"Hours": "2h"})
    again = await ana.form_saying("Edit time", UNKNOWN)
    assert ana.office.newest_time().minutes == 120
    full = text(FULL.format(act="update", table="time_entries"))  # the bot can't store the change
    await ana.office.bot.database.write(lambda connection: connection.execute(full))

    await ana.submit(again, {"Hours": "1h"})

    changed = await answer(ana, "Changed the entry on")
    assert ana.office.newest_time().minutes == 60
    wire.faults = ["lose the answer"]

    await ana.press(changed, "Delete entry")

    await answer(ana, "Deleted 1h on")


async def test_time_that_the_service_cannot_delete_stays(ana: Person, wire: Wire, issue: Issue) -> None:
    await ana.command(f"/timelog {issue.id} 1h activity:design")
    entry, wire.seconds = await answer(ana, "Logged 1h on"), 0.01
    logged = count(ana)
    wire.faults = ["404", "slow", "404"]  # between the two, the entry is looked for

    await ana.press(entry, "Delete entry")

    reply = await answer(ana, "Tracker doesn't let me delete time entries.")
    assert "Open in Tracker" in text_of(reply)
    assert (wire.faults, count(ana)) == ([], logged)
