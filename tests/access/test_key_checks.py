"""Which requests check a key, and when."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.access.accounts import Accounts, Session
from bot.errors import KeyRejected, KeySuspended, ServiceBroken, Unreachable, UserError
from bot.sandbox.tracker.server import Tracker
from bot.service.client import Client
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import KeyTimings
from tests.support.people import KEYS
from tests.support.wire import Wire

OWNER = Owner(None, "T0HARBOR01", "U0ANA0001")
READ, CHECK = "GET /projects/1.json", "GET /users/current.json"


@pytest.fixture
async def client(service: Tracker, wire: Wire) -> AsyncIterator[Client]:
    await service.start()
    async with Client(await wire.up(service.url)) as client:
        yield client
    await wire.down()
    await service.stop()


@pytest.fixture
async def accounts(client: Client, wire: Wire, tmp_path: Path) -> AsyncIterator[Accounts]:
    """The accounts, with one link."""
    database = Database(f"sqlite:///{tmp_path / 'bot.db'}")
    await database.open()
    accounts = Accounts(client, Store(database, Vault([Vault.generate_key()])), KeyTimings(recheck=0.01))
    key = SecretStr(KEYS["ana"])
    await accounts.link(OWNER, key, await accounts.owner_of(key))
    wire.heal()
    yield accounts
    await database.close()


async def read(client: Client, session: Session, times: int = 1) -> None:
    await asyncio.gather(*(client.get_project(session.key, 1) for _ in range(times)))


async def in_a_block(accounts: Accounts, client: Client) -> None:
    async with accounts.reading(OWNER) as session:
        await read(client, session)


async def test_each_round_of_reads_is_checked(accounts: Accounts, client: Client, wire: Wire) -> None:
    for rounds, background, expected in (
        ([3], False, [READ, READ, READ, CHECK]),
        ([1] * 5, False, [READ, CHECK, READ, CHECK, READ, CHECK, READ, READ, CHECK]),
        ([1, 1], True, [READ, READ, CHECK]),
        ([], False, [CHECK]),
    ):
        async with accounts.reading(OWNER, background=background) as session:
            for times in rounds:
                await read(client, session, times)
        assert wire.heal() == expected

    await read(client, session)
    assert wire.heal() == [READ]  # nothing is checked after the block


async def test_failures_of_the_service_leave_the_link(accounts: Accounts, client: Client, wire: Wire) -> None:
    wire.fail("502 before it")
    await in_a_block(accounts, client)
    assert wire.heal() == [READ, CHECK, READ, CHECK]  # a repeated read is checked again

    await wire.down()
    with pytest.raises(Unreachable):
        await in_a_block(accounts, client)

    assert await accounts.store.links.get(OWNER) is not None


async def test_a_check_that_breaks_after_a_refused_one_is_no_refusal(accounts: Accounts, wire: Wire) -> None:
    works, wire.target = wire.target, "http://127.0.0.1:1"
    wire.fail("refuse the key")
    with pytest.raises(ServiceBroken):
        await accounts.whoami(OWNER)

    wire.target = works
    async with accounts.reading(OWNER, background=True):
        pass


async def test_a_refused_check_is_repeated_once(accounts: Accounts, client: Client, wire: Wire) -> None:
    wire.fail("refuse the key", lasting=True)
    with pytest.raises(KeyRejected):
        await in_a_block(accounts, client)

    assert wire.heal() == [READ, CHECK, CHECK]
    with pytest.raises(KeySuspended):
        async with accounts.reading(OWNER, background=True):
            raise AssertionError
    assert wire.heal() == []
    await in_a_block(accounts, client)
    async with accounts.reading(OWNER, background=True) as session:
        await read(client, session)


async def test_an_account_linked_meanwhile_ends_the_block(accounts: Accounts) -> None:
    other = SecretStr(KEYS["ben"])
    with pytest.raises(UserError, match="linked a different"):
        async with accounts.reading(OWNER):
            await accounts.link(OWNER, other, await accounts.owner_of(other))
