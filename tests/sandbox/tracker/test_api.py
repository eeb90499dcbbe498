"""What the reference service's API does beyond what `tests/contract` compares with a real Redmine."""

from io import BytesIO

from bot.sandbox.tracker.data import Data, Relation
from bot.sandbox.tracker.defaults import FEATURE
from tests.contract.raw import JSON, Wire, an_issue, made, some_time


async def test_relations_with_hidden_issues_are_left_out(wire: Wire, data: Data) -> None:
    issues = wire.world.issues
    data.relations = {
        1: Relation(1, issues["parent"], issues["child"], "precedes", 3),
        2: Relation(2, issues["parent"], issues["vault"]),
    }

    about = {"issue_id": str(issues["parent"]), "include": "relations"}
    [issue] = (await wire("GET", "/issues.json", "ben", **about)).json["issues"]

    assert [relation["issue_to_id"] for relation in issue["relations"]] == [issues["child"]]


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
    project = await wire("GET", f"/projects/{public}.json", include="time_entry_activities")
    assert project.json["project"]["time_entry_activities"] == [{"id": 2, "name": "Development"}]
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
