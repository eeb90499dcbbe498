"""Changing an issue in a form."""

from datetime import timedelta

import pytest

from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.defaults import CLOSED
from bot.sandbox.tracker.server import Tracker
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of, values_of


@pytest.fixture
def tracker() -> Tracker:
    return demo_tracker(listing=True)


async def edit(ana: Person, issue: Issue) -> JSON:
    """Presses *Edit* on the issue's card and returns the form."""
    return await ana.form_after(ana.press(await ana.ask(f"/issue {issue.id}"), "Edit"), f"Edit #{issue.id}")


@pytest.fixture
async def issue(office: Office, ana: Person) -> Issue:
    """An open issue of the Web Shop with a few values."""
    options = "due:2036-01-02 estimate:1h30 customer-reference:K-7"
    await ana.ask(f"/issue new Cart is empty project:webshop {options}")
    await office.idle()
    return office.newest_issue()


async def test_sends_only_what_was_changed(ana: Person, issue: Issue) -> None:
    form = await edit(ana, issue)
    shown = {"Subject": "Cart is empty", "Status": "New", "Due date": "2036-01-02"}
    shown |= {"Estimated hours": "1.5", "Customer reference": "K-7"}
    assert values_of(form) | shown == values_of(form)
    issue.subject = other = "Changed by someone else meanwhile"

    changed = {"Status": "Closed", "Due date": None, "Customer reference": ""}
    answer = await ana.after(ana.submit(form, changed))

    assert "Status: New → *Closed*" in text_of(answer)
    assert "→ *none*" in text_of(answer)
    assert (issue.status_id, issue.due_date, issue.subject) == (CLOSED, None, other)
    assert not issue.custom[2]


async def test_the_description_is_changed_as_it_is_stored(ana: Person, issue: Issue) -> None:
    issue.description = "h1. *Cart*\r\n\r\n* one\r\n* <two> & “three”"
    form = await edit(ana, issue)
    assert values_of(form)["Description"].replace("\r\n", "\n") == issue.description.replace("\r\n", "\n")

    assert "Description" not in text_of(await ana.after(ana.submit(form, {"Priority": "High"})))
    assert "\r\n* one" in issue.description
    said = text_of(await ana.after(ana.submit(await edit(ana, issue), {"Description": "h1. Cart"})))
    assert "→ *h1. Cart*" in said
    assert issue.description == "h1. Cart"
    await ana.after(ana.submit(await edit(ana, issue), {"Description": ""}))
    assert not issue.description


async def test_a_description_that_someone_else_changed_is_not_overwritten(ana: Person, issue: Issue) -> None:
    issue.description = "Mine"
    form = await edit(ana, issue)
    issue.description = "Theirs"

    await ana.submit(form, {"Description": "Ours"})

    again = await ana.form_saying(f"Edit #{issue.id}", "Someone else changed Description")
    assert "Description is *Theirs* now. You entered Ours." in text_of(again)
    await ana.after(ana.submit(again, {}))
    assert issue.description == "Ours"


async def test_a_description_that_is_too_long_is_edited_in_the_tracker(ana: Person, issue: Issue) -> None:
    issue.description = "word " * 700
    form = await edit(ana, issue)

    assert "The description is too long to edit here." in text_of(form)
    assert "Description" not in values_of(form)
    await ana.after(ana.submit(form, {"Priority": "High"}))
    assert issue.description == "word " * 700


async def test_two_refusals_stand_at_their_fields(ana: Person, issue: Issue) -> None:
    form = await edit(ana, issue)

    await ana.submit(form, {"Start date": "2036-02-02", "Parent issue": f"#{issue.id}"})

    said = {block.partition(":")[0]: text for block, text in (await ana.errors()).items()}
    assert said["due"] == "Due date must be greater than start date"
    assert said["parent"] == "Parent task is invalid"


@pytest.mark.parametrize("estimate", [4 / 3, 123_456.0, 0.004])
async def test_values_the_form_cannot_read_are_kept(ana: Person, issue: Issue, estimate: float) -> None:
    issue.estimated_hours = estimate
    form = await edit(ana, issue)

    assert "% done: 0% → *50%*" in text_of(await ana.after(ana.submit(form, {"% done": "50%"})))
    assert issue.estimated_hours == estimate
    await ana.submit(await edit(ana, issue), {"Estimated hours": "soon"})
    assert "isn't a duration" in str(await ana.errors())


