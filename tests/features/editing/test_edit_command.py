"""Changing an issue with a command."""

import re

import pytest

from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.defaults import CLOSED, IN_PROGRESS, NEW, RESOLVED, SUPPORT
from bot.sandbox.tracker.server import Tracker
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import button_saying, text_of, values_of
from tests.support.written import written


@pytest.fixture
def tracker() -> Tracker:
    """A service that tells which statuses there are, and which of them an issue can get."""
    return demo_tracker(issue_reads=True, listing=True)


async def new_issue(office: Office, person: Person) -> Issue:
    """Creates an open issue of the Web Shop, assigned to nobody."""
    await person.ask("/issue new The cart forgets its items project:webshop")
    await office.idle()
    return office.newest_issue()


@pytest.fixture
async def issue(office: Office, ana: Person) -> Issue:
    return await new_issue(office, ana)


def closed_for_good(office: Office) -> None:
    """Takes every way back from Closed out of the workflow."""
    for role in office.tracker.data.roles.values():
        if role.next_statuses is not None:
            role.next_statuses = {**role.next_statuses, CLOSED: frozenset()}


CHANGES = {
    "{n} close": ["Status: New → *Closed*"],
    "close {n}": ["Status: New → *Closed*"],
    "{n} status:resolved done:50%": ["Status: New → *Resolved*", "% done: 0% → *50%*"],
    "{n} in progress": ["Status: New → *In progress*"],
    "assign {n} to me": ["Assignee: Unassigned → *Ana Ruiz*"],
    "{n} estimate:1h30 version:none": ["Estimated hours: none → *1h 30m*"],
    'edit {n} subject:"Empty carts" parent:1': [
        "Subject: The cart forgets its items → *Empty carts*",
        "Parent issue: none → *#1*",
    ],
    "{n} customer-reference:K-7": ["Customer reference: none → *K-7*"],
    "{n} reopen due:none": ["Status is already *New*", "Due date is already empty"],
}


async def test_unassign_with_a_name_takes_the_issue_only_from_that_person(
    office: Office, ana: Person, issue: Issue
) -> None:
    await ana.ask(f"/issue {issue.id} assign to dana")
    await office.idle()

    refused = text_of(await ana.ask(f"/issue {issue.id} unassign ben"))
    assert f"#{issue.id} is assigned to Dana Novak, so I didn't change it." in refused
    assert "Assignee is already *Dana Novak*" in text_of(await ana.ask(f"/issue {issue.id} assign to dana"))

    cleared = text_of(await ana.ask(f"/issue {issue.id} unassign dana, high priority"))
    assert "Priority: Normal → *High*" in cleared
    assert "Assignee: Dana Novak → *Unassigned*" in cleared


async def test_one_of_two_people_is_chosen_with_a_button(office: Office, ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} assign dana or ben")
    await ana.press(answer, "Assign to ben")
    await office.idle()

    assert "Assignee: Unassigned → *Ben Okafor*" in text_of((await ana.messages())[-1])


async def test_changes_are_shown_before_and_after(ana: Person, issue: Issue) -> None:
    for typed, said in CHANGES.items():
        issue.status_id = NEW

        answer = await ana.ask(f"/issue {typed.format(n=issue.id)}")

        assert answer["ephemeral"]
        assert [part for part in said if part not in text_of(answer)] == []


async def test_a_short_word_is_a_persons_name_only(office: Office, chris: Person, issue: Issue) -> None:
    office.tracker.data.users[1].firstname, office.tracker.data.users[4].firstname = "Bo", "Will"

    await chris.ask(f"/issue {issue.id} assign to @bo")
    assert issue.assigned_to_id == 1
    await chris.ask(f"/issue {issue.id} assign to will")
    assert issue.assigned_to_id == 4
    assert "No status called “in”" in text_of(await chris.ask(f"/issue {issue.id} in"))
    assert issue.status_id == NEW


async def test_reopens_and_clears(chris: Person, issue: Issue) -> None:
    await chris.ask(f"/issue {issue.id} close to:ana due:2036-01-02")
    assert (issue.status_id, issue.assigned_to_id) == (CLOSED, 1)

    await chris.ask(f"/issue {issue.id} reopen to:none due:none")

    assert (issue.status_id, issue.assigned_to_id, issue.due_date) == (NEW, None, None)


MISTAKES = {
    "{n} due:someday done:50": ("isn't a date", {"% done": "50%"}),
    "{n} priority:none estimate:soon": ("Priority can't be empty", {"Estimated hours": "soon"}),
    "{n} make it work to:me": ("I don't understand “make it work”", {"Assignee": "Ana Ruiz (me)"}),
    "{n} close it soon": ("I don't understand “soon”", {"Status": "Closed"}),
    "{n} close\nIt's in 2.0": ("I don't understand “It's in 2.0”", {"Status": "Closed"}),
    "{n}\nIt's in 2.0": ("I don't understand “It's in 2.0”", {}),
}


async def test_a_mistake_leads_to_the_form_with_the_rest_filled_in(ana: Person, issue: Issue) -> None:
    for typed, (said, filled) in MISTAKES.items():
        answer = await ana.ask(f"/issue {typed.format(n=issue.id)}")
        assert said in text_of(answer)

        form = await ana.form_after(ana.press(answer, "Open form"), f"Edit #{issue.id}")
        assert said in text_of(form)
        assert {label: values_of(form)[label] for label in filled} == filled
        await ana.close(form)


