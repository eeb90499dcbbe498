"""Which key of the service a Slack user has."""

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import SecretStr
from sqlalchemy import ColumnElement, and_, delete, select, tuple_, update

from bot.errors import StoredSecretError
from bot.store.engine import Database
from bot.store.owner import Owner
from bot.store.tables import LinkRow
from bot.store.upsert import insert
from bot.store.vault import Vault

ROTATION_BATCH = 100


@dataclass(frozen=True)
class Link:
    """A Slack user's account in the service: `user_id` and `name` are the service's."""

    owner: Owner
    key: SecretStr
    user_id: int
    name: str
    linked_at: datetime


@dataclass(frozen=True)
class Rotation:
    """How far a rotation is: rows written anew, rows that already had the first key, rows no key opens."""

    rewritten: int = 0
    current: int = 0
    unreadable: int = 0

    def counting(self, vault: Vault, sealed: str) -> tuple["Rotation", str | None]:
        """One more sealed text counted, and what takes its place, if anything does."""
        if vault.is_current(sealed):
            return replace(self, current=self.current + 1), None
        try:
            renewed = vault.rotate(sealed)
        except StoredSecretError:
            return replace(self, unreadable=self.unreadable + 1), None
        return replace(self, rewritten=self.rewritten + 1), renewed


class Links:
    """The links, one for each Slack user."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    async def get(self, owner: Owner) -> Link | None:
        """The owner's link; StoredSecretError when its key can't be opened."""
        async with self._database.reading() as session:
            row = await session.scalar(select(LinkRow).where(_is(owner)))
        if row is None:
            return None
        key = self._vault.open(owner, row.sealed_key)
        return Link(owner, key, row.service_user_id, row.name, row.linked_at)

    async def put(self, owner: Owner, key: SecretStr, user_id: int, name: str) -> None:
        """Links the owner, in place of any earlier link."""
        values = {
            "sealed_key": self._vault.seal(owner, key),
            "service_user_id": user_id,
            "name": name,
            "linked_at": datetime.now(UTC),
        }
        identity = {
            "enterprise_id": owner.enterprise_id or "",
            "team_id": owner.team_id,
            "user_id": owner.user_id,
        }
        statement = insert(self._database.dialect, LinkRow).values(**identity, **values)
        async with self._database.session() as session:
            await session.execute(statement.on_conflict_do_update(index_elements=list(identity), set_=values))

    async def add(self, owner: Owner, key: SecretStr, user_id: int, name: str) -> bool:
        """Links an owner who has no link; whether it did: a link that is there already stays as it is."""
        row = {
            "enterprise_id": owner.enterprise_id or "",
            "team_id": owner.team_id,
            "user_id": owner.user_id,
            "sealed_key": self._vault.seal(owner, key),
            "service_user_id": user_id,
            "name": name,
            "linked_at": datetime.now(UTC),
        }
        statement = insert(self._database.dialect, LinkRow).values(**row).on_conflict_do_nothing()
        async with self._database.session() as session:
            return await session.scalar(statement.returning(LinkRow.user_id)) is not None

    async def delete(self, owner: Owner) -> bool:
        """Removes the owner's link; whether there was one."""
        statement = delete(LinkRow).where(_is(owner)).returning(LinkRow.user_id)
        async with self._database.session() as session:
            return await session.scalar(statement) is not None

    async def delete_if_key(self, owner: Owner, key: SecretStr) -> bool:
        """Removes the link while its key is still this one; whether this very call removed it.

        A key that died must not take a newer link along, and its death is said once.
        """
        async with self._database.session() as session:
            row = await session.scalar(select(LinkRow).where(_is(owner)).with_for_update())
            if row is None or not self._holds(row, owner, key):
                return False
            await session.delete(row)
            return True

    async def rotate(self) -> AsyncIterator[Rotation]:
        """Encrypts every key anew with the first encryption key; yields the progress after each batch.

        Batches are committed one by one and what has the first key already is passed over, so that a
        rotation that was broken off is simply started again. Rows that no key opens stay as they are.
        """
        progress, after = Rotation(), ("", "", "")
        while batch := await self._sealed_after(after):
            for row in batch:
                after = row[:3]
                progress = await self._rotate_one(progress, after, row[3])
            yield progress

    async def unreadable(self) -> int:
        """How many stored keys no encryption key opens."""
        count, after = 0, ("", "", "")
        while batch := await self._sealed_after(after):
            count += sum(not self._vault.fits(sealed) for *_, sealed in batch)
            after = batch[-1][:3]
        return count

    async def _sealed_after(self, after: tuple[str, str, str]) -> list[tuple[str, str, str, str]]:
        identity = (LinkRow.enterprise_id, LinkRow.team_id, LinkRow.user_id)
        statement = (
            select(*identity, LinkRow.sealed_key)
            .where(tuple_(*identity) > after)
            .order_by(*identity)
            .limit(ROTATION_BATCH)
        )
        async with self._database.reading() as session:
            return [(row[0], row[1], row[2], row[3]) for row in await session.execute(statement)]

    async def _rotate_one(self, so_far: Rotation, identity: tuple[str, str, str], sealed: str) -> Rotation:
        progress, renewed = so_far.counting(self._vault, sealed)
        if renewed is None:
            return progress
        enterprise_id, team_id, user_id = identity
        # Only while it is what was read: somebody may be linking anew at this moment.
        statement = (
            update(LinkRow)
            .where(_is(Owner(enterprise_id, team_id, user_id)), LinkRow.sealed_key == sealed)
            .values(sealed_key=renewed)
        )
        async with self._database.session() as session:
            await session.execute(statement)
        return progress

    def _holds(self, row: LinkRow, owner: Owner, key: SecretStr) -> bool:
        try:
            stored = self._vault.open(owner, row.sealed_key)
        except StoredSecretError:
            return False
        return secrets.compare_digest(stored.get_secret_value().encode(), key.get_secret_value().encode())


def _is(owner: Owner) -> ColumnElement[bool]:
    return and_(
        LinkRow.enterprise_id == (owner.enterprise_id or ""),
        LinkRow.team_id == owner.team_id,
        LinkRow.user_id == owner.user_id,
    )
