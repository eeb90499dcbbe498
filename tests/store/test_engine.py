import asyncio

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from bot.store.engine import Database, DatabaseUnavailableError
from bot.store.store import Store
from bot.store.tables import Table
from bot.store.vault import Vault

BEFORE = {"continuations"}
"""Tables that are left for replicas of the version before."""


async def test_replicas_that_start_together_migrate_once(url: str) -> None:
    replicas = [Database(url) for _ in range(4)]

    await asyncio.gather(*(replica.open() for replica in replicas))

    assert {await replica.age() for replica in replicas} == {"current"}
    await asyncio.gather(*(replica.close() for replica in replicas))


async def test_the_migrations_make_the_tables_that_the_code_uses(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(
            connection,
            opts={"include_name": lambda name, kind, _: kind != "table" or name not in BEFORE},
        )
        return list(compare_metadata(context, Table.metadata))

    async with database.session() as session:
        assert await (await session.connection()).run_sync(differences) == []


async def test_a_database_from_a_newer_version_is_left_as_it_is(database: Database) -> None:
    async with database.session() as session:
        await session.execute(text("update alembic_version set version_num = '9999'"))

    await database.open()

    assert await database.age() == "newer"
    assert await Store(database, Vault([Vault.generate_key()])).deliveries.claim("Ev1")


async def test_nothing_is_kept_of_a_transaction_that_failed(database: Database) -> None:
    store = Store(database, Vault([Vault.generate_key()]))

    async def fail_after_writing() -> None:
        async with database.session() as session:
            await session.execute(text("insert into deliveries values ('Ev1', '2026-01-01 00:00:00')"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail_after_writing()
    assert await store.deliveries.claim("Ev1")


async def test_what_the_database_refuses_is_told_without_its_values(database: Database) -> None:
    with pytest.raises(SQLAlchemyError) as refused:
        async with database.session() as session:
            await session.execute(text("insert into nowhere values (:value)"), {"value": "canary"})

    assert "nowhere" in str(refused.value)
    assert "canary" not in str(refused.value)


async def test_writers_wait_for_each_other(store: Store) -> None:
    claimed = await asyncio.gather(*(store.deliveries.claim(f"Ev{n}") for n in range(100)))

    assert all(claimed)


async def test_a_new_database_is_not_yet_current(url: str) -> None:
    database = Database(url)

    await database.ping()

    await database.try_writing()
    assert await database.age() == "older"
    await database.close()


@pytest.mark.parametrize(
    "url",
    ["", "bot.db", "sqlite://", "sqlite:///:memory:", "mysql://somebody:pa55word@localhost/bot"],
)
def test_other_addresses_are_refused_with_what_is_meant(url: str) -> None:
    with pytest.raises(ValueError, match="must be sqlite:///") as refused:
        Database(url)
    assert "pa55word" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["sqlite:////nowhere/at/all/bot.db", "postgresql://somebody:pa55word@127.0.0.1:1/bot"],
)
async def test_what_cannot_be_opened_says_why_without_the_password(url: str) -> None:
    database = Database(url)
    for attempt in (database.open, database.ping, database.try_writing, database.age):
        with pytest.raises(DatabaseUnavailableError) as unavailable:
            await attempt()
        assert str(unavailable.value)
        assert "pa55word" not in str(unavailable.value)
    await database.close()
