"""*Undo* restores what a change replaced, and nothing that somebody else did since."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.defaults import CLOSED, HIGH, NEW
from bot.sandbox.tracker.server import Tracker
from bot.store.tables import SavedInputRow
from tests.features.editing.test_edit_command import closed_for_good, new_issue
from tests.support.office import Office
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of

UNDOABLE = "status:resolved to:ana due:2036-02-01 done:50% estimate:2h subject:Fixed cf_2:K-9 parent:1"
ANA, BEN, LOW = 1, 2, 1


@pytest.fixture
def tracker() -> Tracker:
    """A service that tells which statuses an issue can get."""
    return demo_tracker(issue_reads=True)


@pytest.fixture
async def issue(office: Office, ana: Person) -> Issue:
    issue = await new_issue(office, ana)
    issue.due_date, issue.custom[3] = datetime(2036, 1, 2, tzinfo=UTC).date(), ["Chrome", "Safari"]
    return issue


def held(issue: Issue) -> JSON:
    names = (
        "status_id",
        "assigned_to_id",
        "due_date",
        "done_ratio",
        "estimated_hours",
        "subject",
        "parent_id",
    )
    custom = {f"cf_{number}": value for number, value in issue.custom.items() if value}
    return {name: getattr(issue, name) for name in names} | custom


async def undone(person: Person, answer: JSON) -> str:
    return text_of(await person.after(person.press(answer, "Undo")))


async def test_restores_every_field_and_says_so(chris: Person, issue: Issue) -> None:
    before = held(issue)
    answer = await chris.ask(f"/issue {issue.id} {UNDOABLE} browsers:firefox")
    assert [name for name, value in held(issue).items() if before.get(name) == value] == [], text_of(answer)

    said = await chris.after(chris.press(answer, "Undo"))

    assert held(issue) == before
    assert said["ts"] == answer["ts"]
    assert "Undid the change to <" in text_of(said)
    assert "Status: Resolved → *New*" in text_of(said)
    assert "Assignee: Ana Ruiz → *Unassigned*" in text_of(said)
    assert "Undo" not in text_of(said)


async def test_changes_of_others_since_then_stay(chris: Person, issue: Issue) -> None:
    answer = await chris.ask(f"/issue {issue.id} close done:50%")
    issue.done_ratio = 80

    said = await undone(chris, answer)

    assert "Status: Closed → *New*" in said
    assert "Someone has changed % done since then, so I didn't undo that." in said
    assert (issue.status_id, issue.done_ratio) == (NEW, 80)


async def test_nothing_is_undone_if_all_of_it_was_changed_since(ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} close to:me")
    issue.status_id, issue.assigned_to_id = 3, BEN

    assert "Someone has changed Status and Assignee since then" in await undone(ana, answer)
    assert (issue.status_id, issue.assigned_to_id) == (3, BEN)


async def test_pressing_twice_undoes_once(office: Office, ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} done:50%")

    await asyncio.gather(ana.press(answer, "Undo"), ana.press(answer, "Undo"))
    await office.idle()

    assert issue.done_ratio == 0
    told = [text_of(message) for message in await ana.messages()]
    assert sum("Undid the change" in said for said in told) == 1


async def test_each_of_two_changes_to_an_issue_is_undone(ana: Person, issue: Issue) -> None:
    first = await ana.ask(f"/issue {issue.id} done:50%")
    second = await ana.ask(f"/issue {issue.id} to:me")

    said = [await undone(ana, answer) for answer in (first, second)]

    assert ["Undid the change" in each for each in said] == [True, True]
    assert (issue.done_ratio, issue.assigned_to_id) == (0, None)


async def test_says_what_is_back_already_beside_what_someone_changed(ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} close done:50%")
    issue.status_id, issue.done_ratio = NEW, 80

    said = await undone(ana, answer)

    assert "Status is already *New*" in said
    assert "Someone has changed % done since then, so I didn't undo that." in said
    assert issue.done_ratio == 80


async def test_says_which_fields_a_subtask_decides_now(office: Office, ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} priority:high to:me")
    below = await new_issue(office, ana)
    below.parent_id, below.priority_id = issue.id, HIGH

    said = await undone(ana, answer)

    assert "Assignee: Ana Ruiz → *Unassigned*" in said
    assert f"Tracker calculates #{issue.id}'s priority from its subtasks. Change it in #{below.id}." in said


async def test_a_parent_that_is_refused_keeps_only_itself(office: Office, ana: Person, issue: Issue) -> None:
    parent = await new_issue(office, ana)
    issue.parent_id = parent.id
    answer = await ana.ask(f"/issue {issue.id} parent:1 to:me")
    parent.parent_id = issue.id

    said = await undone(ana, answer)

    assert "Assignee: Ana Ruiz → *Unassigned*" in said
    assert "Parent task is invalid" in said
    assert (issue.parent_id, issue.assigned_to_id) == (1, None)


async def test_says_that_a_subtask_prevents_closing(office: Office, chris: Person, issue: Issue) -> None:
    await chris.ask(f"/issue {issue.id} close")
    answer = await chris.ask(f"/issue {issue.id} reopen")
    below = await new_issue(office, chris)
    below.parent_id = issue.id

    said = await undone(chris, answer)

    assert f"#{issue.id} can't be closed while its subtask #{below.id} is open. Close it first." in said


async def test_an_undo_that_a_crash_cut_off_says_what_holds(ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} close")
    issue.status_id = NEW

    assert "Status is already *New*" in await undone(ana, answer)


async def test_a_change_can_be_undone_for_ten_minutes(office: Office, ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} close")
    then = datetime.now(UTC) - timedelta(minutes=10, seconds=1)
    await office.bot.database.execute(update(SavedInputRow).values(created_at=then))

    assert await undone(ana, answer) == "It's too late to undo this. Edit the issue to change it back."
    assert issue.status_id == CLOSED


async def test_says_why_a_status_cannot_be_restored(office: Office, ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} close done:50%")
    closed_for_good(office)
    said = await undone(ana, answer)

    assert "% done: 50% → *0%*" in said
    assert f"doesn't let you set #{issue.id} to New. Choose Closed." in said
    assert (issue.status_id, issue.done_ratio) == (CLOSED, 0)


async def test_a_final_close_says_so_and_offers_no_undo(office: Office, ana: Person, issue: Issue) -> None:
    closed_for_good(office)

    answer = await ana.ask(f"/issue {issue.id} close")

    assert "The workflow doesn't let you set it back to New" in text_of(answer)
    assert '"Undo"' not in str(answer["blocks"])
    assert "Undo Share" not in text_of(answer)


async def test_assign_to_me_is_undone_too(ana: Person, issue: Issue) -> None:
    issue.assigned_to_id = BEN
    asked = await ana.after(ana.press(await ana.ask(f"/issue {issue.id}"), "Assign to me"))
    answer = await ana.after(ana.press(asked, "Assign to me"))
    assert issue.assigned_to_id == ANA

    assert "Assignee: Ana Ruiz → *Ben Okafor*" in await undone(ana, answer)
    assert issue.assigned_to_id == BEN


async def test_a_form_outside_of_channels_is_undone_in_the_form(office: Office, ana: Person) -> None:
    form = await ana.form_after(ana.shortcut("create_issue"), "New issue")
    await ana.choose(form, "Project", "Web Shop")
    await ana.submit(await ana.form_saying("New issue", "More fields"), {"Subject": "From anywhere"})
    await ana.press_in_form(await ana.form("Created"), "Edit")
    issue = office.newest_issue()
    await ana.submit(await ana.form(f"Edit #{issue.id}"), {"Subject": "Elsewhere"})

    await ana.press_in_form(await ana.form_saying(f"#{issue.id}", "Updated <"), "Undo")

    assert "Elsewhere → *From anywhere*" in text_of(await ana.form_saying(f"#{issue.id}", "Undid the change"))
    assert issue.subject == "From anywhere"


async def test_the_issue_of_the_readmes_examples_can_be_closed_and_reopened(ana: Person) -> None:
    assert "In progress → *Closed*" in text_of(await ana.ask("/issue 42 close"))
    assert "Closed → *New*" in text_of(await ana.ask("/issue 42 reopen"))