async def test_a_comma_means_the_same_wherever_hours_are_entered(office: Office, ana: Person) -> None:
    await ana.ask("/issue new Typed project:webshop estimate:1,125")
    issue = office.newest_issue()
    hours = [issue.estimated_hours]
    await ana.ask(f"/issue {issue.id} estimate:2,125")
    hours.append(issue.estimated_hours)
    await ana.after(ana.submit(await edit(ana, issue), {"Estimated hours": "3,125"}))
    hours.append(issue.estimated_hours)
    form = await ana.form_after(ana.command("/issue new project:webshop estimate:1"), "New issue")
    await ana.after(ana.submit(form, {"Subject": "Entered", "Estimated hours": "4,125"}))
    hours.append(office.newest_issue().estimated_hours)

    assert [float(amount or 0) for amount in hours] == [1.125, 2.125, 3.125, 4.125]


async def test_list_values_may_be_longer_than_options(office: Office, ana: Person) -> None:
    data, alike, unknown = office.tracker.data, f"Chrome {'x' * 160} ", "Not seen lately " * 20
    browsers = data.custom_fields[3]
    browsers.options = (*browsers.options, f"{alike}1", f"{alike}2", unknown)
    first, *_, other, issue = (i for i in data.issues.values() if i.project_id == 1 and 3 in i.custom)
    first.custom[3], other.custom[3], issue.custom[3] = [unknown], [f"{alike}2"], [f"{alike}1"]

    await ana.after(ana.submit(await edit(ana, issue), {"Customer reference": "K-8"}))
    assert (issue.custom[2], issue.custom[3]) == ("K-8", [f"{alike}1"])
    await ana.after(ana.submit(await edit(ana, issue), {"Browsers": ["x 2", "Safari"]}))
    assert issue.custom[3] == [f"{alike}2", "Safari"]
    await ana.after(ana.submit(await edit(ana, first), {"Customer reference": "K-9"}))

    assert (first.custom[2], first.custom[3]) == ("K-9", [unknown])


async def test_changes_of_others_are_not_overwritten(office: Office, ana: Person, issue: Issue) -> None:
    form = await edit(ana, issue)
    issue.done_ratio, issue.priority_id = 80, 3
    issue.updated_on = office.newest_issue().created_on + timedelta(days=3650)

    await ana.submit(form, {"% done": "50%", "Subject": "Carts are empty"})

    again = await ana.form_saying(f"Edit #{issue.id}", "Someone else changed % done while you were editing.")
    assert "% done is *80%* now. You entered 50%." in text_of(again)
    assert (issue.done_ratio, issue.subject) == (80, "Cart is empty")
    shown = values_of(again)
    assert (shown["% done"], shown["Subject"], shown["Priority"]) == ("50%", "Carts are empty", "High")

    await ana.submit(again, {"Start date": "2036-05-01"})
    assert "must be greater than start date" in str(await ana.errors())  # the service's refusal

    await ana.after(ana.submit(again, {}))

    assert (issue.done_ratio, issue.subject, issue.priority_id) == (50, "Carts are empty", 3)


async def test_works_in_a_form_outside_of_channels(office: Office, ana: Person, linked_ben: Person) -> None:
    form = await ana.form_after(ana.shortcut("create_issue"), "New issue")
    await ana.choose(form, "Project", "Web Shop")
    await ana.submit(await ana.form_saying("New issue", "More fields"), {"Subject": "From anywhere"})
    await ana.press_in_form(await ana.form("Created"), "Show issue")
    issue = office.newest_issue()
    await ana.press_in_form(await ana.form(f"#{issue.id}"), "Edit")

    form = await ana.form(f"Edit #{issue.id}")
    told = await linked_ben.after(ana.submit(form, {"Status": "Closed", "Assignee": "Ben Okafor"}), DM)

    assert f"#{issue.id}" in text_of(told)
    assert "Status: New → *Closed*" in text_of(await ana.form_saying(f"#{issue.id}", "Updated"))
