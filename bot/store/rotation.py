"""Encryption keys change: whatever is sealed is sealed anew with the first of them, while the bot runs."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from sqlalchemy import select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute

from bot.errors import StoredSecretError
from bot.store.engine import Database
from bot.store.tables import ContinuationRow, LinkRow
from bot.store.vault import Vault

BATCH = 100


@dataclass(frozen=True)
class Rotation:
    """How far a rotation is: rows written anew, rows that already had the first key, rows no key opens."""

    rewritten: int = 0
    current: int = 0
    unreadable: int = 0


@dataclass(frozen=True)
class _Sealed:
    """A column that holds what is sealed, and what tells its table's rows apart."""

    column: InstrumentedAttribute[str]
    identity: tuple[InstrumentedAttribute[str], ...]


KEYS = _Sealed(LinkRow.sealed_key, (LinkRow.enterprise_id, LinkRow.team_id, LinkRow.user_id))
TYPED = _Sealed(ContinuationRow.sealed, (ContinuationRow.id,))


class Sealings:
    """All that is sealed in a database."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    async def rotate(self) -> AsyncIterator[Rotation]:
        """Encrypts everything anew with the first encryption key; yields the progress after each batch.

        Batches are committed one by one and what has the first key already is passed over, so that a
        rotation that was broken off is simply started again. Rows that no key opens stay as they are.
        """
        progress = Rotation()
        for sealed in (KEYS, TYPED):
            async for batch in self._batches(sealed):
                for *identity, content in batch:
                    progress = await self._rotate_one(progress, sealed, identity, content)
                yield progress

    async def unreadable(self) -> int:
        """How many stored keys no encryption key opens."""
        return sum(
            [sum(not self._vault.fits(row[-1]) for row in batch) async for batch in self._batches(KEYS)]
        )

    async def _batches(self, sealed: _Sealed) -> AsyncIterator[list[tuple[str, ...]]]:
        after = tuple("" for _ in sealed.identity)
        while True:
            statement = (
                select(*sealed.identity, sealed.column)
                .where(tuple_(*sealed.identity) > after)
                .order_by(*sealed.identity)
                .limit(BATCH)
            )
            async with self._database.reading() as session:
                batch = [tuple(row) for row in await session.execute(statement)]
            if not batch:
                return
            yield batch
            after = batch[-1][:-1]

    async def _rotate_one(
        self, so_far: Rotation, sealed: _Sealed, identity: list[str], content: str
    ) -> Rotation:
        rewritten, current, unreadable = so_far.rewritten, so_far.current, so_far.unreadable
        if self._vault.is_current(content):
            return Rotation(rewritten, current + 1, unreadable)
        try:
            renewed = self._vault.rotate(content)
        except StoredSecretError:
            return Rotation(rewritten, current, unreadable + 1)
        # Only while it is what was read: somebody may be linking anew at this moment.
        statement = (
            update(sealed.column.class_)
            .where(tuple_(*sealed.identity) == tuple(identity), sealed.column == content)
            .values({sealed.column: renewed})
        )
        async with self._database.session() as session:
            await session.execute(statement)
        return Rotation(rewritten + 1, current, unreadable)
