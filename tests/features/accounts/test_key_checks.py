"""Which requests check a key, and when."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr

from bot.errors import KeyRejected, Unreachable
from bot.features.accounts.accounts import Accounts, Session
from bot.sandbox.demo import demo_data
from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from bot.service.client import Client
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from tests.support.wire import Wire

OWNER = Owner(None, "T0HARBOR01", "U0ANA0001")
READ, CHECK = "GET /projects/1.json", "GET /users/current.json"


@pytest_asyncio.fixture
async def wire() -> AsyncIterator[Wire]:
    tracker = Tracker(demo_data(datetime.now(UTC)))
    await tracker.start()
    wire = Wire(tracker.url)
    await wire.up()
    yield wire
    await wire.down()
    await tracker.stop()


@pytest_asyncio.fixture
async def client(wire: Wire) -> AsyncIterator[Client]:
    async with Client(wire.url) as client:
        yield client


@pytest_asyncio.fixture
async def accounts(client: Client, wire: Wire, tmp_path: Path) -> AsyncIterator[Accounts]:
    """The accounts, with one link."""
    database = Database(f"sqlite:///{tmp_path / 'bot.db'}")
    await database.open()
    accounts = Accounts(client, Store(database, Vault([Vault.generate_key()])), recheck_delay=0.01)
    key = SecretStr(ANA.api_key)
    await accounts.link(OWNER, key, await accounts.owner_of(key))
    wire.heal()
    yield accounts
    await database.close()


async def read(client: Client, session: Session, times: int = 1) -> None:
    await asyncio.gather(*(client.get_project(session.key, 1) for _ in range(times)))


async def in_a_block(accounts: Accounts, client: Client) -> None:
    async with accounts.reading(OWNER) as session:
        await read(client, session)


async def test_one_check_follows_the_reads_of_a_round(accounts: Accounts, client: Client, wire: Wire) -> None:
    async with accounts.reading(OWNER) as session:
        await read(client, session, 3)

    assert wire.heal() == [READ, READ, READ, CHECK]


async def test_each_round_has_its_check_until_there_are_too_many(
    accounts: Accounts, client: Client, wire: Wire
) -> None:
    async with accounts.reading(OWNER) as session:
        for _ in range(5):
            await read(client, session)

    assert wire.heal() == [READ, CHECK, READ, CHECK, READ, CHECK, READ, READ, CHECK]


async def test_work_in_the_background_is_checked_once(accounts: Accounts, client: Client, wire: Wire) -> None:
    async with accounts.reading(OWNER, background=True) as session:
        await read(client, session)
        await read(client, session)

    assert wire.heal() == [READ, READ, CHECK]


async def test_a_block_without_reads_is_checked_as_well(accounts: Accounts, wire: Wire) -> None:
    async with accounts.reading(OWNER):
        pass

    assert wire.heal() == [CHECK]


async def test_a_retried_read_is_checked_again(accounts: Accounts, client: Client, wire: Wire) -> None:
    wire.fail("502 before it")
    await in_a_block(accounts, client)

    assert wire.heal() == [READ, CHECK, READ, CHECK]


async def test_nothing_is_checked_after_the_block(accounts: Accounts, client: Client, wire: Wire) -> None:
    async with accounts.reading(OWNER) as session:
        pass
    wire.heal()
    await read(client, session)

    assert wire.heal() == [READ]


async def test_a_refused_check_is_repeated_once_before_the_key_is_rejected(
    accounts: Accounts, client: Client, wire: Wire
) -> None:
    wire.fail("refuse the key", lasting=True)
    with pytest.raises(KeyRejected):
        await in_a_block(accounts, client)

    assert wire.heal() == [READ, CHECK, CHECK]
    assert await accounts.linked_as(OWNER) is None


async def test_a_service_that_is_down_leaves_the_link(accounts: Accounts, client: Client, wire: Wire) -> None:
    await wire.down()
    with pytest.raises(Unreachable):
        await in_a_block(accounts, client)

    assert await accounts.linked_as(OWNER) is not None
