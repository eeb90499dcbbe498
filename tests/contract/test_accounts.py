import pytest

from bot.errors import Unauthorized
from bot.service.client import Client
from bot.service.inputs import UserChanges
from tests.contract.raw import person
from tests.contract.world import World


async def test_a_key_answers_its_owner(client: Client, world: World) -> None:
    ana = await client.get_user(world.key("ana"), include=["memberships"])

    assert (ana.id, ana.login, ana.firstname, ana.lastname) == (world.users["ana"], "ana", "Ana", "Ruiz")
    assert ana.created_on is not None
    assert ana.created_on.tzinfo is not None
    assert {world.project("public"), world.project("private")} <= {
        m.project.id for m in ana.memberships if m.project
    }
    assert {role.name for membership in ana.memberships for role in membership.roles} == {"Manager"}


async def test_an_administrator_creates_and_changes_users(client: Client, world: World) -> None:
    chris, more = world.key("chris"), {"must_change_passwd": True, "send_information": True}
    new_account = person(name="Nora").model_copy(update=more)

    made = await client.create_user(chris, new_account)
    await client.update_user(chris, made.id, UserChanges(lastname="Lund"))

    read = await client.get_user(chris, made.id)
    assert (read.login, read.firstname, read.lastname) == (new_account.login, "Nora", "Lund")
    assert made.api_key is not None
    assert (await client.get_user(made.api_key)).id == made.id  # works before the password is changed
    for status in (2, 3):
        await client.update_user(chris, made.id, UserChanges(status=status))
        assert (await client.get_user(chris, made.id)).status == status
        with pytest.raises(Unauthorized):
            await client.get_user(made.api_key)
    await client.update_user(chris, made.id, UserChanges(status=1))
    assert (await client.get_user(made.api_key)).id == made.id
