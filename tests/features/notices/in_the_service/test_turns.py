"""Assignments made in the service are read in turns, once, even if clocks differ."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from bot.features.notices.reads import MAX_PAGES
from bot.sandbox.tracker.data import Group, free_id, put
from bot.service.conventions import PAGE_SIZE
from bot.store.notices import ASSIGNEE
from bot.store.tables import JobRow
from bot.timings import Timeouts
from tests.features.notices.in_the_service.turns import ANA, BEN, Turns
from tests.features.notices.test_assigned import told
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of
from tests.support.wire import Wire
from tests.support.work import run_due

CHRIS = 3
MANY = 20


async def test_an_assignment_after_linking_is_told_by_a_service_whose_clock_is_behind(
    office: Office, turns: Turns, ben: Person
) -> None:
    before, after = office.public_issue(), office.public_issue(1)
    turns.pass_time(-timedelta(hours=2))
    turns.change(before, ANA, assigned_to_id=BEN)
    await ben.ask("/tracker unlink")
    await ben.command("/tracker link")
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]})
    await ben.form("Account linked")
    turns.pass_time(timedelta(hours=2))
    for _ in range(4):
        await turns.next()
    behind = timedelta(hours=2)
    turns.change(after, ANA, before=behind, assigned_to_id=BEN)
    turns.change(before, ANA, "Any news?", before=behind)

    for _ in range(4):
        await turns.next()

    [message] = await told(ben)
    assert f"#{after.id} " in text_of(message)


async def test_an_issue_that_cannot_be_read_delays_no_other(
    office: Office, turns: Turns, ben: Person, wire: Wire
) -> None:
    broken, other = office.public_issue(), office.public_issue(1)
    turns.change(broken, ANA, assigned_to_id=BEN)
    turns.change(other, ANA, assigned_to_id=BEN)
    wire.fail("500 before it", f"GET /issues/{broken.id}.json")

    await turns.next()
    assert [f"#{other.id} " in text_of(message) for message in await told(ben)] == [True]

    await turns.next()
    assert len(await told(ben)) == 2


async def test_an_assignment_that_cannot_be_read_for_a_day_is_given_up(
    turns: Turns, ben: Person, wire: Wire
) -> None:
    issue = turns.office.public_issue()
    turns.change(issue, ANA, assigned_to_id=BEN)
    wire.lasting = {f"/issues/{issue.id}.json": "500 before it"}
    await turns.next()
    turns.pass_time(timedelta(days=1))
    await turns.next()

    wire.lasting = {}
    turns.pass_time(timedelta(hours=1))
    await turns.next()

    assert await told(ben) == []


async def test_an_issue_from_the_future_hides_no_assignment_of_another(
    office: Office, turns: Turns, ben: Person
) -> None:
    ahead, other = office.public_issue(), office.public_issue(1)
    turns.change(ahead, ANA, before=-timedelta(days=1), assigned_to_id=BEN)
    await turns.next()
    assert len(await told(ben)) == 1
    turns.change(other, ANA, assigned_to_id=BEN)
    await turns.next()

    assert len(await told(ben)) == 2


async def test_turns_of_many_users_are_spread_over_the_interval(office: Office) -> None:
    for number in range(MANY):
        await office.link(f"U0MANY{number:03}", KEYS["ana"])
    await run_due(office.bot)

    due = select(JobRow.due_at).where(JobRow.kind == ASSIGNEE)
    times = sorted(row.due_at - office.clock.now() for row in await office.bot.database.rows(due))
    every = timedelta(seconds=office.timings.notice_every)
    assert every / 4 < times[-1] - times[0] < every
    assert len({round(time.total_seconds()) for time in times}) > MANY / 2


async def test_many_other_changes_do_not_delay_an_assignment(
    office: Office, turns: Turns, ben: Person
) -> None:
    for nth in range(MANY):
        turns.change(office.public_issue(nth), BEN, assigned_to_id=BEN)
    turns.pass_time(timedelta(seconds=1))
    turns.change(office.public_issue(MANY), ANA, assigned_to_id=BEN)

    await turns.next()

    assert len(await told(ben)) == 1


async def test_the_oldest_of_more_changes_than_a_turn_reads_is_told(
    office: Office, turns: Turns, ben: Person
) -> None:
    assigned, data = office.public_issue(), office.tracker.data
    group = put(data.groups, Group(free_id(data.users), "Support", {BEN}))
    for _ in range(MAX_PAGES * PAGE_SIZE + 10):  # listed for Ben, but not his own
        issue = put(data.issues, replace(assigned, id=free_id(data.issues)))
        turns.change(issue, ANA, assigned_to_id=group.id)
    turns.change(assigned, ANA, before=timedelta(minutes=2), assigned_to_id=BEN)

    for _ in range(3):
        await turns.next()

    [message] = await told(ben)
    assert f"#{assigned.id} " in text_of(message)


@pytest.mark.parametrize("ahead", [timedelta(), timedelta(hours=3)])
async def test_a_change_is_read_once_whatever_the_services_clock(
    office: Office, turns: Turns, wire: Wire, ahead: timedelta
) -> None:
    issue = office.public_issue()
    turns.change(issue, ANA, assigned_to_id=BEN)
    issue.updated_on += ahead
    await turns.next()
    wire.heal()

    await turns.next()

    assert wire.asked == ["GET /issues.json"] * 2  # Ana's and Ben's
    wire.heal()
    await run_due(office.bot)
    assert wire.asked == []


@pytest.mark.parametrize("timeouts", [Timeouts(total=2)])
@pytest.mark.parametrize("fault", ["late", "lose the request"])
async def test_an_issue_that_is_never_answered_delays_no_other(
    turns: Turns, ben: Person, wire: Wire, fault: str
) -> None:
    office = turns.office
    unanswered, other = office.public_issue(), office.public_issue(1)
    turns.change(unanswered, ANA, assigned_to_id=BEN)
    turns.change(other, ANA, assigned_to_id=BEN)
    wire.too_late, wire.lasting = 60, {f"/issues/{unanswered.id}.json": fault}

    for _ in range(3):
        await turns.next()

    assert [f"#{other.id} " in text_of(message) for message in await told(ben)] == [True]


async def test_what_happens_until_a_key_is_renewed_is_told(office: Office, turns: Turns, ben: Person) -> None:
    office.tracker.data.users[BEN].api_key = renewed = "9" * 40
    turns.change(office.public_issue(), ANA, assigned_to_id=BEN)
    await turns.next()
    assert await told(ben) == []

    await ben.command("/tracker link")
    await ben.submit(await ben.form("Link account"), {"API key": renewed})
    await ben.form("Account linked")
    await turns.next()

    assert len(await told(ben)) == 1


async def test_another_account_is_told_nothing_of_the_one_before(
    office: Office, turns: Turns, ben: Person
) -> None:
    slack = office.faulty_slack
    await ben.ask("/tracker notify comments on")
    issue = office.public_issue()
    issue.author_id, issue.assigned_to_id = ANA, BEN
    turns.change(issue, BEN, "My own.")
    earlier = timedelta(minutes=3)
    turns.change(office.public_issue(1), BEN, "Old news.", before=earlier, assigned_to_id=ANA)
    turns.change(issue, CHRIS, "For Ben's account.")
    slack.lasting = {"chat.postMessage": "refuse:access_denied"}
    await turns.next()

    await ben.command("/tracker link")
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ana"]})
    await ben.submit(await ben.form_saying("Link account", "anyway"), {})
    await ben.form("Account linked")
    slack.lasting = {}
    for _ in range(2):
        await turns.next()
    assert not any("Mute this issue" in text_of(message) for message in await ben.direct())

    turns.change(issue, BEN, "For Ana's account.")
    await turns.next()
    await office.idle()

    [message] = [one for one in await ben.direct() if "Mute this issue" in text_of(one)]
    assert "For Ana's account." in text_of(message)
    assert "My own." not in text_of(message)