LED_ON = {
    "{n} relates to {m}": "can't relate issues.*Show issue.*Open in",
    "copy {n}": "can't copy issues.*Open in",
    "{n} move to mobile": "can't move issues.*Open in",
    "{n} move to web shop please": "can't move issues.*Open in",
    "{n} don't start": "Open form.*Comment “don't start”",
    "{n} status feedback, try again": "“try again”. I filled in .*“status feedback”.*Comment “try again”",
    "{n} isn't mine, give it to ben": "“isn't mine”. I filled in the form with “give it to ben”.*Open form",
    "{n}, {m} frobnicate": "^(?!.*Change both).*No status called.*Search for",
    "{n}, {m} soon done by me": "^(?!.*Change both).*I don't understand.*Search for",
    "close all my low prio bugs": "^(?!.*Create issue).*Search for “my low prio bugs”",
    "bug Cart fails in safari": "`/issue new bug: Cart fails in safari`.*Create issue “Cart fails in safari”",
    "todo list is empty": "Create issue “todo list is empty”",
    "close my account page": "Create issue “close my account page”",
}


async def test_what_is_not_done_leads_on(office: Office, ana: Person, issue: Issue) -> None:
    other = office.public_issue()
    before = written(office)

    for typed, says in LED_ON.items():
        answer = await ana.ask(f"/issue {typed.format(n=issue.id, m=other.id)}")
        assert re.search(says.format(n=issue.id, m=other.id), text_of(answer), re.DOTALL), typed

    assert written(office) == before


async def test_start_needs_a_status_that_says_so(office: Office, ana: Person, issue: Issue) -> None:
    office.tracker.data.statuses[IN_PROGRESS].name = "Doing"

    answer = await ana.ask(f"/issue {issue.id} start")

    assert "No status called “start”. Try New, Doing, Resolved" in text_of(answer)
    assert "progress" not in text_of(answer)
    assert issue.status_id == NEW
    button_saying(answer["blocks"], "Open form")


async def test_lists_allowed_statuses(office: Office, ana: Person, linked_ben: Person, issue: Issue) -> None:
    number = (await new_issue(office, linked_ben)).id
    answer = await linked_ben.ask(f"/issue {number} status:rejected")
    assert f"doesn't let you set #{number} to Rejected. Choose New" in text_of(answer)
    assert "Set status" in str(answer["blocks"])
    assert "Set status" not in str(await linked_ben.ask(f"/issue {number} status:rejected due:2036-01-02"))

    issue.status_id = CLOSED
    closed_for_good(office)
    reopened = await ana.ask(f"/issue {issue.id} reopen")
    assert f"doesn't let you reopen #{issue.id}. Its status can't be changed from Closed." in text_of(
        reopened
    )
    button_saying(reopened["blocks"], "Open form")


async def test_a_status_is_set_with_its_new_tracker(office: Office, ana: Person, issue: Issue) -> None:
    office.tracker.data.statuses[RESOLVED].trackers = frozenset({SUPPORT})
    assert f"let you set #{issue.id} to Resolved" in text_of(await ana.ask(f"/issue {issue.id} resolved"))

    answer = text_of(await ana.ask(f"/issue {issue.id} tracker:support status:resolved"))

    assert "Issue type: Bug → *Support*" in answer
    assert "Status: New → *Resolved*" in answer


async def test_own_issues_do_not_offer_to_be_assigned(ana: Person, issue: Issue) -> None:
    assert "Assign to me" in str(await ana.ask(f"/issue {issue.id}"))

    for typed in ("to:me", "to:me", ""):
        assert "Assign to me" not in str(await ana.ask(f"/issue {issue.id} {typed}"))


async def test_says_what_its_subtasks_keep_an_issue_from(office: Office, chris: Person, issue: Issue) -> None:
    below = await new_issue(office, chris)
    below.parent_id = issue.id

    for typed in ("close", "status:closed"):
        said = text_of(await chris.ask(f"/issue {issue.id} {typed}"))
        assert f"#{issue.id} can't be closed while its subtask #{below.id} is open. Close it first." in said
    said = text_of(await chris.ask(f"/issue {issue.id} due:2036-01-02 priority:high done:50%"))
    assert f"Tracker calculates #{issue.id}'s priority, due date, and % done from its subtasks." in said

    below.status_id = CLOSED
    assert "*Closed*" in text_of(await chris.ask(f"/issue {issue.id} close"))


async def test_people_and_choices_that_the_form_does_not_list_are_kept(ana: Person, issue: Issue) -> None:
    answer = await ana.ask(f"/issue {issue.id} to:77 category:78 estimate:soon")

    form = await ana.form_after(ana.press(answer, "Open form"), f"Edit #{issue.id}", "soon")

    assert (values_of(form)["Assignee"], values_of(form)["Category"]) == ("#77", "#78")


async def test_a_key_behind_a_number_is_in_no_button(ana: Person, issue: Issue) -> None:
    refused = await ana.ask(f"/issue {issue.id} {KEYS['ana']}")

    assert "No status called “…”" in text_of(refused)
    assert KEYS["ana"] not in str(refused)
