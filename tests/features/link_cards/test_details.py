"""The details of links: what each person sees there, edits, and does with its buttons."""

from datetime import date
from functools import partial
from pathlib import Path

import pytest

from bot.sandbox.tracker.data import Issue, Status
from bot.sandbox.tracker.defaults import CLOSED, HIGH, IN_PROGRESS, NEW, NORMAL, URGENT
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace import payloads
from tests.features.link_cards.panes import Pane, opened, posted
from tests.support.office import Office
from tests.support.people import IDS, KEYS
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, option_saying, text_of
from tests.support.wire import Silent

ANA, BEN = 1, 2


@pytest.fixture
def tracker() -> Tracker:
    return demo_tracker(issue_reads=True, roles=True, listing=True)


@pytest.fixture
def issue(office: Office) -> Issue:
    """An open, unassigned issue of the Web Shop that Ana may edit."""
    public = next(i for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    public.status_id, public.priority_id, public.assigned_to_id, public.due_date = NEW, NORMAL, None, None
    public.author_id = BEN
    return public


async def editable(pane: Pane) -> set[str]:
    return {name for name, field in (await pane.fields()).items() if "edit" in field}


async def test_details_need_the_viewers_key(office: Office, ana: Person, ben: Person, issue: Issue) -> None:
    message = await posted(ana, office, issue)

    pane = await opened(office, ana, issue, message)
    assert (await pane.entity())["external_ref"] == {"id": str(issue.id), "type": "issue"}
    assert (await pane.fields())["created_by"]["value"] == "Ben Okafor"
    unlinked = await opened(office, ben, issue, message)
    assert "Link your Tracker account" in str((await unlinked.state())["error"])
    await office.link(ben.user_id, KEYS["ben"])
    issue.is_private, issue.author_id, issue.assigned_to_id = True, ANA, ANA
    refused = await opened(office, ben, issue, message)
    assert "you can't see it" in (await refused.state())["error"]["custom_message"]
    entity = await (await opened(office, ana, issue, message)).entity()
    assert entity["entity_payload"]["custom_fields"][-1]["label"] == "Private"


@pytest.mark.parametrize("left_out", ["status", "priority", "name"])
async def test_details_lack_what_the_service_leaves_out(tmp_path: Path, left_out: str) -> None:
    tracker = demo_tracker(issue_reads=True, roles=True, listing=True)
    async with Office(tmp_path, tracker=tracker, wire=Silent(left_out)).opened("ana") as office:
        pane = await opened(office, Person(office, IDS["ana"]), office.public_issue())

        assert await editable(pane) == {"status", "priority", "assignee", "due_date"}


async def test_the_description_is_plain_text(office: Office, ana: Person, issue: Issue) -> None:
    issue.description = "## Steps\n\n**Pay** with `x*y*z` at [the till](https://x.y/?a=1&b=2), 2 * 3 <b>"

    text = (await (await opened(office, ana, issue)).fields())["description"]["value"]

    assert text == "Steps\n\nPay with x*y*z at the till (https://x.y/?a=1&b=2), 2 * 3 <b>"


async def test_only_editors_can_edit(office: Office, ana: Person, linked_ben: Person, issue: Issue) -> None:
    message = await posted(ana, office, issue)

    pane = await opened(office, ana, issue, message)
    assert await editable(pane) == {"status", "priority", "assignee", "due_date"}
    offered = (await pane.fields())["status"]["edit"]["select"]["static_options"]
    assert [option["text"]["text"] for option in offered][:2] == ["New", "In progress"]
    assert "Rejected" not in str(offered)
    assert not await editable(await opened(office, linked_ben, issue, message))


async def test_nothing_is_editable_where_no_status_is_allowed(tmp_path: Path) -> None:
    tracker, wire = demo_tracker(issue_reads=True, listing=True), Silent("allowed_statuses", instead=[])
    async with Office(tmp_path, tracker=tracker, wire=wire).opened("ben") as office:
        pane = await opened(office, Person(office, IDS["ben"]), office.public_issue())

        assert await editable(pane) == set()


async def test_a_right_to_edit_own_issues_is_enough(office: Office, ana: Person, issue: Issue) -> None:
    for role in office.tracker.data.roles.values():
        role.rights = role.rights - {"edit_issues"} | {"edit_own_issues"}
    message = await posted(ana, office, issue)
    assert not await editable(await opened(office, ana, issue, message))

    issue.author_id = ANA
    pane = await opened(office, ana, issue, message)

    assert await editable(pane) == {"status", "priority", "assignee", "due_date"}
    assert not (await pane.edit(status="Closed"))["error"]
    assert issue.status_id == CLOSED


async def test_a_long_select_has_the_current_status(office: Office, ana: Person, issue: Issue) -> None:
    data = office.tracker.data
    data.statuses |= {number: Status(number, f"Status {number}") for number in range(1000, 1150)}
    for role in data.roles.values():
        role.next_statuses = None
    issue.status_id = 1149

    select = (await (await opened(office, ana, issue)).fields())["status"]["edit"]["select"]

    offered = [option["value"] for option in select["static_options"]]
    assert len(offered) == 100
    assert select["current_value"] in offered


async def test_an_edit_sends_only_what_differs_from_what_the_details_showed(
    office: Office, ana: Person, linked_ben: Person, issue: Issue
) -> None:
    pane = await opened(office, ana, issue)
    issue.priority_id = URGENT  # by someone else meanwhile

    answer = await pane.edit(status="In progress", due_date="2036-01-02", assignee="Ana")

    assert not answer["error"]
    assert (issue.status_id, issue.priority_id, issue.due_date) == (IN_PROGRESS, URGENT, date(2036, 1, 2))
    assert issue.assigned_to_id == ANA
    fields = await pane.fields()
    assert [fields[name]["value"] for name in ("status", "priority", "due_date")] == [
        "In progress",
        "Urgent",
        "2036-01-02",
    ]
    await pane.edit(due_date=None, assignee=None)
    assert issue.due_date is None
    assert not issue.assigned_to_id
    reply = await linked_ben.after(pane.edit(assignee="Ben"), DM)
    assert f"#{issue.id}" in text_of(reply)


async def test_changes_of_others_are_reported_and_kept(office: Office, ana: Person, issue: Issue) -> None:
    message = await posted(ana, office, issue)
    pane = await opened(office, ana, issue, message)
    issue.priority_id = URGENT

    answer = (await pane.edit(priority="High", status="Closed"))["error"]

    assert answer["status"] == "edit_error"
    assert "Someone else changed Priority while you were editing." in answer["custom_message"]
    assert "Priority is Urgent now. You entered High." in answer["custom_message"]
    assert (issue.priority_id, issue.status_id) == (URGENT, NEW)
    assert (await pane.edit(priority="High"))["error"]  # the details still show the old value
    again = await opened(office, ana, issue, message)
    assert not (await again.edit(priority="High"))["error"]
    assert issue.priority_id == HIGH


DUE = {"due_date.input": {"type": "datepicker", "selected_date": "2036-01-02"}}
UNMARKED = {"type": "static_select", "selected_option": {"value": str(CLOSED), "text": {"text": "Closed"}}}


@pytest.mark.parametrize(
    ("values", "now"),
    [
        ({"due_date": DUE}, "Due date is May 5, 2036 now. You entered Jan 2, 2036."),
        ({"status": {"status.input": UNMARKED}}, "Status is New now. You entered Closed."),
    ],
)
async def test_an_edit_that_does_not_say_what_was_shown_changes_nothing(
    office: Office, ana: Person, issue: Issue, values: JSON, now: str
) -> None:
    pane = await opened(office, ana, issue)
    issue.due_date = date(2036, 5, 5)  # by someone else meanwhile

    answer = (await pane.send(values=values))["error"]

    assert (issue.due_date, issue.status_id) == (date(2036, 5, 5), NEW)
    assert answer["status"] == "edit_error"
    assert answer["custom_message"].startswith("Slack didn't say which values you saw, so I saved nothing.")
    assert f"{now}\nRefresh the details before you edit them again." in answer["custom_message"]


async def test_refusals_are_at_the_field_or_above_the_form(office: Office, ana: Person, issue: Issue) -> None:
    issue.start_date = date(2036, 5, 1)
    pane = await opened(office, ana, issue)

    at_field = await pane.edit(due_date="2036-01-02")
    assert "must be greater than start date" in at_field["errors"]["due_date"]
    assert not at_field["error"]
    assert issue.due_date is None

    issue.is_private, issue.author_id = True, BEN  # the issue isn't Ana's to see anymore
    above = (await pane.edit(status="Closed"))["error"]
    assert (above["status"], "you can't see it" in above["custom_message"]) == ("edit_error", True)
    assert issue.status_id == NEW


async def test_values_of_subtasks_are_explained(office: Office, ana: Person, issue: Issue) -> None:
    (below := office.public_issue(3)).parent_id = issue.id

    answer = (await (await opened(office, ana, issue)).edit(status="In progress", priority="Urgent"))["error"]

    assert issue.status_id == IN_PROGRESS
    assert f"from its subtasks. Change it in #{below.id}. Refresh the details" in answer["custom_message"]


@pytest.mark.parametrize("callback_id", ["work-object-edit", ""])
async def test_an_edit_is_saved_once(office: Office, ana: Person, issue: Issue, callback_id: str) -> None:
    state, status = office.workspace.state, (await (await opened(office, ana, issue)).fields())["status"]
    view: JSON = {"type": "entity_detail", "callback_id": callback_id}
    view |= {"external_ref": {"id": str(issue.id), "type": "issue"}, "entity_url": office.link_to(issue)}
    closed = option_saying(status["edit"]["select"]["static_options"], "Closed")
    chosen = {"type": "static_select", "selected_option": closed}
    payload = payloads.interaction(state, "view_submission", state.users[ana.user_id]) | {
        "view": view | {"state": {"values": {"status": {"status.input": chosen}}}},
        "trigger_id": office.workspace._triggers.issue(ana.user_id),
    }
    deliver = partial(office.workspace._delivery.deliver, "interactive", payload, takes_answer=True)

    first = await deliver()
    await office.idle()
    assert (first.payload or None, issue.status_id) == (None, CLOSED)
    issue.status_id = NEW  # reopened by someone
    again = await deliver()
    await office.idle()

    assert "You already submitted this form." in str(again.payload)
    assert issue.status_id == NEW


async def test_an_unlinked_user_learns_how_to_link(office: Office, ana: Person, issue: Issue) -> None:
    pane = await opened(office, ana, issue)
    await ana.ask("/tracker unlink")

    answer = (await pane.edit(status="Closed"))["error"]

    assert (answer["custom_title"], issue.status_id) == ("Link your Tracker account", NEW)
    assert "Type /tracker link in any channel." in answer["custom_message"]


async def test_buttons_of_the_details_act_as_on_a_card(office: Office, ana: Person, issue: Issue) -> None:
    pane = await opened(office, ana, issue)

    await pane.press("Assign to me")
    assert issue.assigned_to_id == ANA
    assert (await pane.fields())["assignee"]["value"] == "Ana Ruiz"
    await pane.press("Comment")
    assert (await ana.form("Comment"))["title"]["text"] == "Comment"
    await pane.press("Log time")
    await ana.form("Log time")
