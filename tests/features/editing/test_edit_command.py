"""Changing an issue with a command."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.defaults import CLOSED, NEW
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import button_saying, text_of, values_of


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """An office whose service tells which statuses an issue can get."""
    office = Office(tmp_path, tracker=demo_tracker(issue_reads=True))
    await office.open()
    await office.link("U0ANA0001", KEYS["ana"])
    yield office
    await office.close()
    assert office.violations() == []


@pytest.fixture
async def issue(office: Office, ana: Person) -> Issue:
    """An open issue of the Web Shop, assigned to nobody."""
    await ana.ask("/issue new The cart forgets its items project:webshop")
    await office.idle()
    return office.newest_issue()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("{n} close", ["Status: New → *Closed*"]),
        ("close {n}", ["Status: New → *Closed*"]),
        ("{n} status:resolved done:50%", ["Status: New → *Resolved*", "% done: 0% → *50%*"]),
        ("{n} in progress", ["Status: New → *In progress*"]),
        ("assign {n} to me", ["Assignee: Unassigned → *Ana Ruiz*"]),
        ("{n} estimate:1h30 version:none", ["Estimated hours: none → *1h 30m*"]),
        (
            'edit {n} subject:"Empty carts" parent:1',
            ["Subject: The cart forgets its items → *Empty carts*", "Parent issue: none → *#1*"],
        ),
        ("{n} customer-reference:K-7", ["Customer reference: none → *K-7*"]),
        ("{n} reopen due:none", ["Status is already *New*", "Due date is already empty"]),
    ],
)
async def test_changes_are_told_before_and_after(
    ana: Person, issue: Issue, typed: str, said: list[str]
) -> None:
    answer = await ana.ask(f"/issue {typed.format(n=issue.id)}")

    assert answer["ephemeral"]
    for part in said:
        assert part in text_of(answer)


async def test_reopens_and_clears(office: Office, issue: Issue) -> None:
    chris = Person(office, "U0CHRIS01")
    await office.link(chris.user_id, KEYS["chris"])
    await chris.ask(f"/issue {issue.id} close to:ana due:2036-01-02")
    assert (issue.status_id, issue.assigned_to_id) == (CLOSED, 1)

    await chris.ask(f"/issue {issue.id} reopen to:none due:none")

    assert (issue.status_id, issue.assigned_to_id, issue.due_date) == (NEW, None, None)


async def test_says_which_statuses_are_left(ana: Person, issue: Issue) -> None:
    issue.status_id = CLOSED

    answer = await ana.ask(f"/issue {issue.id} reopen")

    assert f"doesn't let you reopen #{issue.id}. The status you can choose is Closed." in text_of(answer)
    button_saying(answer["blocks"], "Open form")


@pytest.mark.parametrize(
    ("typed", "said", "filled"),
    [
        ("{n} due:someday done:50", "isn't a date", {"% done": "50%"}),
        ("{n} priority:none estimate:soon", "Priority can't be empty", {"Estimated hours": "soon"}),
        ("{n} make it work to:me", "No status called “make it work”", {"Assignee": "Ana Ruiz"}),
        ("{n} close it soon", "I don't understand “it soon”", {"Status": "Closed"}),
    ],
)
async def test_a_mistake_leads_to_the_form_with_the_rest_filled_in(
    ana: Person, issue: Issue, typed: str, said: str, filled: dict[str, str]
) -> None:
    answer = await ana.ask(f"/issue {typed.format(n=issue.id)}")
    assert said in text_of(answer)

    await ana.press(answer, "Open form")

    form = await ana.form(f"Edit #{issue.id}")
    assert said in text_of(form)
    assert {label: values_of(form)[label] for label in filled} == filled


async def test_refuses_a_status_that_the_user_cannot_choose(office: Office, ben: Person) -> None:
    await office.link(ben.user_id, KEYS["ben"])
    await ben.ask("/issue new The cart forgets its items project:webshop")
    number = office.newest_issue().id

    answer = await ben.ask(f"/issue {number} status:rejected")

    assert f"doesn't let you set #{number} to Rejected. Choose New" in text_of(answer)


async def test_says_where_the_service_cannot_change_issues(tmp_path: Path, ana: Person) -> None:
    office = Office(tmp_path / "other", tracker=demo_tracker(issue_updates=False))
    (tmp_path / "other").mkdir()
    await office.open()
    await office.link("U0ANA0001", KEYS["ana"])
    person = Person(office, ana.user_id)
    try:
        answer = await person.ask("/issue 12 close")
        card = await person.ask("/issue 12")
    finally:
        await office.close()

    assert "doesn't let me change issues. Open #12 to change it there." in text_of(answer)
    button_saying(answer["blocks"], "Open in Tracker")
    assert not {"Edit", "Comment", "Assign to me"} & {
        element["text"]["text"]
        for block in card["blocks"]
        for element in block.get("elements", ())
        if "action_id" in element
    }
