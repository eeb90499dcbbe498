"""Responses on the wire, read without the client (docs/service.md, Responses)."""

import json

import pytest

from tests.contract.raw import OCTETS, Wire, a_token, an_issue, made, some_time
from tests.contract.switches import switched


async def test_a_create_returns_201_with_resource_and_location(wire: Wire) -> None:
    entry = await some_time(wire)
    for kind, answer in {"issue": await an_issue(wire), "time_entry": entry}.items():
        number = answer.json[kind]["id"]
        assert answer.status == 201
        path = f"/{kind}s/{number}".replace("entrys", "entries")
        assert answer.headers["Location"] == wire.world.url + path


async def test_an_update_succeeds_without_content(wire: Wire) -> None:
    number = (await some_time(wire)).json["time_entry"]["id"]
    file = (await a_token(wire)).partition(".")[0]
    for method, path, who, body in (
        ("PUT", f"/time_entries/{number}.json", "ana", {"time_entry": {"comments": "Less"}}),
        ("PATCH", f"/attachments/{file}.json", "ana", {"attachment": {"description": "More"}}),
        ("PUT", f"/users/{wire.world.users['olga']}.json", "chris", {"user": {"lastname": "Petrova"}}),
    ):
        answer = await wire(method, path, who, body=body)
        assert answer.status in (200, 204)
        assert answer.text.strip() == ""


@pytest.mark.parametrize(
    ("status", "method", "path", "who"),
    [
        (401, "GET", "/users/current.json", None),
        (401, "GET", "/users/current.json", "nobody"),
        (401, "GET", "/users/current.json", "lena"),
        (401, "POST", "/issues.json", "lena"),
        (401, "POST", "/uploads.json", None),
        (403, "GET", "/projects/vault.json", "ben"),
        (403, "GET", "/projects/attic.json", "chris"),
        (403, "POST", "/users.json", "ana"),
        (404, "GET", "/users/99999.json", "ana"),
        (404, "GET", "/projects/nowhere.json", "ana"),
        (404, "PATCH", "/attachments/99999.json", "ana"),
        (404, "PUT", "/time_entries/99999.json", "ana"),
        (404, "PUT", "/users/99999.json", "chris"),
    ],
)
async def test_rejections_without_messages_have_empty_bodies(
    wire: Wire, status: int, method: str, path: str, who: str | None
) -> None:
    answer = await wire(method, path, who, body={} if method != "GET" else None)

    assert (answer.status, answer.text.strip()) == (status, "")


async def test_a_wrong_key_sees_public_data(wire: Wire) -> None:
    for path in ("/issues.json", "/projects.json"):
        answers = [await wire("GET", path, who, limit="5") for who in (None, "nobody", "lena")]
        assert [answer.status for answer in answers] == [200] * 3
        assert len({answer.text for answer in answers}) == 1


UNPARSED = {
    "issue": (422, "Subject cannot be blank"),
    "project": (422, "Name cannot be blank"),
    "time_entry": (422, "Hours cannot be blank"),
    "user": (500, ""),
}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", OCTETS])
async def test_a_body_of_another_type_is_not_parsed(wire: Wire, kind: str) -> None:
    for what, (status, sentence) in UNPARSED.items():
        path = f"/{what}s.json".replace("entrys", "entries")
        body = json.dumps({what: {"subject": "Unread", "name": "Unread", "login": "unread", "hours": 1}})

        answer = await wire("POST", path, "chris", body=body, kind=kind)

        assert answer.status == status
        assert sentence in answer.text


async def test_an_upload_requires_the_octet_stream_type(wire: Wire) -> None:
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
        answer = await wire("POST", "/uploads.json", body=b"{}", kind=kind, filename="a.txt")
        assert answer.status == 406 or (kind.startswith("multipart") and answer.status == 400)  # Redmine 6.1


async def test_malformed_json_is_rejected(wire: Wire) -> None:
    for body in ("{", "[1, 2", "nonsense"):
        assert (await wire("POST", "/issues.json", body=body)).status in (400, 500)


