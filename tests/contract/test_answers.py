"""The facts of service-facts.md as they come over the wire, read without the client."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.contract.switches import switched
from tests.contract.world import World

JSON = dict[str, Any]
OCTETS = "application/octet-stream"


@dataclass(frozen=True)
class Answer:
    """What came back; `json` is None for a body that is none."""

    status: int
    headers: Mapping[str, str]
    text: str
    json: Any = field(default=None)


class Wire:
    """Asks the service."""

    def __init__(self, world: World, session: aiohttp.ClientSession) -> None:
        self.world = world
        self.session = session

    async def __call__(
        self,
        method: str,
        path: str,
        who: str | None = "ana",
        *,
        body: JSON | bytes | str | None = None,
        kind: str = "application/json",
        **params: str,
    ) -> Answer:
        """`who` is a login, None without a key; a body that is a dict is sent as JSON."""
        headers = {"Content-Type": kind}
        if who:
            headers[self.world.key_header] = self.world.keys.get(who, "0" * 40)
        data = json.dumps(body) if isinstance(body, dict) else body
        async with self.session.request(
            method, self.world.url + path, data=data, headers=headers, params=params
        ) as answer:
            text = await answer.text()
            parsed = json.loads(text) if text.strip() and "json" in answer.content_type else None
            return Answer(answer.status, answer.headers, text, parsed)


@pytest_asyncio.fixture
async def wire(world: World) -> AsyncIterator[Wire]:
    async with aiohttp.ClientSession() as session:
        yield Wire(world, session)


async def made(wire: Wire, what: str, who: str = "ana", **fields: Any) -> Answer:
    return await wire("POST", f"/{what}s.json".replace("entrys", "entries"), who, body={what: fields})


async def an_issue(wire: Wire, **fields: Any) -> Answer:
    given = {"project_id": wire.world.project("child"), "subject": "An answer", **fields}
    return await made(wire, "issue", **given)


async def some_time(wire: Wire, **fields: Any) -> Answer:
    world = wire.world
    given = {
        "issue_id": world.issues["child"],
        "hours": 1,
        "activity_id": world.activities["Design"],
        **fields,
    }
    return await made(wire, "time_entry", **given)


async def a_token(wire: Wire, content: bytes = b"content", name: str = "a.txt") -> str:
    uploaded = await wire("POST", "/uploads.json", body=content, kind=OCTETS, filename=name)
    assert uploaded.status == 201
    token: str = uploaded.json["upload"]["token"]
    return token


async def test_a_create_answers_201_with_the_resource_and_its_place(wire: Wire) -> None:
    entry = await some_time(wire)
    for kind, answer in {"issue": await an_issue(wire), "time_entry": entry}.items():
        number = answer.json[kind]["id"]
        assert answer.status == 201
        path = f"/{kind}s/{number}".replace("entrys", "entries")
        assert answer.headers["Location"] == wire.world.url + path


async def test_an_update_answers_a_success_without_content(wire: Wire) -> None:
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
async def test_a_refusal_without_sentences_is_empty(
    wire: Wire, status: int, method: str, path: str, who: str | None
) -> None:
    answer = await wire(method, path, who, body={} if method != "GET" else None)

    assert (answer.status, answer.text.strip()) == (status, "")


async def test_a_wrong_key_sees_what_is_public(wire: Wire) -> None:
    for path in ("/issues.json", "/projects.json"):
        seen = [await wire("GET", path, who, limit="100") for who in (None, "nobody", "lena")]
        assert [answer.status for answer in seen] == [200] * 3
        assert len({answer.text for answer in seen}) == 1


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", OCTETS])
async def test_a_body_of_another_type_is_not_parsed(wire: Wire, kind: str) -> None:
    body = json.dumps({"issue": {"project_id": wire.world.project("child"), "subject": "Unread"}})

    answer = await wire("POST", "/issues.json", body=body, kind=kind)

    assert answer.status == 422
    assert "Subject cannot be blank" in answer.json["errors"]


async def test_an_upload_must_be_octets(wire: Wire) -> None:
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
        assert (await wire("POST", "/uploads.json", body=b"{}", kind=kind, filename="a.txt")).status == 406


async def test_no_json_is_no_success(wire: Wire) -> None:
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
async def test_where_a_login_is_needed_nobody_else_sees_anything(wire: Wire, who: str | None) -> None:
    async with switched(wire.world, login_required=True) as world:
        strict = Wire(world, wire.session)
        for method, path in ASKED:
            answer = await strict(method, path, who)
            assert (answer.status, answer.text.strip()) == (401, "")
        assert (await strict("GET", "/projects/webshop.json", "ben")).status == 200


PUBLIC = {("GET", "/issues.json"), ("GET", "/projects.json"), ("GET", "/projects/webshop.json")}


async def test_where_the_interface_is_switched_off_everybody_is_a_visitor(wire: Wire) -> None:
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


REFUSED_ISSUES: dict[str, tuple[JSON, str]] = {
    "no subject": ({"subject": ""}, "Subject cannot be blank"),
    "a long subject": ({"subject": "x" * 256}, "Subject is too long (maximum is 255 characters)"),
    "no such priority": ({"priority_id": 99_999}, "Priority cannot be blank"),
    "no such parent": ({"parent_issue_id": 99_999}, "Parent task is invalid"),
    "no such version": ({"fixed_version_id": 99_999}, "Target version is not included in the list"),
    "no such assignee": ({"assigned_to_id": 99_999}, "Assignee is invalid"),
    "no member as assignee": ({"assigned_to_id": "nils"}, "Assignee is invalid"),
    "no date": ({"start_date": "soon"}, "Start date is not a valid date"),
    "due before start": (
        {"start_date": "2024-02-02", "due_date": "2024-02-01"},
        "Due date must be greater than start date",
    ),
    "a category of elsewhere": ({"category_id": 1}, "Category is not included in the list"),
    "more than all done": ({"done_ratio": 101}, "% Done is not included in the list"),
    "less than no time": ({"estimated_hours": -1}, "Estimated time is invalid"),
    "no estimate": ({"estimated_hours": "long"}, "Estimated time is invalid"),
}


@pytest.mark.parametrize("name", REFUSED_ISSUES)
async def test_an_issue_is_refused_with_a_sentence(wire: Wire, name: str) -> None:
    fields, sentence = REFUSED_ISSUES[name]
    known = {key: wire.world.users.get(value, value) for key, value in fields.items()}

    answer = await an_issue(wire, **known)

    assert answer.status == 422
    assert sentence in answer.json["errors"]


async def test_all_that_is_wrong_is_said_at_once(wire: Wire) -> None:
    answer = await an_issue(wire, subject="", done_ratio=200, estimated_hours=-1)

    assert {"Subject cannot be blank", "% Done is not included in the list", "Estimated time is invalid"} == {
        *answer.json["errors"]
    }


async def test_what_may_not_be_set_is_changed_without_a_word(wire: Wire) -> None:
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


async def test_what_has_no_value_is_absent_or_null(wire: Wire) -> None:
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


async def test_an_unknown_include_and_an_unknown_field_are_ignored(wire: Wire) -> None:
    for path in ("/issues.json", "/projects.json", "/projects/webshop.json", "/users/current.json"):
        plain, odd = [await wire("GET", path, include=value) for value in ("", "nonsense,,attachmentz")]
        assert (odd.status, odd.json) == (200, plain.json)
    assert (await an_issue(wire, nonsense=1, id=4, author_id=1)).json["issue"]["author"]["name"] == "Ana Ruiz"


async def test_lines_end_as_on_the_wire(wire: Wire) -> None:
    texts = ("a\nb", "a\r\nb", "a\r\n\nb\n")
    kept = [(await an_issue(wire, description=text)).json["issue"]["description"] for text in texts]

    assert kept == ["a\r\nb", "a\r\nb", "a\r\n\r\nb\r\n"]


HOURS: dict[str, tuple[object, float | None]] = {
    "twenty minutes": (1 / 3, 0.33),
    "a fraction in a text": ("0.5", 0.5),
    "a comma": ("1,5", 1.5),
    "a clock": ("1:45", 1.75),
    "units": ("1h30", 1.5),
    "minutes": ("90m", 1.5),
    "a whole minute": (1 / 60, 0.02),
    "negative": (-1, None),
    "words": ("long", None),
    "nothing": ("", None),
    "null": (None, None),
}


@pytest.mark.parametrize("name", HOURS)
async def test_hours_are_kept_to_the_minute(wire: Wire, name: str) -> None:
    sent, kept = HOURS[name]

    answer = await some_time(wire, hours=sent)

    if kept is None:
        assert answer.status == 422
        assert answer.json["errors"][0] in ("Hours is invalid", "Hours cannot be blank")
    else:
        assert (answer.status, float(answer.json["time_entry"]["hours"])) == (201, kept)


REFUSED_TIME: dict[str, tuple[JSON, str]] = {
    "a long comment": ({"comments": "x" * 1025}, "Comment is too long (maximum is 1024 characters)"),
    "no activity": ({"activity_id": None}, "Activity cannot be blank"),
    "an unknown activity": ({"activity_id": 99_999}, "Activity"),
    "no place": ({"issue_id": None}, "Project cannot be blank"),
    "an unknown project": ({"issue_id": None, "project_id": 99_999}, "Project"),
    "no date": ({"spent_on": ""}, "Date cannot be blank"),
    "an odd date": ({"spent_on": "some day"}, "Date"),
    "an issue of elsewhere": ({"project_id": "child"}, "Issue is invalid"),
}


@pytest.mark.parametrize("name", REFUSED_TIME)
async def test_time_is_refused_with_a_sentence(wire: Wire, name: str) -> None:
    fields, sentence = REFUSED_TIME[name]

    known = {key: wire.world.project("child") if value == "child" else value for key, value in fields.items()}

    answer = await some_time(wire, **known)

    assert answer.status == 422
    assert any(said.startswith(sentence) for said in answer.json["errors"])


async def test_a_comment_may_be_as_long_as_that(wire: Wire) -> None:
    answer = await some_time(wire, comments="ü" * 1024)

    assert answer.json["time_entry"]["comments"] == "ü" * 1024


REFUSED_USERS: dict[str, tuple[JSON, str]] = {
    "no login": ({"login": ""}, "Login cannot be blank"),
    "a long login": ({"login": "x" * 61}, "Login is too long (maximum is 60 characters)"),
    "an odd login": ({"login": "né e"}, "Login is invalid"),
    "a taken login": ({"login": "BEN"}, "Login has already been taken"),
    "no first name": ({"firstname": ""}, "First name cannot be blank"),
    "a long first name": ({"firstname": "x" * 31}, "First name is too long (maximum is 30 characters)"),
    "no last name": ({"lastname": ""}, "Last name cannot be blank"),
    "a long last name": ({"lastname": "x" * 256}, "Last name is too long"),
    "no mail": ({"mail": ""}, "Email cannot be blank"),
    "an odd mail": ({"mail": "nobody"}, "Email is invalid"),
    "a taken mail": ({"mail": "ben@example.test"}, "Email has already been taken"),
    "a short password": (
        {"password": "1234567", "generate_password": False},
        "Password is too short (minimum is 8 characters)",
    ),
}


@pytest.mark.parametrize("name", REFUSED_USERS)
async def test_a_person_is_refused_with_a_sentence(wire: Wire, name: str) -> None:
    fields, sentence = REFUSED_USERS[name]
    good = {
        "login": "somebody",
        "firstname": "Some",
        "lastname": "Body",
        "mail": "somebody@example.test",
        "generate_password": True,
    }

    answer = await made(wire, "user", "chris", **(good | fields))

    assert answer.status == 422
    assert any(said.startswith(sentence) for said in answer.json["errors"])


FILES = {
    "as large as may be": 0,
    "a byte more": 1,
    "twice as large": 64 * 1024,
}


@pytest.mark.parametrize("name", FILES)
async def test_a_file_may_be_as_large_as_that(wire: Wire, name: str) -> None:
    content = b"x" * (wire.world.max_upload + FILES[name])

    answer = await wire("POST", "/uploads.json", body=content, kind=OCTETS, filename="large.bin")

    assert answer.status == (422 if FILES[name] else 201)
    if FILES[name]:
        assert any(size in answer.json["errors"][0] for size in ("(64 KB)", f"({wire.world.max_upload})"))


async def test_an_empty_file_is_one_too(wire: Wire) -> None:
    token = await a_token(wire, b"")

    issue = (await an_issue(wire, uploads=[{"token": token, "filename": "nothing.txt"}])).json["issue"]

    listed = await wire("GET", "/issues.json", issue_id=str(issue["id"]), include="attachments")
    [file] = listed.json["issues"][0]["attachments"]
    assert (file["filename"], file["filesize"]) == ("nothing.txt", 0)


NAMES = {
    "../../etc/passwd": "passwd",
    "C:\\Users\\ana\\notes.txt": "notes.txt",
    "a:b*c?d.txt": "a_b_c_d.txt",
    "<i>\"a'|b%.txt": "_i_a_b_.txt",
    "two\nlines.txt": "two_lines.txt",
    "büro 🙂 ﷽.txt": "büro 🙂 ﷽.txt",
    "e\u0301 and \u00e9.txt": "e\u0301 and \u00e9.txt",
    "\u202egnp.txt": "\u202egnp.txt",
    ".hidden": ".hidden",
    "x" * 251 + ".txt": "x" * 251 + ".txt",
}


async def test_a_files_name_is_cleaned(wire: Wire) -> None:
    tokens = {name: await a_token(wire, name.encode(), name) for name in NAMES}

    uploads = [{"token": token, "filename": name} for name, token in tokens.items()]
    issue = (await an_issue(wire, uploads=uploads)).json["issue"]

    listed = await wire("GET", "/issues.json", issue_id=str(issue["id"]), include="attachments")
    files = {str(file["id"]): file["filename"] for file in listed.json["issues"][0]["attachments"]}
    assert {name: files[token.partition(".")[0]] for name, token in tokens.items()} == NAMES


async def test_too_long_a_name_of_a_file_is_refused(wire: Wire) -> None:
    answer = await wire("POST", "/uploads.json", body=b"x", kind=OCTETS, filename="x" * 256)

    assert answer.status == 422
    assert "is too long (maximum is 255 characters)" in answer.json["errors"][0]


async def test_a_token_is_good_once_for_whoever_has_it(wire: Wire) -> None:
    token = await a_token(wire)
    uploads = [{"token": token, "filename": "a.txt"}]
    given = {"project_id": wire.world.project("child"), "subject": "With a token", "uploads": uploads}

    first = await made(wire, "issue", "ben", **given)
    second = await an_issue(wire, uploads=uploads)
    invented = await an_issue(wire, uploads=[{"token": "1.abc", "filename": "a.txt"}])

    assert first.status == 201
    for refused in (second, invented):
        assert (refused.status, refused.json["errors"]) == (422, ["1 file(s) could not be saved."])
