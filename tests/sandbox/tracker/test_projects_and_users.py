"""Projects, and the administrator's user operations."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api

NEW_USER = {"login": "nora", "firstname": "Nora", "lastname": "Berg", "mail": "nora@x.example"}


async def test_list_contains_visible_active_projects(api: "Api") -> None:
    names = {}
    for login in ("ana", "ben", None):
        body = (await api.get("/projects.json", login)).body
        names[login] = [p["name"] for p in body["projects"]]
        assert (body["total_count"], body["limit"]) == (len(names[login]), 100)
    assert names["ana"] == ["Shop", "Shop App", "Vault", "Wiki"]
    assert names["ben"] == names[None] == ["Shop", "Shop App", "Wiki"]
    page = (await api.get("/projects.json", limit=1, offset=1)).body
    assert ([p["name"] for p in page["projects"]], page["total_count"]) == (["Shop App"], 4)


async def test_project_includes_its_details(api: "Api") -> None:
    include = "trackers,issue_categories,time_entry_activities,enabled_modules,issue_custom_fields,nonsense"
    api.data.projects[1].default_version_id, api.data.projects[1].default_assignee_id = 1, 4
    customer = next(field for field in api.data.custom_fields.values() if field.name == "Customer")
    customer.project_ids = frozenset({1})  # fields for all projects are not listed
    shop = (await api.get("/projects/shop.json", include=include)).body["project"]
    assert [t["name"] for t in shop["trackers"]] == ["Bug", "Feature", "Support"]
    assert shop["issue_categories"] == [{"id": 1, "name": "Checkout"}, {"id": 2, "name": "Payments"}]
    assert len(shop["time_entry_activities"]) == 4
    assert [m["name"] for m in shop["enabled_modules"]] == ["issue_tracking", "time_tracking"]
    assert [f["name"] for f in shop["issue_custom_fields"]] == ["Customer"]
    assert (shop["default_version"]["name"], shop["default_assignee"]["name"]) == ("1.0", "Mia Test")
    assert (shop["status"], shop["is_public"], shop["homepage"]) == (1, True, None)
    child = (await api.get("/projects/2.json")).body["project"]
    assert child["parent"] == {"id": 1, "name": "Shop"}
    assert "trackers" not in child


async def test_hidden_archived_closed_and_unknown_projects(api: "Api") -> None:
    assert (await api.get("/projects/3.json", "ben")).status == 403
    assert (await api.get("/projects/3.json", None)).status == 401
    assert (await api.get("/projects/99.json")).status == 404
    assert (await api.get("/projects/attic.json")).body["project"]["status"] == 5
    api.data.projects[4].status = 9
    assert (await api.get("/projects/attic.json", "chris")).status == 403


async def test_manager_creates_and_manages_projects(api: "Api") -> None:
    fields = {"name": "Depot", "identifier": "depot", "description": "a\nb", "is_public": False}
    answer = await api.create("project", "mia", **fields, parent_id=1, inherit_members=True, tracker_ids=[2])
    made = answer.body["project"]
    assert (answer.status, answer.headers["Location"]) == (201, f"{api.tracker.url}/projects/6")
    assert (made["description"], made["is_public"], made["parent"]["id"]) == ("a\nb", False, 1)
    assert (await api.create("issue", "mia", project_id=6, subject="x")).body["issue"]["tracker"]["id"] == 2
    roles = (await api.get("/users/1.json", include="memberships")).body["user"]["memberships"][-1]["roles"]
    assert roles == [{"id": 2, "name": "Developer", "inherited": True}]
    own = await api.create("project", "mia", name="Own", identifier="own", enabled_module_names=["wiki"])
    assert own.status == 201
    assert api.data.member(7, 4) is not None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": ""}, "Name cannot be blank"),
        ({"name": "n" * 256}, "Name is too long (maximum is 255 characters)"),
        ({"identifier": None}, "Identifier cannot be blank"),
        ({"identifier": "Not Good"}, "Identifier is invalid"),
        ({"identifier": "42"}, "Identifier is invalid"),
        ({"identifier": "shop"}, "Identifier has already been taken"),
        ({"identifier": "n" * 101}, "Identifier is too long (maximum is 100 characters)"),
        ({"parent_id": 3}, "Subproject of is invalid"),
    ],
)
async def test_invalid_project_returns_error_message(
    api: "Api", fields: dict[str, object], sentence: str
) -> None:
    answer = await api.create("project", "mia", **{"name": "New", "identifier": "fine", **fields})
    assert answer.errors == [sentence]


async def test_creating_projects_requires_permission(api: "Api") -> None:
    assert (await api.create("project", "ana", name="New", identifier="fine")).status == 403


async def test_admin_creates_user_and_receives_the_key(api: "Api") -> None:
    answer = await api.create("user", "chris", **NEW_USER, generate_password=True, must_change_passwd=True)
    made = answer.body["user"]
    assert (answer.status, made["id"], made["status"], len(made["api_key"])) == (201, 10, 1, 40)
    assert answer.headers["Location"] == f"{api.tracker.url}/users/10"
    header = {"X-Service-API-Key": made["api_key"]}
    current = await api("GET", "/users/current.json", None, headers=header)
    assert current.body["user"]["login"] == "nora"


async def test_only_admins_manage_users(api: "Api") -> None:
    assert (await api.create("user", "mia", **NEW_USER)).status == 403
    assert (await api("PUT", "/users/1.json", "ana", json={"user": {"firstname": "A"}})).status == 403
    assert (await api("PUT", "/users/99.json", "chris", json={"user": {}})).status == 404


@pytest.mark.parametrize(
    ("fields", "sentences"),
    [
        (
            dict.fromkeys(NEW_USER, ""),
            [f"{label} cannot be blank" for label in ("Login", "First name", "Last name", "Email")],
        ),
        ({"login": "ANA"}, ["Login has already been taken"]),
        ({"login": "x" * 61}, ["Login is too long (maximum is 60 characters)"]),
        ({"firstname": "x" * 31}, ["First name is too long (maximum is 30 characters)"]),
        ({"mail": "nowhere"}, ["Email is invalid"]),
        ({"mail": "ana@x.example"}, ["Email has already been taken"]),
        ({"password": "short"}, ["Password is too short (minimum is 8 characters)"]),
    ],
)
async def test_invalid_user_returns_error_messages(
    api: "Api", fields: dict[str, str], sentences: list[str]
) -> None:
    assert (await api.create("user", "chris", **{**NEW_USER, **fields})).errors == sentences


async def test_unparsed_user_returns_500(api: "Api") -> None:
    answer = await api("POST", "/users.json", "chris", data=b"{}", headers={"Content-Type": "text/plain"})
    assert (answer.status, answer.text) == (500, "")


async def test_locked_users_key_stops_working(api: "Api") -> None:
    change = {"user": {"status": 3, "lastname": "Gone", "admin": False}}
    assert (await api("PUT", "/users/2.json", "chris", json=change)).status == 204
    assert (await api.get("/users/current.json", "ben")).status == 401
    assert (await api.get("/users/2.json", "chris")).body["user"]["lastname"] == "Gone"
