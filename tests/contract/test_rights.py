"""Who may see and do what: one table for both services (docs/service.md, Responses)."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import pytest
from pydantic import SecretStr

from bot.errors import ServiceError
from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.inputs import AttachmentChanges, NewIssue, TimeEntryChanges, UploadInput, UserChanges
from tests.contract.raw import person, project, time
from tests.contract.world import World

PEOPLE = {"outsider": "nils", "reporter": "ben", "developer": "dora", "manager": "ana", "admin": "chris"}
"""Besides an anonymous user with an invalid key, and a locked user."""

TABLE = """
                                visitor  locked  outsider  reporter  developer  manager  admin
who one is                      401      401     ok        ok        ok         ok       ok
another person                  ok       ok      ok        ok        ok         ok       ok
a locked person                 404      404     404       404       404        404      ok
an unknown person               404      404     404       404       404        404      404
a new person                    401      401     403       403       403        403      ok
a person's other name           401      401     403       403       403        403      ok
the issues                      ok       ok      ok        ok        ok         ok       ok
a public project's issues       ok       ok      ok        ok        ok         ok       ok
a private project's issues      401      401     403       403       403        ok       ok
an archived project's issues    403      403     403       403       403        403      403
a closed project's issues       ok       ok      ok        ok        ok         ok       ok
an unknown project's issues     404      404     404       404       404        404      404
a new issue                     401      401     ok        ok        ok         ok       ok
one in a private project        401      401     422       422       422        ok       ok
one in a closed project         401      401     422       422       422        422      422
one in an archived project      401      401     422       422       422        422      422
one in an unknown project       401      401     422       422       422        422      422
the projects                    ok       ok      ok        ok        ok         ok       ok
a public project                ok       ok      ok        ok        ok         ok       ok
a closed project                ok       ok      ok        ok        ok         ok       ok
a private project               401      401     403       403       403        ok       ok
an archived project             403      403     403       403       403        403      403
an unknown project              404      404     404       404       404        404      404
a new project                   401      401     403       403       403        ok       ok
a new subproject                401      401     403       403       403        ok       ok
a file                          401      401     ok        ok        ok         ok       ok
a developer's file, attached    401      401     403       403       ok         ok       ok
a developer's file alone        401      401     403       403       ok         403      403
time on an issue                401      401     403       ok        ok         ok       ok
time on a project               401      401     403       ok        ok         ok       ok
time on a hidden issue          401      401     403       422       422        ok       ok
time on a hidden project        401      401     403       403       403        ok       ok
time on a closed issue          401      401     403       422       422        422      422
time on a closed project        401      401     403       403       403        403      403
time where none is logged       401      401     403       422       422        422      422
a developer's time              403      403     403       403       ok         ok       ok
unknown time                    404      404     404       404       404        404      404
"""


def expected(line: str) -> tuple[str, dict[str, str]]:
    name, *outcomes = [part.strip() for part in line.split("  ") if part.strip()]
    return name, dict(zip(TABLE.split("\n")[1].split(), outcomes, strict=True))


EXPECTED = dict(expected(line) for line in TABLE.strip().split("\n")[1:])
Action = Callable[[Client, World, SecretStr], Awaitable[object]]


async def content() -> AsyncIterator[bytes]:
    yield b"content"


async def doras_file(client: Client, world: World, *, attached: bool) -> int:
    upload = await client.upload_file(world.key("dora"), content(), filename="of-dora.txt")
    if attached:
        files = (UploadInput(token=upload.token, filename="of-dora.txt"),)
        await client.create_issue(
            world.key("dora"), NewIssue(project_id=world.project("child"), subject="Its file", uploads=files)
        )
    return upload.id


async def rename(client: Client, world: World, key: SecretStr, *, attached: bool) -> None:
    number = await doras_file(client, world, attached=attached)
    await client.update_attachment(key, number, AttachmentChanges(description="Described"))


async def change_doras_time(client: Client, world: World, key: SecretStr) -> None:
    entry = time(world, issue_id=world.issues["child"])
    made = await client.create_time_entry(world.key("dora"), entry)
    await client.update_time_entry(key, made.id, TimeEntryChanges(comments="Changed"))


def read_user(login: str) -> Action:
    return lambda client, world, key: client.get_user(key, world.users.get(login, 99_999))


def read_project(kind: str) -> Action:
    return lambda client, world, key: client.get_project(key, number_of(world, kind))


def list_issues(kind: str) -> Action:
    return lambda client, world, key: client.list_issues(
        key, IssueFilters(project_id=number_of(world, kind)), limit=1
    )


def new_issue(kind: str) -> Action:
    return lambda client, world, key: client.create_issue(
        key, NewIssue(project_id=number_of(world, kind), subject="By right")
    )


def time_on_issue(kind: str) -> Action:
    return lambda client, world, key: client.create_time_entry(key, time(world, issue_id=world.issues[kind]))


def time_on_project(kind: str) -> Action:
    return lambda client, world, key: client.create_time_entry(
        key, time(world, project_id=world.project(kind))
    )


def number_of(world: World, kind: str) -> int:
    return world.project(kind) if kind in world.projects else 99_999


ACTIONS: dict[str, Action] = {
    "who one is": lambda client, _, key: client.get_user(key),
    "another person": read_user("ben"),
    "a locked person": read_user("lena"),
    "an unknown person": read_user("nobody"),
    "a new person": lambda client, _, key: client.create_user(key, person()),
    "a person's other name": lambda client, world, key: client.update_user(
        key, world.users["olga"], UserChanges(firstname="Olga")
    ),
    "the issues": lambda client, _, key: client.list_issues(key, IssueFilters(), limit=1),
    "a public project's issues": list_issues("public"),
    "a private project's issues": list_issues("private"),
    "an archived project's issues": list_issues("archived"),
    "a closed project's issues": list_issues("closed"),
    "an unknown project's issues": list_issues("unknown"),
    "a new issue": new_issue("child"),
    "one in a private project": new_issue("private"),
    "one in a closed project": new_issue("closed"),
    "one in an archived project": new_issue("archived"),
    "one in an unknown project": new_issue("unknown"),
    "the projects": lambda client, _, key: client.list_projects(key, limit=1),
    "a public project": read_project("public"),
    "a closed project": read_project("closed"),
    "a private project": read_project("private"),
    "an archived project": read_project("archived"),
    "an unknown project": read_project("unknown"),
    "a new project": lambda client, _, key: client.create_project(key, project()),
    "a new subproject": lambda client, world, key: client.create_project(
        key, project(parent_id=world.project("private"))
    ),
    "a file": lambda client, _, key: client.upload_file(key, content(), filename="a.txt"),
    "a developer's file, attached": lambda client, world, key: rename(client, world, key, attached=True),
    "a developer's file alone": lambda client, world, key: rename(client, world, key, attached=False),
    "time on an issue": time_on_issue("child"),
    "time on a project": time_on_project("public"),
    "time on a hidden issue": time_on_issue("vault"),
    "time on a hidden project": time_on_project("private"),
    "time on a closed issue": time_on_issue("museum"),
    "time on a closed project": time_on_project("closed"),
    "time where none is logged": time_on_issue("lab"),
    "a developer's time": change_doras_time,
    "unknown time": lambda client, _, key: client.update_time_entry(
        key, 99_999, TimeEntryChanges(comments="No")
    ),
}


async def outcome(action: Awaitable[object]) -> str:
    try:
        await action
    except ServiceError as error:
        return str(error.status)
    return "ok"


def keys(world: World) -> dict[str, SecretStr]:
    return {
        "visitor": SecretStr("0" * 40),
        "locked": world.key("lena"),
        **{name: world.key(login) for name, login in PEOPLE.items()},
    }


@pytest.mark.parametrize("name", ACTIONS)
async def test_users_can_do_exactly_what_they_are_allowed_to(client: Client, world: World, name: str) -> None:
    people = world.some(keys(world).items(), start=list(ACTIONS).index(name))
    outcomes = {who: await outcome(ACTIONS[name](client, world, key)) for who, key in people}

    assert outcomes == {who: EXPECTED[name][who] for who in outcomes}


EVERYBODY = {"parent", "child", "closed", "in_child", "museum", "lab", "olgas"}
SEEN = {
    "visitor": EVERYBODY,
    "locked": EVERYBODY,
    "outsider": EVERYBODY,
    "customer": EVERYBODY - {"lab"},
    "reporter": EVERYBODY,
    "developer": EVERYBODY,
    "manager": EVERYBODY | {"private", "vault"},
    "admin": EVERYBODY | {"private", "vault"},
}


async def test_users_see_exactly_the_issues_they_may_see(client: Client, world: World) -> None:
    async def visible(key: SecretStr, numbers: Mapping[str, int]) -> set[str]:
        page = await client.list_issues(key, IssueFilters(issue_ids=tuple(numbers.values())))
        return {name for name, number in numbers.items() if number in {issue.id for issue in page.items}}

    people = keys(world) | {"customer": world.key("olga")}
    assert {who: await visible(key, world.issues) for who, key in people.items()} == SEEN

    own = NewIssue(
        project_id=world.project("child"),
        subject="Of Dora",
        is_private=True,
        tracker_id=world.trackers["Bug"],
    )
    for_ben = own.model_copy(update={"assigned_to_id": world.users["ben"]})
    numbers = {
        kind: (await client.create_issue(world.key("dora"), new_issue)).id
        for kind, new_issue in {"hers": own, "for Ben": for_ben}.items()
    }
    assert {who: await visible(key, numbers) for who, key in people.items()} == {
        "visitor": set(),
        "locked": set(),
        "outsider": set(),
        "customer": set(),
        "reporter": {"for Ben"},
        "developer": {"hers", "for Ben"},
        "manager": {"hers", "for Ben"},
        "admin": {"hers", "for Ben"},
    }


FIELDS_OF_A_PERSON = {
    "visitor": set[str](),
    "outsider": set[str](),
    "reporter": {"api_key", "admin"},
    "manager": set[str](),
    "admin": {"api_key", "admin", "mail", "login", "status"},
}
MAYBE = {"visitor": {"login"}, "outsider": {"login"}, "manager": {"login"}, "reporter": {"login", "mail"}}


@pytest.mark.parametrize("who", FIELDS_OF_A_PERSON)
async def test_only_the_owner_sees_their_secrets(client: Client, world: World, who: str) -> None:
    ben = await client.get_user(keys(world)[who], world.users["ben"], include=["memberships", "groups"])

    optional_fields = ben.model_fields_set & FIELDS_OF_A_PERSON["admin"]
    assert optional_fields - MAYBE.get(who, set()) == FIELDS_OF_A_PERSON[who]
    assert ben.name == "Ben Okafor"
    if who == "admin":
        shown_values = (ben.login, ben.mail, ben.status, ben.admin, ben.api_key)
        assert shown_values == ("ben", "ben@example.test", 1, False, world.key("ben"))
    assert ("groups" in ben.model_fields_set) == (who == "admin")
    assert world.project("public") in {m.project.id for m in ben.memberships if m.project}