ASKED = (
    ("GET", "/users/current.json"),
    ("GET", "/issues.json"),
    ("GET", "/projects.json"),
    ("GET", "/projects/webshop.json"),
    ("POST", "/issues.json"),
    ("POST", "/uploads.json"),
    ("POST", "/time_entries.json"),
)


@pytest.mark.parametrize("who", [None, "nobody", "lena"])
async def test_required_login_hides_everything_from_anonymous_users(wire: Wire, who: str | None) -> None:
    async with switched(wire.world, login_required=True) as world:
        strict = Wire(world, wire.session)
        for method, path in ASKED:
            answer = await strict(method, path, who)
            assert (answer.status, answer.text.strip()) == (401, "")
        assert (await strict("GET", "/projects/webshop.json", "ben")).status == 200


PUBLIC = {("GET", "/issues.json"), ("GET", "/projects.json"), ("GET", "/projects/webshop.json")}


async def test_with_the_api_off_everyone_is_anonymous(wire: Wire) -> None:
    async with switched(wire.world, rest_enabled=False) as world:
        off = Wire(world, wire.session)
        for method, path in ASKED:
            visitor, *others = [await off(method, path, who) for who in (None, "ana", "chris")]
            assert visitor.status == (200 if (method, path) in PUBLIC else 403)
            assert {(answer.status, answer.text) for answer in others} == {(visitor.status, visitor.text)}
    async with switched(wire.world, login_required=True, rest_enabled=False) as world:
        off = Wire(world, wire.session)
        for method, path in ASKED:
            assert (await off(method, path)).status == 403
    assert (await wire("GET", "/users/current.json")).status == 200


async def test_disallowed_values_are_silently_replaced(wire: Wire) -> None:
    world = wire.world
    fields = {
        "project_id": world.project("lab"),
        "subject": "Changed",
        "tracker_id": world.trackers["Support"],
        "status_id": world.statuses["Closed"],
        "is_private": True,
        "parent_issue_id": world.issues["lab"],
        "watcher_user_ids": [world.users["ana"]],
        "custom_fields": [{"id": world.custom_fields["Severity"], "value": "minor"}],
    }

    answer = await made(wire, "issue", "ben", **fields)

    assert answer.status == 201
    issue = answer.json["issue"]
    assert (issue["tracker"]["name"], issue["status"]["name"], issue["is_private"]) == ("Bug", "New", False)
    assert "parent" not in issue
    assert world.custom_fields["Severity"] not in {row["id"] for row in issue["custom_fields"]}


async def test_fields_without_a_value_are_absent_or_null(wire: Wire) -> None:
    issue = (await an_issue(wire, start_date="")).json["issue"]

    assert {"category", "assigned_to", "fixed_version", "parent"}.isdisjoint(issue)
    assert {"attachments", "relations", "journals", "watchers", "children"}.isdisjoint(issue)
    assert [issue[name] for name in ("start_date", "due_date", "estimated_hours", "closed_on")] == [None] * 4
    entry = (await some_time(wire)).json["time_entry"]
    assert entry["comments"] in (None, "")
    assert "author" not in entry
    assert (
        "issue"
        not in (await some_time(wire, issue_id=None, project_id=wire.world.project("public"))).json[
            "time_entry"
        ]
    )


async def test_fields_the_user_may_not_see_are_absent(wire: Wire) -> None:
    for who, kind, is_present in (("ana", "child", True), ("ana", "lab", False), (None, "in_child", True)):
        answer = await wire("GET", "/issues.json", who, issue_id=str(wire.world.issues[kind]))
        [issue] = answer.json["issues"]
        assert ("spent_hours" in issue) == is_present  # `lab` doesn't track time
        assert "watchers" not in issue


async def test_an_unknown_include_and_an_unknown_field_are_ignored(wire: Wire) -> None:
    for path in ("/issues.json", "/projects.json", "/projects/webshop.json", "/users/current.json"):
        plain, odd = [await wire("GET", path, include=value) for value in ("", "nonsense,,attachmentz")]
        assert (odd.status, odd.json) == (200, plain.json)
    assert (await an_issue(wire, nonsense=1, id=4, author_id=1)).json["issue"]["author"]["name"] == "Ana Ruiz"
