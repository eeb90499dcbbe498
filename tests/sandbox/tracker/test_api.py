"""What the reference service's API does beyond what `tests/contract` compares with a real Redmine."""

from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from bot.sandbox.tracker.data import Attachment, Data, Issue, Relation, TimeEntry
from bot.sandbox.tracker.defaults import REPORTER

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api, Starter

OPEN = [1, 2, 3, 5, 6, 7, 8, 9, 10]


async def test_a_new_issue_gets_defaults_and_watchers(api: "Api") -> None:
    answer = await api.create("issue", project_id=1, subject="x", category_id=2, watcher_user_ids=[2, 5])
    made = answer.body["issue"]
    assert [made[k]["name"] for k in ("tracker", "status", "priority")] == ["Bug", "New", "Normal"]
    assert made["assigned_to"]["name"] == "Mia Test"  # the category's default
    assert made["start_date"] == "2026-03-11"  # today in Madrid
    assert api.data.issues[1].watcher_ids == {2}  # user 5 is locked
    closed = (await api.create("issue", "chris", project_id=1, subject="x", status_id=5)).body["issue"]
    assert closed["closed_on"] == "2026-03-10T23:30:00Z"


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"issue_id": "><2|5"}, [2, 3, 5]),
        ({"author_id": "!4"}, [2]),
        ({"parent_id": "~1"}, [5, 6]),
        ({"parent_id": "!*"}, [1, 2, 3, 7, 8, 9, 10]),
        ({"subject": "$paper"}, [2]),
        ({"start_date": "*"}, [3]),
        ({"created_on": "2026-03-10"}, [10]),  # still the 9th in UTC, the 10th in Madrid
        ({"closed_on": "!*", "status_id": "*"}, OPEN),
        ({"project_id": 1, "subproject_id": "*"}, [1, 2, 3, 5, 6, 7, 10]),
        ({"project_id": 1, "subproject_id": "!2"}, [1, 2, 3, 5, 6, 10]),
        ({"cf_1": "Major", "project_id": 5}, []),  # another project's field is unavailable
        ({"cf_99": "1", "colour": "red"}, OPEN),
    ],
)
async def test_filters(api: "Api", params: dict[str, str | int], expected: list[int]) -> None:
    assert sorted(await api.found(**params)) == expected


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"start_date": "2026-02-30"}, "Start date is invalid"),
        ({"issue_id": "x"}, "Issue is invalid"),
        ({"tracker_id": ""}, "Tracker cannot be blank"),
        ({"subject": "~"}, "Subject cannot be blank"),
    ],
)
async def test_malformed_filters_return_an_error(api: "Api", params: dict[str, str], sentence: str) -> None:
    assert (await api.get("/issues.json", **params)).errors == [sentence]


@pytest.mark.usefixtures("board")
async def test_invalid_pages_fall_back_to_defaults(api: "Api") -> None:
    for limit, echoed in ((500, 100), (0, 100), ("x", 100)):
        assert (await api.get("/issues.json", limit=limit)).body["limit"] == echoed
    assert (await api.get("/issues.json", offset=-4)).body["offset"] == 0


@pytest.mark.usefixtures("board")
async def test_hours_include_subtasks_and_require_permission(api: "Api", data: Data) -> None:
    day = datetime(2026, 3, 3, tzinfo=UTC).date()
    for number, issue_id in enumerate((1, 5, 6), 1):
        data.time_entries[number] = TimeEntry(number, 1, issue_id, 1, 1, 2, 20, day)
        data.issues[issue_id].estimated_hours = 1.5
    seen = (await api.get("/issues.json", issue_id=1)).body["issues"][0]
    assert (seen["spent_hours"], seen["total_spent_hours"]) == (0.33, 1.0)
    assert (seen["estimated_hours"], seen["total_estimated_hours"]) == (1.5, 4.5)
    assert "spent_hours" not in (await api.get("/issues.json", None, issue_id=1)).body["issues"][0]


@pytest.mark.usefixtures("board")
async def test_pictures_have_thumbnails_and_hidden_relations_are_left_out(
    api: "Api", data: Data, issue: Callable[..., Issue]
) -> None:
    hidden = issue("Hidden", project_id=3)
    data.relations = {1: Relation(1, 1, 2, "precedes", 3), 2: Relation(2, 1, hidden.id)}
    moment = datetime(2026, 3, 1, 8, tzinfo=UTC)
    data.attachments[4] = Attachment(4, "über uns.png", b"png", "image/png", 2, moment, "Me", 1)
    include = "attachments,relations"
    seen = (await api.get("/issues.json", "ben", issue_id=1, include=include)).body["issues"][0]
    assert [relation["issue_to_id"] for relation in seen["relations"]] == [2]
    url = f"{api.tracker.url}/attachments/download/4/%C3%BCber%20uns.png"
    [file] = seen["attachments"]
    assert (file["content_url"], file["thumbnail_url"]) == (url, url)


