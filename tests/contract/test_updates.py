"""Changing issues and reading single ones, which the specification doesn't list."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.features.issues.issues import HISTORY
from bot.service.client import Client
from bot.service.filters import IssueFilters, TimeRange
from tests.contract.oracle import depot
from tests.contract.raw import Answer, Wire, an_issue, some_time
from tests.contract.world import World
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of

DONE = "Resolved"
ANA, BEN = "U0ANA0001", "U0BEN0001"


@pytest.fixture
def options() -> dict[str, Any]:
    return {"issue_updates": True, "issue_reads": True, "time_deletes": True}


async def change(wire: Wire, number: int, who: str = "ana", **fields: Any) -> Answer:
    return await wire("PUT", f"/issues/{number}.json", who, body={"issue": fields})


async def read(wire: Wire, number: int, who: str = "ana", include: str = "") -> Any:
    return (await wire("GET", f"/issues/{number}.json", who, include=include)).json["issue"]


async def new(wire: Wire, **fields: Any) -> int:
    number: int = (await an_issue(wire, **fields)).json["issue"]["id"]
    return number


async def test_update_sets_every_field_and_the_history_names_them(wire: Wire, world: World) -> None:
    number = await new(wire, project_id=world.project("public"), tracker_id=world.trackers["Feature"])
    sent: dict[str, Any] = {
        "subject": "Changed",
        "description": "More",
        "status_id": world.statuses[DONE],
        "priority_id": world.priorities["High"],
        "assigned_to_id": world.users["dora"],
        "category_id": world.categories["Checkout"],
        "fixed_version_id": world.versions["1.0"],
        "due_date": "2036-05-31",
        "estimated_hours": 2.5,
        "done_ratio": 60,
        "custom_fields": [{"id": world.custom_fields["Environment"], "value": "staging"}],
        "notes": "See above",
    }

    answer = await change(wire, number, **sent)

    assert (answer.status, answer.text) == (204, "")
    issue = await read(wire, number, include="journals")
    values = {
        name: issue[name] for name in ("subject", "description", "due_date", "estimated_hours", "done_ratio")
    }
    assert values == {name: sent[name] for name in values}
    ids = ("status", "priority", "assigned_to", "category", "fixed_version")
    assert {name: issue[name]["id"] for name in ids} == {name: sent[f"{name}_id"] for name in ids}
    assert {"See above"} == {journal["notes"] for journal in issue["journals"]}
    details = [detail for journal in issue["journals"] for detail in journal["details"]]
    assert {detail["name"] for detail in details if detail["property"] == "attr"} == {
        *(name for name in sent if name not in ("custom_fields", "notes"))
    }
    environment = str(world.custom_fields["Environment"])
    assert [detail["new_value"] for detail in details if detail["property"] == "cf"] == ["staging"]
    assert [detail["name"] for detail in details if detail["property"] == "cf"] == [environment]
    status = next(detail for detail in details if detail["name"] == "status_id")
    assert (status["old_value"], status["new_value"]) == (
        str(world.statuses["New"]),
        str(world.statuses[DONE]),
    )


async def test_invalid_update_is_rejected_and_changes_nothing(wire: Wire, world: World) -> None:
    number = await new(wire)

    answer = await change(
        wire, number, subject=" ", due_date="2001-01-01", assigned_to_id=world.users["nils"]
    )

    assert answer.status == 422
    assert set(answer.json["errors"]) == {
        "Subject cannot be blank",
        "Due date must be greater than start date",
        "Assignee is invalid",
    }
    assert (await read(wire, number))["subject"] == "An answer"


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("ana", {"New", "In Progress", "Resolved", "Feedback", "Closed", "Rejected"}),
        ("dora", {"New", "In Progress", "Resolved", "Feedback", "Closed"}),
        ("ben", {"New", "Closed"}),
    ],
)
async def test_allowed_statuses_depend_on_the_role(wire: Wire, who: str, expected: set[str]) -> None:
    issue = await read(wire, await new(wire), who, include="allowed_statuses")

    assert {status["name"].title() for status in issue["allowed_statuses"]} == expected


async def test_status_outside_the_workflow_is_ignored(wire: Wire, world: World) -> None:
    number = await new(wire)

    answer = await change(wire, number, "dora", status_id=world.statuses["Rejected"], done_ratio=10)

    assert answer.status == 204
    issue = await read(wire, number)
    assert (issue["status"]["name"], issue["done_ratio"]) == ("New", 10)


async def test_closing_keeps_its_date_when_reopened(wire: Wire, world: World) -> None:
    number = await new(wire)
    assert (await read(wire, number))["closed_on"] is None

    await change(wire, number, status_id=world.statuses["Closed"])
    closed = await read(wire, number)
    await change(wire, number, status_id=world.statuses["New"])

    assert closed["closed_on"] is not None
    assert closed["status"]["is_closed"]
    reopened = await read(wire, number)
    assert (reopened["status"]["name"], reopened["closed_on"]) == ("New", closed["closed_on"])


async def test_parent_cannot_close_before_its_subtasks(wire: Wire, world: World) -> None:
    number = await new(wire)
    child = await new(wire, parent_issue_id=number)

    await change(wire, number, status_id=world.statuses["Closed"], done_ratio=50)

    issue = await read(wire, number, include="children")
    assert (issue["status"]["name"], issue["done_ratio"]) == ("New", 0)
    assert [row["id"] for row in issue["children"]] == [child]


async def test_private_note_is_hidden_from_reporters(wire: Wire) -> None:
    number = await new(wire)

    await change(wire, number, notes="Between us", private_notes=True)

    issues = {who: await read(wire, number, who, include="journals") for who in ("ana", "dora", "ben")}
    notes = {who: [journal["notes"] for journal in issue["journals"]] for who, issue in issues.items()}
    assert notes == {"ana": ["Between us"], "dora": ["Between us"], "ben": []}


async def test_assignee_is_set_only_with_edit_permission(wire: Wire, world: World) -> None:
    number, foreign = (
        await new(wire, project_id=world.project("lab")),
        (await depot(world, "ana", "UTC")).rows,
    )
    users = world.users

    async def assign(who: str, to: int | str | None, number: int = number) -> tuple[int, int | None]:
        answer = await change(wire, number, who, assigned_to_id=to)
        return answer.status, (await read(wire, number)).get("assigned_to", {}).get("id")

    assert await assign("dora", users["ben"]) == (204, users["ben"])
    assert await assign("ana", "me") == (204, users["ana"])
    assert await assign("ana", None) == (204, users["ana"])
    assert await assign("ana", "") == (204, None)
    assert await assign("ben", "me") == (204, None)  # may only add notes
    assert await assign("olga", "me") == (403, None)
    unassigned = next(row["id"] for row in foreign if "assigned_to" not in row)
    assert await assign("chris", "me", unassigned) == (422, None)  # an administrator, but not a member


async def test_a_time_entry_is_deleted_by_its_author_only(wire: Wire, world: World) -> None:
    number = (await some_time(wire)).json["time_entry"]["id"]

    path = f"/time_entries/{number}.json"
    statuses = [(await wire("DELETE", path, who)).status for who in (None, "ben", "ana", "ana")]

    assert statuses == [401, 403, 204, 404]
    if world.database is None:  # Redmine on SQLite gives the number to the next entry
        assert (await some_time(wire)).json["time_entry"]["id"] > number


async def test_hidden_issue_is_not_shown_or_changed(wire: Wire, world: World) -> None:
    vault = world.issues["vault"]

    assert (await change(wire, vault, "ben", subject="Mine")).status == 403
    assert (await wire("GET", f"/issues/{vault}.json", "ben")).status == 403
    assert (await change(wire, 999_999, subject="None")).status == 404


async def test_bot_changes_what_was_typed(office: Office, wire: Wire, world: World) -> None:
    number = await new(
        wire,
        project_id=world.project("public"),
        tracker_id=world.trackers["Feature"],
        assigned_to_id=world.users["dora"],
    )
    await office.link(ANA, world.keys["ana"])
    ana = Person(office, ANA)

    answer = await ana.ask(
        f"/issue {number} close to:me due:2036-05-31 done:60 estimate:2h30 category:checkout "
        f"environment:staging version:#{world.versions['1.0']} "
        f"priority:#{world.priorities['High']} subject:Changed"
    )

    issue = await read(wire, number)
    ids = ("status", "priority", "assigned_to", "category", "fixed_version")
    assert {name: issue[name]["id"] for name in ids} == {
        "status": world.statuses["Closed"],
        "priority": world.priorities["High"],
        "assigned_to": world.users["ana"],
        "category": world.categories["Checkout"],
        "fixed_version": world.versions["1.0"],
    }
    values = {name: issue[name] for name in ("subject", "due_date", "estimated_hours", "done_ratio")}
    assert values == {
        "subject": "Changed",
        "due_date": "2036-05-31",
        "estimated_hours": 2.5,
        "done_ratio": 60,
    }
    assert "staging" in str(issue["custom_fields"])
    assert "→ *Closed*" in text_of(answer)
    assert "didn't save" not in text_of(answer)

    answer = await ana.ask(
        f"/issue {number} reopen to:none due:none estimate:none version:none category:none environment:none"
    )

    issue = await read(wire, number)
    assert issue["status"]["id"] == world.statuses["New"]
    assert not {"assigned_to", "category", "fixed_version"} & issue.keys()
    assert (issue["due_date"], issue["estimated_hours"]) == (None, None)
    assert "staging" not in str(issue["custom_fields"])
    assert "didn't save" not in text_of(answer)


async def test_bot_keeps_what_somebody_else_changed(office: Office, wire: Wire, world: World) -> None:
    number = await new(wire, tracker_id=world.trackers["Feature"])
    await office.link(ANA, world.keys["ana"])
    ana = Person(office, ANA)
    await ana.press(await ana.ask(f"/issue {number}"), "Edit")
    form = await ana.form(f"Edit #{number}")
    await asyncio.sleep(1)  # so that the service's seconds differ
    await change(wire, number, "dora", done_ratio=80, due_date="2036-05-31")

    await ana.submit(form, {"% done": "50%", "Subject": "Mine"})
    again = await ana.form_saying(f"Edit #{number}", "Someone else changed % done while you were editing.")
    assert (await read(wire, number))["done_ratio"] == 80
    await ana.after(ana.submit(again, {}))

    issue = await read(wire, number)
    assert (issue["done_ratio"], issue["due_date"], issue["subject"]) == (50, "2036-05-31", "Mine")


async def test_bot_offers_the_statuses_of_the_role(office: Office, wire: Wire, world: World) -> None:
    number = await new(wire)
    await office.link(BEN, world.keys["ben"])
    ben = Person(office, BEN)

    refused = text_of(await ben.ask(f"/issue {number} status:resolved"))

    assert "New or Closed." in refused


async def test_changed_issues_are_listed_with_their_public_comments(wire: Wire, world: World) -> None:
    """What the bot relies on for the threads that follow issues."""
    numbers = [await new(wire) for _ in range(2)]
    await change(wire, numbers[0], "ana", status_id=world.statuses["Closed"], notes="For everyone")
    await change(wire, numbers[0], "ana", notes="For some", private_notes=True)
    async with Client(world.url, key_header=world.key_header) as client:
        every = IssueFilters(issue_ids=tuple(numbers), status="any")
        rows = (await client.list_issues(world.key("dora"), every)).items
        since = max(row.updated_on for row in rows if row.updated_on)
        changed = replace(every, updated_on=TimeRange(since=since))
        listed = (await client.list_issues(world.key("dora"), changed)).items
        later = replace(every, updated_on=TimeRange(since=since + timedelta(hours=1)))
        issue = await client.optional.get_issue(world.key("dora"), numbers[0], HISTORY)
        assert (await client.list_issues(world.key("dora"), later)).items == ()

    assert {row.id for row in rows} == set(numbers)
    assert numbers[0] in {row.id for row in listed}
    assert issue
    assert issue.status
    assert issue.status.is_closed
    public = [journal.notes for journal in issue.journals if journal.private_notes is False]
    assert [notes for notes in public if notes] == ["For everyone"]
