"""POST /time_entries.json and PUT /time_entries/{id}.json."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from bot.sandbox.tracker.data import Issue

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api, Starter


async def test_time_on_an_issue_belongs_to_its_project(api: "Api", issue: Callable[..., Issue]) -> None:
    issue()
    answer = await api.create("time_entry", issue_id=1, hours=0.3333, activity_id=2, comments="Looked")
    assert answer.status == 201
    assert answer.body["time_entry"] == {
        "id": 1,
        "project": {"id": 1, "name": "Shop"},
        "issue": {"id": 1},
        "user": {"id": 1, "name": "Ana Test"},
        "activity": {"id": 2, "name": "Development"},
        "hours": 0.33,
        "comments": "Looked",
        "spent_on": "2026-03-11",
        "created_on": "2026-03-10T23:30:00Z",
        "updated_on": "2026-03-10T23:30:00Z",
    }


@pytest.mark.parametrize(
    ("sent", "hours"),
    [("1.5", 1.5), ("1,5", 1.5), ("1:30", 1.5), ("1h30", 1.5), ("90m", 1.5), ("2h", 2.0), (3, 3.0)],
)
async def test_hours_accept_common_notations(api: "Api", sent: object, hours: float) -> None:
    answer = await api.create("time_entry", project_id="shop", hours=sent, activity_id=1)
    assert (answer.body["time_entry"]["hours"], "issue" in answer.body["time_entry"]) == (hours, False)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"project_id": None}, "Project cannot be blank"),
        ({"project_id": 99}, "Project is invalid"),
        ({"project_id": None, "issue_id": 99}, "Issue is invalid"),
        ({"project_id": None, "issue_id": 1}, "Issue is invalid"),  # its project forbids logging
        ({"issue_id": 1}, "Issue is invalid"),
        ({"hours": None}, "Hours cannot be blank"),
        ({"hours": "a while"}, "Hours is invalid"),
        ({"hours": 0}, "Hours is invalid"),
        ({"hours": 1000}, "Hours is invalid"),
        ({"activity_id": None}, "Activity cannot be blank"),
        ({"activity_id": 99}, "Activity is not included in the list"),
        ({"spent_on": "yesterday"}, "Date is not a valid date"),
        ({"spent_on": ""}, "Date cannot be blank"),
        ({"comments": "x" * 1025}, "Comment is too long (maximum is 1024 characters)"),
    ],
)
async def test_invalid_values_return_error_messages(
    api: "Api", issue: Callable[..., Issue], fields: dict[str, object], sentence: str
) -> None:
    issue(project_id=5)
    answer = await api.create("time_entry", **{"project_id": 1, "hours": 1, "activity_id": 1, **fields})
    assert answer.errors == [sentence]
    assert not api.data.time_entries


async def test_logging_in_a_project_without_time_tracking_is_forbidden(api: "Api") -> None:
    for project, login in ((5, "ana"), (4, "ana"), (2, "ana")):
        answer = await api.create("time_entry", login, project_id=project, hours=1, activity_id=1)
        assert (answer.status, answer.text) == (403, "")


async def test_project_can_restrict_activities(api: "Api") -> None:
    api.data.projects[1].activity_ids = (2,)
    shown = await api("GET", "/projects/1.json?include=time_entry_activities")
    assert shown.body["project"]["time_entry_activities"] == [{"id": 2, "name": "Development"}]
    rejected = await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    assert rejected.errors == ["Activity is not included in the list"]
    assert (await api.create("time_entry", project_id=1, hours=1, activity_id=2)).status == 201


async def test_logging_for_others_requires_permission(api: "Api") -> None:
    users = []
    for login, user_id in (("ana", 2), ("mia", 2), ("mia", 3)):
        entry = {"project_id": 1, "hours": 1, "activity_id": 1, "user_id": user_id}
        answer = await api.create("time_entry", login, **entry)
        users.append(answer.body["time_entry"]["user"]["id"])
    assert users == [1, 2, 4]


async def test_own_entry_can_be_edited(start: "Starter", issue: Callable[..., Issue]) -> None:
    issue()
    api = await start(empty_updates=200)
    await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    change = {"time_entry": {"hours": 2, "comments": "More", "spent_on": "2026-03-01", "issue_id": 1}}
    answer = await api("PUT", "/time_entries/1.json", json=change)
    assert (answer.status, answer.text) == (200, " ")
    entry = api.data.time_entries[1]
    assert (entry.hours, entry.comments, str(entry.spent_on), entry.issue_id) == (2, "More", "2026-03-01", 1)
    assert entry.activity_id == 1
    rejected = await api("PUT", "/time_entries/1.json", json={"time_entry": {"hours": "x"}})
    assert rejected.errors == ["Hours is invalid"]
    assert api.data.time_entries[1].hours == 2


async def test_editing_others_entries_requires_permission(api: "Api") -> None:
    await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    change: dict[str, Any] = {"json": {"time_entry": {"hours": 2}}}
    statuses = [(await api("PUT", "/time_entries/1.json", who, **change)).status for who in ("ben", "mia")]
    assert statuses == [403, 204]
    assert (await api("PUT", "/time_entries/9.json", **change)).status == 404
    assert (await api("PUT", "/time_entries/1.json", None, **change)).status == 403


async def test_entry_is_deleted_by_its_author_and_its_number_is_not_used_again(start: "Starter") -> None:
    api = await start(time_deletes=True)
    await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    statuses = [
        (await api("DELETE", "/time_entries/1.json", who)).status for who in (None, "ben", "ana", "ana")
    ]
    assert statuses == [401, 403, 204, 404]
    made = await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    assert made.body["time_entry"]["id"] == 2
