from uuid import uuid4

import pytest
from pydantic import SecretStr

from bot.errors import Forbidden, NotFound, Refused, Unauthorized
from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.writes import NewIssue, NewUser, UserChanges
from tests.contract.world import World

WRONG_KEY = SecretStr("0" * 40)


def newcomer(login: str) -> NewUser:
    return NewUser(
        login=login,
        firstname="Nora",
        lastname="Berg",
        mail=f"{login}@example.test",
        generate_password=True,
    )


async def test_a_key_answers_its_owner(client: Client, world: World) -> None:
    ana = await client.get_user(world.key("ana"), include=["memberships"])

    assert (ana.id, ana.login, ana.firstname, ana.lastname) == (world.users["ana"], "ana", "Ana", "Ruiz")
    assert ana.created_on is not None
    assert ana.created_on.tzinfo is not None
    assert {world.project("public"), world.project("private")} <= {
        m.project.id for m in ana.memberships if m.project
    }
    assert {role.name for membership in ana.memberships for role in membership.roles} == {"Manager"}


async def test_a_wrong_key_is_nobodys(client: Client) -> None:
    with pytest.raises(Unauthorized) as caught:
        await client.get_user(WRONG_KEY)

    assert (caught.value.method, caught.value.path, caught.value.status) == (
        "GET",
        "/users/current.json",
        401,
    )


async def test_a_wrong_key_reads_what_is_public_and_writes_nothing(client: Client, world: World) -> None:
    numbers = (world.issues["parent"], world.issues["private"], world.issues["vault"])

    seen = await client.list_issues(WRONG_KEY, IssueFilters(issue_ids=numbers))
    assert [issue.id for issue in seen.items] == [world.issues["parent"]]
    with pytest.raises(Unauthorized):
        await client.create_issue(WRONG_KEY, NewIssue(project_id=world.project("public"), subject="No"))


async def test_others_see_no_secrets_of_a_person(client: Client, world: World) -> None:
    ben = await client.get_user(world.key("ana"), world.users["ben"])

    assert (ben.firstname, ben.lastname) == ("Ben", "Okafor")
    assert {"mail", "api_key", "status"}.isdisjoint(ben.model_fields_set)


async def test_an_administrator_sees_all_of_a_person(client: Client, world: World) -> None:
    ben = await client.get_user(world.key("chris"), world.users["ben"], include=["memberships", "groups"])

    assert (ben.login, ben.mail, ben.status, ben.admin) == ("ben", "ben@example.test", 1, False)
    assert ben.api_key == world.key("ben")
    assert world.keys["ben"] not in repr(ben)


async def test_an_administrator_creates_and_changes_users(client: Client, world: World) -> None:
    login = f"nora-{uuid4().hex[:8]}"

    made = await client.create_user(world.key("chris"), newcomer(login))
    await client.update_user(world.key("chris"), made.id, UserChanges(lastname="Lund"))

    read = await client.get_user(world.key("chris"), made.id)
    assert (read.login, read.firstname, read.lastname) == (login, "Nora", "Lund")
    assert made.api_key is not None
    assert (await client.get_user(made.api_key)).id == made.id


async def test_a_taken_login_is_refused_with_the_services_sentences(client: Client, world: World) -> None:
    with pytest.raises(Refused) as caught:
        await client.create_user(world.key("chris"), newcomer("ben"))

    assert caught.value.status == 422
    assert "Login has already been taken" in caught.value.errors


async def test_locking_a_user_ends_their_key(client: Client, world: World) -> None:
    made = await client.create_user(world.key("chris"), newcomer(f"nora-{uuid4().hex[:8]}"))
    assert made.api_key is not None

    await client.update_user(world.key("chris"), made.id, UserChanges(status=3))

    with pytest.raises(Unauthorized):
        await client.get_user(made.api_key)


async def test_users_are_administrators_business(client: Client, world: World) -> None:
    with pytest.raises(Forbidden):
        await client.create_user(world.key("ana"), newcomer("nobody"))
    with pytest.raises(Forbidden):
        await client.update_user(world.key("ana"), world.users["ben"], UserChanges(firstname="Benny"))


async def test_an_unknown_user_is_not_found(client: Client, world: World) -> None:
    with pytest.raises(NotFound):
        await client.get_user(world.key("ana"), 99_999)
