import asyncio

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from bot.errors import StoredSecretError
from bot.store.database import Database
from bot.store.key_rotation import Rotation
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import LinkRow
from bot.store.vault import Vault

KEY = SecretStr("0123456789abcdef0123456789abcdef01234567")
NEWER = SecretStr("76543210fedcba9876543210fedcba9876543210")


async def test_a_stored_link_can_be_read(store: Store, ana: Owner) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")

    link = await store.links.get(ana)

    assert link is not None
    assert (link.owner, link.key, link.user_id, link.name) == (ana, KEY, 7, "Ana Ruiz")
    assert link.linked_at.utcoffset() is not None


async def test_linking_again_replaces_the_link(store: Store, ana: Owner) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")
    await store.links.put(ana, NEWER, 8, "Ana R.")

    link = await store.links.get(ana)

    assert link is not None
    assert (link.key, link.user_id) == (NEWER, 8)


async def test_add_never_replaces_a_link(store: Store, ana: Owner) -> None:
    answers = await asyncio.gather(
        *(store.links.add(ana, key, number, "Ana") for number, key in enumerate((KEY, NEWER)))
    )
    first = await store.links.get(ana)

    assert sorted(answers) == [False, True]
    assert not await store.links.add(ana, NEWER, 9, "Somebody else")
    assert await store.links.get(ana) == first


async def test_the_same_user_id_in_another_workspace_is_another_user(store: Store, ana: Owner) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")

    assert await store.links.get(Owner(None, "T2", ana.user_id)) is None
    assert await store.links.get(Owner("E1", ana.team_id, ana.user_id)) is None


async def test_delete_returns_whether_there_was_a_link(store: Store, ana: Owner) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")

    assert await store.links.delete(ana)
    assert not await store.links.delete(ana)
    assert await store.links.get(ana) is None


async def test_a_rejected_key_is_deleted_by_one_caller(store: Store, ana: Owner) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")

    answers = await asyncio.gather(*(store.links.delete_if_key(ana, KEY) for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]


async def test_a_rejected_key_does_not_delete_a_newer_link(store: Store, ana: Owner) -> None:
    await store.links.put(ana, NEWER, 7, "Ana Ruiz")

    assert not await store.links.delete_if_key(ana, KEY)
    assert await store.links.get(ana) is not None


async def test_keys_are_encrypted_at_rest_and_hidden_in_reprs(
    store: Store, database: Database, ana: Owner
) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")

    sealed = await database.read(lambda connection: connection.scalars(select(LinkRow.sealed_key)).one())
    assert KEY.get_secret_value() not in sealed
    assert KEY.get_secret_value() not in repr(await store.links.get(ana))


async def test_a_key_copied_to_another_owner_is_refused(
    store: Store, database: Database, ana: Owner, ben: Owner
) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")
    await store.links.put(ben, NEWER, 8, "Ben Okafor")

    anas = select(LinkRow.sealed_key).where(LinkRow.user_id == ana.user_id).scalar_subquery()
    await database.write(lambda connection: connection.execute(update(LinkRow).values(sealed_key=anas)))

    assert await store.links.get(ana) is not None
    with pytest.raises(StoredSecretError):
        await store.links.get(ben)


async def test_other_encryption_keys_decrypt_nothing(store: Store, database: Database, ana: Owner) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")
    stranger = Store(database, Vault([Vault.generate_key()]))

    with pytest.raises(StoredSecretError):
        await stranger.links.get(ana)
    assert not await stranger.links.delete_if_key(ana, KEY)


async def test_rotation_reencrypts_every_key_and_can_resume(database: Database) -> None:
    old, new = Vault.generate_key(), Vault.generate_key()
    before, both, after = (Store(database, Vault(keys)) for keys in ([old], [new, old], [new]))
    owners = [Owner(enterprise, "T1", f"U{n}") for enterprise in (None, "E1") for n in range(3)]
    for owner in owners:
        await before.links.put(owner, KEY, 1, "Somebody")
    await Store(database, Vault([Vault.generate_key()])).links.put(Owner(None, "T9", "U9"), KEY, 1, "Lost")

    interrupted = both.encrypted_values.rotate(batch_size=2)
    assert await anext(interrupted) == Rotation(rewritten=2)
    assert [step async for step in both.encrypted_values.rotate(batch_size=2)][-1] == Rotation(
        rewritten=4, current=2, unreadable=1
    )

    for owner in owners:
        link = await after.links.get(owner)
        assert link is not None
        assert link.key == KEY
