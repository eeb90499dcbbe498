from uuid import uuid4

import pytest
from pydantic import SecretStr

from bot.errors import Unauthorized
from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.inputs import NewIssue, NewUser, UserChanges
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


async def test_a_wrong_key_is_rejected(client: Client) -> None:
    with pytest.raises(Unauthorized) as caught:
        await client.get_user(WRONG_KEY)

    assert (caught.value.method, caught.value.path, caught.value.status) == (
        "GET",
        "/users/current.json",
        401,
    )


async def test_a_wrong_key_reads_public_data_and_writes_nothing(client: Client, world: World) -> None:
    numbers = (world.issues["parent"], world.issues["private"], world.issues["vault"])

    seen = await client.list_issues(WRONG_KEY, IssueFilters(issue_ids=numbers))
    assert [issue.id for issue in seen.items] == [world.issues["parent"]]
    with pytest.raises(Unauthorized):
        await client.create_issue(WRONG_KEY, NewIssue(project_id=world.project("public"), subject="No"))


async def test_users_never_see_each_others_secrets(client: Client, world: World) -> None:
    ben = await client.get_user(world.key("ana"), world.users["ben"])

    assert (ben.firstname, ben.lastname) == ("Ben", "Okafor")
    assert {"mail", "api_key", "status"}.isdisjoint(ben.model_fields_set)


async def test_an_administrator_sees_all_user_fields(client: Client, world: World) -> None:
    ben = await client.get_user(world.key("chris"), world.users["ben"], include=["memberships", "groups"])

    assert (ben.login, ben.mail, ben.status, ben.admin) == ("ben", "ben@example.test", 1, False)
    assert ben.api_key == world.key("ben")
    assert world.keys["ben"] not in repr(ben)


async def test_an_administrator_creates_and_changes_users(client: Client, world: World) -> None:
    login = f"nora-{uuid4().hex[:8]}"
    wanted = newcomer(login).model_copy(update={"must_change_passwd": True, "send_information": True})

    made = await client.create_user(world.key("chris"), wanted)
    await client.update_user(world.key("chris"), made.id, UserChanges(lastname="Lund"))

    read = await client.get_user(world.key("chris"), made.id)
    assert (read.login, read.firstname, read.lastname) == (login, "Nora", "Lund")
    assert made.api_key is not None
    assert (await client.get_user(made.api_key)).id == made.id  # works before the password is changed


async def test_a_key_works_while_its_owner_is_active(client: Client, world: World) -> None:
    made = await client.create_user(world.key("chris"), newcomer(f"nora-{uuid4().hex[:8]}"))
    assert made.api_key is not None

    for status in (2, 3):
        await client.update_user(world.key("chris"), made.id, UserChanges(status=status))
        assert (await client.get_user(world.key("chris"), made.id)).status == status
        with pytest.raises(Unauthorized):
            await client.get_user(made.api_key)
    await client.update_user(world.key("chris"), made.id, UserChanges(status=1))
    assert (await client.get_user(made.api_key)).id == made.id
