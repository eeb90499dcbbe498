"""Rejections contain the service's own messages, which say what is wrong."""

import pytest

from tests.contract.raw import JSON, Wire, a_token, an_issue, made, some_time

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


async def test_all_errors_are_reported_at_once(wire: Wire) -> None:
    answer = await an_issue(wire, subject="", done_ratio=200, estimated_hours=-1)

    assert {"Subject cannot be blank", "% Done is not included in the list", "Estimated time is invalid"} == {
        *answer.json["errors"]
    }


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
    "an unknown activity": ({"activity_id": 99_999}, "Activity…"),
    "no place": ({"issue_id": None}, "Project cannot be blank"),
    "an unknown project": ({"issue_id": None, "project_id": 99_999}, "Project…"),
    "an unknown issue": ({"issue_id": 99_999}, "Issue is invalid"),
    "no date": ({"spent_on": ""}, "Date cannot be blank"),
    "an odd date": ({"spent_on": "some day"}, "Date…"),
    "an issue of elsewhere": ({"project_id": "child"}, "Issue is invalid"),
}


async def test_the_comment_length_limit_is_exact(wire: Wire) -> None:
    answer = await some_time(wire, comments="ü" * 1024)

    assert answer.json["time_entry"]["comments"] == "ü" * 1024


SOMEBODY = {
    "login": "somebody",
    "firstname": "Some",
    "lastname": "Body",
    "mail": "somebody@example.test",
    "generate_password": True,
}
REFUSED_USERS: dict[str, tuple[JSON, str]] = {
    "no login": ({"login": ""}, "Login cannot be blank"),
    "a long login": ({"login": "x" * 61}, "Login is too long (maximum is 60 characters)"),
    "an odd login": ({"login": "né e"}, "Login is invalid"),
    "a taken login": ({"login": "BEN"}, "Login has already been taken"),
    "no first name": ({"firstname": ""}, "First name cannot be blank"),
    "a long first name": ({"firstname": "x" * 31}, "First name is too long (maximum is 30 characters)"),
    "no last name": ({"lastname": ""}, "Last name cannot be blank"),
    "a long last name": ({"lastname": "x" * 256}, "Last name is too long…"),
    "no mail": ({"mail": ""}, "Email cannot be blank"),
    "an odd mail": ({"mail": "nobody"}, "Email is invalid"),
    "a taken mail": ({"mail": "ben@example.test"}, "Email has already been taken"),
    "a short password": (
        {"password": "1234567", "generate_password": False},
        "Password is too short (minimum is 8 characters)",
    ),
}


REFUSED_PROJECTS: dict[str, tuple[JSON, str]] = {
    "no name": ({"name": ""}, "Name cannot be blank"),
    "a long name": ({"name": "n" * 256}, "Name is too long (maximum is 255 characters)"),
    "no identifier": ({"identifier": None}, "Identifier cannot be blank"),
    "a number as identifier": ({"identifier": "42"}, "Identifier is invalid"),
    "a long identifier": ({"identifier": "n" * 101}, "Identifier is too long (maximum is 100 characters)"),
    "no parent for it": ({"parent_id": "archived"}, "Subproject of is invalid"),
}
REFUSED_FILES: dict[str, tuple[JSON, str]] = {
    "no name": ({"filename": ""}, "File cannot be blank"),
    "a long description": ({"description": "x" * 256}, "Description is too long (maximum is 255 characters)"),
}


REFUSED = [
    *(("issue", name, *case) for name, case in REFUSED_ISSUES.items()),
    *(("time_entry", name, *case) for name, case in REFUSED_TIME.items()),
    *(("user", name, *case) for name, case in REFUSED_USERS.items()),
    *(("project", name, *case) for name, case in REFUSED_PROJECTS.items()),
    *(("file", name, *case) for name, case in REFUSED_FILES.items()),
]


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [(k, f, s) for k, _, f, s in REFUSED],
    ids=[f"{k}: {n}" for k, n, _, _ in REFUSED],
)
async def test_invalid_values_get_a_message(wire: Wire, kind: str, fields: JSON, sentence: str) -> None:
    world = wire.world
    named = {"nils": world.users["nils"], **{kind: world.project(kind) for kind in ("child", "archived")}}
    known = {key: named.get(value, value) for key, value in fields.items()}

    match kind:
        case "issue":
            answer = await an_issue(wire, **known)
        case "time_entry":
            answer = await some_time(wire, **known)
        case "project":
            answer = await made(wire, "project", "ana", **({"name": "New", "identifier": "fine"} | known))
        case "file":
            number = (await a_token(wire)).partition(".")[0]
            answer = await wire("PATCH", f"/attachments/{number}.json", body={"attachment": known})
        case _:
            answer = await made(wire, "user", "chris", **(SOMEBODY | known))

    assert answer.status == 422
    messages = answer.json["errors"]
    if sentence.endswith("…"):
        messages = [f"{error[: len(sentence) - 1]}…" for error in messages]
    assert sentence in messages
