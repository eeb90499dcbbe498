"""Processes on one database, whose clock the test sets."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from pydantic import SecretStr
from sqlalchemy import bindparam, select

from bot.store.claims import Claim
from bot.store.database import Database
from bot.store.store import Store
from bot.store.tables import UtcDateTime
from bot.store.vault import Vault

START = datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
KEY = Vault.generate_key()


class Processes:
    """Processes on one database, whose clock is `now`."""

    def __init__(self, database: Database) -> None:
        self.now = START
        self._database = database
        self._alive: list[Store] = []

    def start(self, key: SecretStr = KEY) -> Store:
        clock = select(bindparam("now", callable_=lambda: self.now, type_=UtcDateTime()))
        self._alive.append(Store(self._database, Vault([key]), clock=clock))
        return self._alive[-1]

    def tried(self, claim: Claim) -> datetime:
        """When an earlier attempt began, by the database's clock; the claim has it by this machine's."""
        assert claim.tried_at
        ago = datetime.now(UTC) - claim.tried_at
        return self.now - timedelta(seconds=round(ago.total_seconds()))

    async def pass_time(self, seconds: int = 40, *, dead: Collection[Store] = ()) -> None:
        for _ in range(seconds // 5):
            self.now += timedelta(seconds=5)
            for store in self._alive:
                if store not in dead:
                    await store.processes.beat()
