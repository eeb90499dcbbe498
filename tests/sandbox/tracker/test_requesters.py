"""Authentication and visibility."""

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from bot.sandbox.tracker.data import Issue

if TYPE_CHECKING:
    from tests.sandbox.tracker.conftest import Api, Starter

WRITES = [
    ("POST", "/issues.json"),
    ("POST", "/projects.json"),
    ("POST", "/users.json"),
    ("POST", "/time_entries.json"),
    ("POST", "/uploads.json"),
    ("PUT", "/users/1.json"),
]


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize("login", [None, "nobody", "leo"])
async def test_missing_invalid_or_locked_key_means_anonymous(api: "Api", login: str | None) -> None:
    assert (await api.get("/users/current.json", login)).status == 401
    assert sorted(await api.found(login)) == [1, 2, 3, 5, 6, 7, 9, 10]  # nothing private
    for method, path in WRITES:
        answer = await api(method, path, login, json={"issue": {"subject": "x", "project_id": 1}})
        assert (answer.status, answer.text) == (401, "")


async def test_required_login_rejects_invalid_keys(start: "Starter") -> None:
    api = await start(login_required=True, key_header="X-Redmine-API-Key")
    for path in ("/issues.json", "/projects.json", "/issue_statuses.json"):
        answer = await api.get(path, "nobody")
        assert (answer.status, answer.text) == (401, "")
    assert (await api.get("/users/current.json", "ana")).body["user"]["login"] == "ana"
    api.header = "X-Service-API-Key"
    assert (await api.get("/users/current.json", "ana")).status == 401


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


async def test_private_issues_are_visible_to_author_assignee_and_permitted_roles(
    api: "Api", issue: Callable[..., Issue]
) -> None:
    issue("Bonus", author_id=3, assigned_to_id=2, is_private=True)
    issue("Salaries", author_id=1, is_private=True)
    issue("For the group", author_id=3, assigned_to_id=9, is_private=True)
    seen = {who: sorted(await api.found(who)) for who in ("ana", "ben", "mia", "chris", None)}
    assert seen == {"ana": [2, 3], "ben": [1], "mia": [1, 2, 3], "chris": [1, 2, 3], None: []}


async def test_user_details_depend_on_the_requester(api: "Api") -> None:
    own = (await api.get("/users/current.json")).body["user"]
    assert (own["login"], own["mail"], own["api_key"]) == ("ana", "ana@x.example", "key-of-ana")
    other = (await api.get("/users/2.json")).body["user"]
    assert other["firstname"] == "Ben"
    assert not {"login", "mail", "api_key", "status", "admin"} & set(other)
    full = (await api.get("/users/2.json", "chris", include="groups,memberships")).body["user"]
    assert (full["status"], full["api_key"], full["groups"]) == (1, "key-of-ben", [])
    assert full["memberships"][0]["project"] == {"id": 1, "name": "Shop"}
    assert full["memberships"][0]["roles"] == [{"id": 3, "name": "Reporter"}]


async def test_memberships_list_only_visible_projects(api: "Api") -> None:
    seen = (await api.get("/users/1.json", "ben", include="memberships,groups")).body["user"]
    assert [m["project"]["name"] for m in seen["memberships"]] == ["Shop", "Attic", "Wiki"]
    assert "groups" not in seen


async def test_hidden_and_unknown_users_return_404(api: "Api") -> None:
    for path in ("/users/5.json", "/users/3.json", "/users/99.json"):
        assert (await api.get(path)).status == 404
    assert (await api.get("/users/5.json", "chris")).body["user"]["status"] == 3


async def test_oversized_or_malformed_body_is_rejected(api: "Api") -> None:
    headers = {"Content-Type": "application/json"}
    assert (await api("POST", "/issues.json", data=b"{oops", headers=headers)).status == 400
    assert (await api("POST", "/issues.json", data=BytesIO(b" " * 3_000_000), headers=headers)).status == 413


async def test_start_fails_on_used_port_and_stop_is_idempotent(api: "Api", start: "Starter") -> None:
    other = (await start()).tracker
    await other.stop()
    await other.stop()
    with pytest.raises(RuntimeError):
        _ = other.url
    with pytest.raises(OSError, match="in use"):
        await other.start(port=int(api.tracker.url.rpartition(":")[2]))
