"""What the reference service's API does beyond what `tests/contract` compares with a real Redmine."""

from datetime import UTC, datetime
from io import BytesIO

from bot.sandbox.tracker.data import Attachment, Data, Relation
from bot.sandbox.tracker.defaults import CLOSED, FEATURE
from tests.contract.raw import JSON, Wire, an_issue, made, some_time


async def test_a_new_issue_gets_defaults_and_watchers(wire: Wire, data: Data) -> None:
    users = wire.world.users
    data.categories[2].assigned_to_id = users["dora"]
    watchers = [users["ben"], users["lena"]]
    given = {"project_id": wire.world.project("public"), "subject": "x", "tracker_id": FEATURE}

    issue = (await an_issue(wire, **given, category_id=2, watcher_user_ids=watchers)).json["issue"]
    closed = (await made(wire, "issue", "chris", **given, status_id=CLOSED)).json["issue"]

    assert issue["assigned_to"]["name"] == "Dora Weiss"  # the category's default
    assert data.issues[issue["id"]].watcher_ids == {users["ben"]}  # Lena is locked
    assert closed["closed_on"] == closed["created_on"]


async def test_spent_hours_require_permission(wire: Wire, data: Data) -> None:
    data.anonymous.rights -= {"view_time_entries"}
    [seen] = (await wire("GET", "/issues.json", None, issue_id="1")).json["issues"]
    assert "spent_hours" not in seen


async def test_pictures_have_thumbnails_and_hidden_relations_are_left_out(wire: Wire, data: Data) -> None:
    issues = wire.world.issues
    data.relations = {
        1: Relation(1, issues["parent"], issues["child"], "precedes", 3),
        2: Relation(2, issues["parent"], issues["vault"]),
    }
    moment = datetime(2026, 3, 1, 8, tzinfo=UTC)
    author, on = wire.world.users["ben"], issues["parent"]
    data.attachments[4] = Attachment(4, "über uns.png", b"png", "image/png", author, moment, "Me", on)
    include = "attachments,relations"

    answer = await wire("GET", "/issues.json", "ben", issue_id=str(issues["parent"]), include=include)

    [seen] = answer.json["issues"]
    assert [relation["issue_to_id"] for relation in seen["relations"]] == [issues["child"]]
    url = f"{wire.world.url}/attachments/download/4/%C3%BCber%20uns.png"
    [file] = seen["attachments"]
    assert (file["content_url"], file["thumbnail_url"]) == (url, url)


async def test_manager_creates_projects_with_trackers_and_is_a_member(wire: Wire, data: Data) -> None:
    own: JSON = {
        "name": "Own",
        "identifier": "own",
        "enabled_module_names": ["issue_tracking"],
        "tracker_ids": [FEATURE],
    }
    number = (await made(wire, "project", **own)).json["project"]["id"]

    assert data.member(number, wire.world.users["ana"]) is not None
    assert (await an_issue(wire, project_id=number)).json["issue"]["tracker"]["id"] == FEATURE
    heir: JSON = {"name": "Heir", "identifier": "heir", "parent_id": number, "inherit_members": True}
    made_below = (await made(wire, "project", **heir)).json["project"]
    assert made_below["parent"]["id"] == number


async def test_only_the_twelve_operations_exist(wire: Wire) -> None:
    for method, path in (
        ("GET", "/issues/1.json"),
        ("PUT", "/issues/1.json"),
        ("GET", "/issue_statuses.json"),
        ("GET", "/time_entries.json"),
        ("DELETE", "/time_entries/1.json"),
        ("DELETE", "/users/1.json"),
    ):
        answer = await wire(method, path, "chris")
        assert (answer.status, answer.text) == (404, "")


async def test_oversized_body_is_rejected(wire: Wire) -> None:
    headers = {wire.world.key_header: wire.world.keys["ana"], "Content-Type": "application/json"}
    body = BytesIO(b" " * 3_000_000)
    async with wire.session.post(f"{wire.world.url}/issues.json", data=body, headers=headers) as answer:
        assert answer.status == 413


async def test_project_can_restrict_activities(wire: Wire, data: Data) -> None:
    public = wire.world.project("public")
    data.projects[public].activity_ids = (2,)
    shown = await wire("GET", f"/projects/{public}.json", include="time_entry_activities")
    assert shown.json["project"]["time_entry_activities"] == [{"id": 2, "name": "Development"}]
    rejected = await some_time(wire, activity_id=1)
    assert rejected.json["errors"] == ["Activity is not included in the list"]
    assert (await some_time(wire, activity_id=2)).status == 201


async def test_logging_for_others_requires_permission(wire: Wire) -> None:
    users, who = wire.world.users, []
    for login, other in (("dora", "ben"), ("ana", "ben"), ("ana", "nils")):
        fields = {"project_id": 1, "hours": 1, "activity_id": 1, "user_id": users[other]}
        answer = await made(wire, "time_entry", login, **fields)
        who.append(answer.json["time_entry"]["user"]["id"])
    assert who == [users["dora"], users["ben"], users["ana"]]  # Nils isn't a member


async def test_an_entry_keeps_what_an_update_does_not_name(wire: Wire, data: Data) -> None:
    await some_time(wire, issue_id=None, project_id=1)
    change = {"time_entry": {"hours": 2, "comments": "More", "spent_on": "2026-03-01", "issue_id": 1}}
    await wire("PUT", "/time_entries/1.json", body=change)
    rejected = await wire("PUT", "/time_entries/1.json", body={"time_entry": {"hours": "x"}})

    entry = data.time_entries[1]
    assert (entry.hours, entry.comments, str(entry.spent_on), entry.issue_id) == (2, "More", "2026-03-01", 1)
    assert entry.activity_id == wire.world.activities["Design"]
    assert rejected.json["errors"] == ["Hours is invalid"]
