"""Links under concurrency, and their encryption; more about that: `tests/hostile/test_storage.py`."""

import asyncio
import re

from pydantic import SecretStr

from bot.store.database import Database
from bot.store.links import Refusals
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import Table
from bot.store.vault import ENCRYPTED, Rotation, Vault

KEY = SecretStr("0123456789abcdef0123456789abcdef01234567")
NEWER = SecretStr("76543210fedcba9876543210fedcba9876543210")


async def test_add_never_replaces_a_link(store: Store, ana: Owner) -> None:
    answers = await asyncio.gather(
        *(store.links.add(ana, key, number, "Ana") for number, key in enumerate((KEY, NEWER)))
    )
    first = await store.links.get(ana)

    assert sorted(answers) == [False, True]
    assert not await store.links.add(ana, NEWER, 9, "Somebody else")
    assert await store.links.get(ana) == first


async def test_refusals_and_the_deletion_of_a_key_have_one_caller(store: Store, ana: Owner) -> None:
    await store.links.put(ana, KEY, 7, "Ana Ruiz")
    older = await store.links.required(ana)
    await store.links.put(ana, NEWER, 7, "Ana Ruiz")
    newer = await store.links.required(ana)
    refusals = Refusals(now := await store.processes.now(), now)

    for link, expected in ((older, None), (newer, refusals)):
        await store.links.refused(link, refusals, [store.jobs.putting("refused", "refused", "")])
        assert (await store.links.required(ana)).refusals == expected
        assert ("refused" in await store.jobs.due_kinds()) == bool(expected)

    assert not await store.links.delete_refused(newer)  # its refusals have changed
    latest = await store.links.required(ana)
    answers = await asyncio.gather(*(store.links.delete_refused(latest) for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]
    assert not await store.links.delete(ana)


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
        rewritten=10,
        current=2,
        unreadable=2,  # each link has a job
    )

    for owner in owners:
        link = await after.links.get(owner)
        assert link is not None
        assert link.key == KEY


def test_every_encrypted_column_is_rotated() -> None:
    columns = [column for table in Table.metadata.tables.values() for column in table.columns]
    secret = re.compile("encrypted|sending|token$")

    assert {column for column in columns if secret.search(column.name)} == set(ENCRYPTED)
