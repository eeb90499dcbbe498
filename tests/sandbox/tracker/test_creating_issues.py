"""POST /issues.json."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from bot.sandbox.tracker.data import Data, Issue

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api


async def test_create_returns_every_accepted_field(api: "Api", issue: Callable[..., Issue]) -> None:
    parent = issue("Above")
    answer = await api.create(
        "issue",
        project_id="shop",
        subject=" Printer on fire ",
        description="One\ntwo",
        tracker_id=2,
        status_id=2,
        priority_id="4",
        category_id=1,
        assigned_to_id=2,
        fixed_version_id=1,
        parent_issue_id=parent.id,
        start_date="2026-03-01",
        due_date="2026-03-31",
        done_ratio=30,
        estimated_hours="1h30",
        is_private=True,
        watcher_user_ids=[2, 5],
        custom_fields=[{"id": 2, "value": "K-1"}, {"id": 99, "value": "dropped"}],
    )
    assert (answer.status, answer.headers["Location"]) == (201, f"{api.tracker.url}/issues/2")
    made = answer.body["issue"]
    assert {k: made[k] for k in ("subject", "description", "start_date", "due_date", "done_ratio")} == {
        "subject": " Printer on fire ",
        "description": "One\r\ntwo",
        "start_date": "2026-03-01",
        "due_date": "2026-03-31",
        "done_ratio": 30,
    }
    names = {k: made[k]["name"] for k in ("project", "tracker", "status", "priority", "category", "author")}
    assert list(names.values()) == ["Shop", "Feature", "In progress", "Urgent", "Checkout", "Ana Test"]
    assert (made["assigned_to"]["id"], made["fixed_version"]["id"], made["parent"]) == (2, 1, {"id": 1})
    assert (made["estimated_hours"], made["is_private"]) == (1.5, True)
    assert made["custom_fields"] == [
        {"id": 2, "name": "Customer", "value": "K-1"},
        {"id": 3, "name": "Room", "value": None},
    ]
    assert api.data.issues[2].watcher_ids == {2}


async def test_defaults(api: "Api") -> None:
    made = (await api.create("issue", project_id=1, subject="x", category_id=2)).body["issue"]
    assert [made[k]["name"] for k in ("tracker", "status", "priority")] == ["Bug", "New", "Normal"]
    assert made["assigned_to"]["name"] == "Mia Test"  # the category's default
    assert made["start_date"] == "2026-03-11"  # today in Madrid
    assert (made["description"], made["is_private"], made["done_ratio"]) == (None, False, 0)


async def test_forbidden_fields_are_silently_ignored(api: "Api", issue: Callable[..., Issue]) -> None:
    issue("Above")
    asked = {
        "tracker_id": 77, "status_id": 5, "parent_issue_id": 1, "is_private": True,
    }  # fmt: skip
    answer = await api.create("issue", "ben", project_id=1, subject="x", **asked)
    made = answer.body["issue"]
    assert (answer.status, made["tracker"]["id"], made["status"]["id"]) == (201, 1, 1)
    assert not made["is_private"]
    assert "parent" not in made


async def test_admin_can_create_closed_issues(api: "Api") -> None:
    made = (await api.create("issue", "chris", project_id=1, subject="x", status_id=5)).body["issue"]
    assert made["closed_on"] == "2026-03-10T23:30:00Z"


@pytest.mark.parametrize(
    ("fields", "sentences"),
    [
        ({"subject": " "}, ["Subject cannot be blank"]),
        ({"subject": "x" * 256}, ["Subject is too long (maximum is 255 characters)"]),
        ({"priority_id": 99}, ["Priority cannot be blank"]),
        ({"assigned_to_id": 3}, ["Assignee is invalid"]),
        ({"fixed_version_id": 2}, ["Target version is not included in the list"]),
        ({"parent_issue_id": 99}, ["Parent task is invalid"]),
        ({"category_id": 99}, ["Category is not included in the list"]),
        ({"due_date": "soon"}, ["Due date is not a valid date"]),
        ({"due_date": "2026-03-01"}, ["Due date must be greater than start date"]),
        ({"estimated_hours": "much"}, ["Estimated time is invalid"]),
        ({"done_ratio": 101}, ["% Done is not included in the list"]),
        ({"project_id": 2}, ["Severity cannot be blank"]),
        (
            {"project_id": 2, "custom_fields": [{"id": 1, "value": "Huge"}]},
            ["Severity is not included in the list"],
        ),
        ({"uploads": [{"token": "1.abc"}]}, ["1 file(s) could not be saved."]),
    ],
)
async def test_invalid_values_return_error_messages(
    api: "Api", fields: dict[str, object], sentences: list[str]
) -> None:
    answer = await api.create("issue", **{"project_id": 1, "subject": "x", **fields})
    assert answer.errors == sentences
    assert not api.data.issues


@pytest.mark.parametrize("project", [3, 4, 99, "nowhere", None])
async def test_unusable_project_is_reported_as_blank(api: "Api", project: object) -> None:
    answer = await api.create("issue", "ben", project_id=project, subject="x")
    assert answer.errors[0] == "Project cannot be blank"


async def test_other_content_types_are_not_parsed(api: "Api") -> None:
    body = b'{"issue": {"project_id": 1, "subject": "x"}}'
    answer = await api("POST", "/issues.json", data=body, headers={"Content-Type": "text/plain"})
    assert "Subject cannot be blank" in answer.errors


async def test_create_without_any_right_is_forbidden(api: "Api", data: Data) -> None:
    for role in (*data.roles.values(), data.non_member):
        role.rights = frozenset({"view_issues"})
    assert (await api.create("issue", project_id=1, subject="x")).status == 403