async def test_manager_creates_and_manages_projects(api: "Api") -> None:
    fields = {"name": "Depot", "identifier": "depot", "parent_id": 1, "inherit_members": True}
    made = (await api.create("project", "mia", **fields, tracker_ids=[2])).body["project"]
    assert made["parent"]["id"] == 1
    assert (await api.create("issue", "mia", project_id=6, subject="x")).body["issue"]["tracker"]["id"] == 2
    own = await api.create("project", "mia", name="Own", identifier="own", enabled_module_names=["wiki"])
    assert own.status == 201
    assert api.data.member(7, 4) is not None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": ""}, "Name cannot be blank"),
        ({"name": "n" * 256}, "Name is too long (maximum is 255 characters)"),
        ({"identifier": None}, "Identifier cannot be blank"),
        ({"identifier": "42"}, "Identifier is invalid"),
        ({"identifier": "n" * 101}, "Identifier is too long (maximum is 100 characters)"),
        ({"parent_id": 3}, "Subproject of is invalid"),
    ],
)
async def test_invalid_project_returns_error_message(
    api: "Api", fields: dict[str, object], sentence: str
) -> None:
    answer = await api.create("project", "mia", **{"name": "New", "identifier": "fine", **fields})
    assert answer.errors == [sentence]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/issues/1.json"),
        ("PUT", "/issues/1.json"),
        ("GET", "/issue_statuses.json"),
        ("GET", "/time_entries.json"),
        ("DELETE", "/users/1.json"),
    ],
)
async def test_only_the_twelve_operations_exist(api: "Api", method: str, path: str) -> None:
    answer = await api(method, path, "chris")
    assert (answer.status, answer.text) == (404, "")


async def test_oversized_body_is_rejected(api: "Api") -> None:
    headers = {"Content-Type": "application/json"}
    assert (await api("POST", "/issues.json", data=BytesIO(b" " * 3_000_000), headers=headers)).status == 413


async def test_start_fails_on_used_port_and_stop_is_idempotent(api: "Api", start: "Starter") -> None:
    other = (await start()).tracker
    await other.stop()
    await other.stop()
    with pytest.raises(RuntimeError):
        _ = other.url
    with pytest.raises(OSError, match="in use"):
        await other.start(port=int(api.tracker.url.rpartition(":")[2]))


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


async def test_an_entry_keeps_what_an_update_does_not_name(api: "Api", issue: Callable[..., Issue]) -> None:
    issue()
    await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    change = {"time_entry": {"hours": 2, "comments": "More", "spent_on": "2026-03-01", "issue_id": 1}}
    await api("PUT", "/time_entries/1.json", json=change)
    entry = api.data.time_entries[1]
    assert (entry.hours, entry.comments, str(entry.spent_on), entry.issue_id) == (2, "More", "2026-03-01", 1)
    assert entry.activity_id == 1
    rejected = await api("PUT", "/time_entries/1.json", json={"time_entry": {"hours": "x"}})
    assert rejected.errors == ["Hours is invalid"]
    assert api.data.time_entries[1].hours == 2


async def test_entry_is_deleted_by_its_author_and_its_number_is_not_used_again(start: "Starter") -> None:
    api = await start(time_deletes=True)
    await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    statuses = [
        (await api("DELETE", "/time_entries/1.json", who)).status for who in (None, "ben", "ana", "ana")
    ]
    assert statuses == [401, 403, 204, 404]
    made = await api.create("time_entry", project_id=1, hours=1, activity_id=1)
    assert made.body["time_entry"]["id"] == 2


async def test_rejected_issue_leaves_its_token_valid(api: "Api") -> None:
    token = (await api.upload(filename="a.txt")).body["upload"]["token"]
    assert (await api.create("issue", project_id=1, subject="", uploads=[{"token": token}])).status == 422
    assert (await api.create("issue", project_id=1, subject="x", uploads=[{"token": token}])).status == 201


async def test_changing_a_file_requires_valid_values(api: "Api") -> None:
    await api.upload(filename="a.txt")
    for changes, sentence in (
        ({"filename": ""}, "File cannot be blank"),
        ({"description": "x" * 256}, "Description is too long (maximum is 255 characters)"),
    ):
        answer = await api("PATCH", "/attachments/1.json", json={"attachment": changes})
        assert answer.errors == [sentence]


@pytest.mark.usefixtures("board")
async def test_update_sets_assignee_only_with_edit_permission(start: "Starter") -> None:
    api = await start(issue_updates=True)
    issue = api.data.issues[1]

    async def assign(who: str, to: int | str | None) -> tuple[int, int | None]:
        changes: dict[str, Any] = {"issue": {"assigned_to_id": to}}
        answer = await api("PUT", "/issues/1.json", who, json=changes)
        return answer.status, issue.assigned_to_id

    assert await assign("ana", 2) == (204, 2)
    assert await assign("mia", "me") == (204, 4)
    assert await assign("ana", None) == (204, 4)
    assert await assign("ana", "") == (204, None)
    assert await assign("chris", "me") == (422, None)  # an administrator, but not a member
    assert await assign("ben", "me") == (403, None)
    api.data.roles[REPORTER].rights |= {"add_notes"}
    assert await assign("ben", "me") == (204, None)
