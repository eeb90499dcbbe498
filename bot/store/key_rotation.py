"""Re-encrypts everything that's stored encrypted with the first encryption key, while the bot runs."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from sqlalchemy import Column, Table, func, select, tuple_, update

from bot.errors import StoredSecretError
from bot.store import tables
from bot.store.database import Database
from bot.store.tables import INSTALLATIONS, SEALED_TOKENS
from bot.store.vault import Vault

BATCH = 100


@dataclass(frozen=True)
class Rotation:
    """Progress in rows: re-encrypted, already on the first key, and not decryptable with any key."""

    rewritten: int = 0
    current: int = 0
    unreadable: int = 0


@dataclass(frozen=True)
class _EncryptedColumn:
    """An encrypted column."""

    table: Table
    name: str

    @property
    def column(self) -> Column[str]:
        return self.table.c[self.name]

    @property
    def identity(self) -> tuple[Column[str | int], ...]:
        return tuple(self.table.primary_key)


_TABLES = tables.Table.metadata.tables
TOKENS = tuple(_EncryptedColumn(INSTALLATIONS, name) for name in SEALED_TOKENS)
KEYS = _EncryptedColumn(_TABLES["links"], "sealed_key")
TYPED = _EncryptedColumn(_TABLES["sealed_continuations"], "sealed")
IN_FLIGHT = _EncryptedColumn(_TABLES["deliveries"], "sealed")
ALL = (*TOKENS, KEYS, TYPED, IN_FLIGHT)


class EncryptedValues:
    """All encrypted values in the database."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    async def rotate(self, batch_size: int = BATCH) -> AsyncIterator[Rotation]:
        """Re-encrypt everything with the first encryption key; yields the progress after each batch.

        Skips values that already use the first key, so an interrupted rotation can simply be started again.
        Leaves values that no key can decrypt.
        """
        progress = Rotation()
        for sealed in ALL:
            async for batch in self._batches(sealed, batch_size):
                for *identity, content in batch:
                    progress = await self._rotate_one(progress, sealed, identity, content)
                yield progress

    async def count(self) -> int:
        """Return the number of encrypted values."""
        sizes = [select(func.count(sealed.column)).scalar_subquery() for sealed in ALL]
        return await self._database.read(lambda connection: sum(connection.execute(select(*sizes)).one()))

    async def unreadable(self) -> int:
        """Return the number of stored API keys and tokens that no encryption key can decrypt."""
        return sum(
            [
                sum(not self._vault.fits(content) for *_, content in batch)
                for sealed in (*TOKENS, KEYS)
                async for batch in self._batches(sealed)
            ]
        )

    async def _batches(
        self, sealed: _EncryptedColumn, size: int = BATCH
    ) -> AsyncIterator[list[tuple[str, ...]]]:
        after: tuple[object, ...] = tuple(column.type.python_type() for column in sealed.identity)
        while batch := await self._batch(sealed, after, size):
            yield batch
            after = batch[-1][:-1]

    async def _batch(
        self, sealed: _EncryptedColumn, after: tuple[object, ...], size: int
    ) -> list[tuple[str, ...]]:
        statement = (
            select(*sealed.identity, sealed.column)
            .where(tuple_(*sealed.identity) > after, sealed.column.is_not(None))
            .order_by(*sealed.identity)
            .limit(size)
        )
        return [tuple(row) for row in await self._database.rows(statement)]

    async def _rotate_one(
        self, so_far: Rotation, sealed: _EncryptedColumn, identity: list[str], content: str
    ) -> Rotation:
        rewritten, current, unreadable = so_far.rewritten, so_far.current, so_far.unreadable
        if self._vault.is_current(content):
            return Rotation(rewritten, current + 1, unreadable)
        try:
            renewed = self._vault.rotate(content)
        except StoredSecretError:
            return Rotation(rewritten, current, unreadable + 1)
        # Only if it hasn't changed since: the user may be linking again right now.
        statement = (
            update(sealed.table)
            .where(tuple_(*sealed.identity) == tuple(identity), sealed.column == content)
            .values({sealed.name: renewed})
        )
        await self._database.execute(statement)
        return Rotation(rewritten + 1, current, unreadable)
