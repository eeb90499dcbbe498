"""The links from Slack users to their accounts in the service."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import SecretStr
from sqlalchemy import ColumnElement, Executable, and_, bindparam, delete, select, update

from bot.errors import KeyUnreadable, NotLinked, StoredSecretError
from bot.store.database import Database
from bot.store.notices import Notices
from bot.store.owner import Owner
from bot.store.tables import LinkRow
from bot.store.vault import Vault

LINK = select(LinkRow).where(
    LinkRow.enterprise_id == bindparam("enterprise_id"),
    LinkRow.team_id == bindparam("team_id"),
    LinkRow.user_id == bindparam("user_id"),
)


@dataclass(frozen=True)
class Refusals:
    """The first and the latest refusal of a key since it last worked, by the database's clock."""

    since: datetime
    latest: datetime

    @property
    def duration(self) -> float:
        """The seconds from the first to the latest."""
        return (self.latest - self.since).total_seconds()


@dataclass(frozen=True)
class Link:
    """A Slack user's account in the service; `user_id` and `name` are those in the service."""

    owner: Owner
    key: SecretStr
    user_id: int
    name: str
    linked_at: datetime
    encrypted: str = field(repr=False)
    refusals: Refusals | None = None


@dataclass(frozen=True)
class Links:
    database: Database
    vault: Vault
    notices: Notices

    async def required(self, owner: Owner) -> Link:
        """Return the link of a user who must have one. Raises NotLinked, KeyUnreadable."""
        row = await self.database.one(LINK, **owner.columns)
        if row is None:
            raise NotLinked
        try:
            key = self.vault.decrypt(owner, row.encrypted_key)
        except StoredSecretError as error:
            raise KeyUnreadable from error
        refusals = None
        if row.refused_since:
            refusals = Refusals(row.refused_since, row.refused_at)
        return Link(owner, key, row.service_user_id, row.name, row.linked_at, row.encrypted_key, refusals)

    async def get(self, owner: Owner) -> Link | None:
        """Return the owner's link; None if there is none, or its key can't be decrypted."""
        with suppress(NotLinked):
            return await self.required(owner)
        return None

    async def user_id(self, owner: Owner) -> int | None:
        """The ID of the owner's account in the service; None if they aren't linked."""
        row = await self.database.one(select(LinkRow.service_user_id).where(LinkRow.of(owner)))
        return row.service_user_id if row else None

    async def linked_at(self, owner: Owner) -> datetime | None:
        row = await self.database.one(select(LinkRow.linked_at).where(LinkRow.of(owner)))
        return row.linked_at if row else None

    async def slack_users(self, owner: Owner, user_id: int) -> tuple[str, ...]:
        """Return the Slack users in the owner's workspace that are linked to an account, the latest first."""
        there = {**owner.columns, "service_user_id": user_id}
        del there["user_id"]  # the Slack user's
        statement = select(LinkRow.user_id).filter_by(**there).order_by(LinkRow.linked_at.desc())
        return tuple(row.user_id for row in await self.database.rows(statement))

    async def owners(self, team_id: str, user_id: str) -> tuple[Owner, ...]:
        """Return the linked owners that are this user of a workspace; more than one only in theory."""
        rows = await self.database.rows(select(LinkRow).filter_by(team_id=team_id, user_id=user_id))
        return tuple(map(Owner.of, rows))

    async def zone(self, team_id: str, user_id: str) -> str | None:
        """Return a linked user's last known time zone."""
        row = await self.database.one(select(LinkRow.zone).filter_by(team_id=team_id, user_id=user_id))
        return row.zone if row else None

    async def keep_zone(self, team_id: str, user_id: str, zone: str) -> None:
        changed = and_(
            LinkRow.team_id == team_id, LinkRow.user_id == user_id, LinkRow.zone.is_distinct_from(zone)
        )
        await self.database.execute(update(LinkRow).where(changed).values(zone=zone))

    async def put(
        self, owner: Owner, key: SecretStr, user_id: int, name: str, assigned_since: datetime | None = None
    ) -> None:
        """`assigned_since` is from when the user is notified of their issues, by the service's clock; None
        for from the first read. A renewed key of the same account goes on from where the old one stopped;
        messages that wait for another account aren't sent.
        """
        same = await self.user_id(owner) == user_id
        progress = await self.notices.progress(owner) if same else None
        values = self._values(owner, key, user_id, name)
        also = [self.notices.starting(owner, assigned_since, progress=progress)]
        if not same:
            also.append(self.notices.canceling(owner))
        link = self.database.upsert(LinkRow, owner.columns, values)
        await self.database.changes(link.returning(LinkRow.user_id), *also)

    async def add(self, owner: Owner, key: SecretStr, user_id: int, name: str) -> bool:
        """Add a link unless the owner has one; returns whether it was added."""
        row = owner.columns | self._values(owner, key, user_id, name)
        added = self.database.insert(LinkRow).values(row).on_conflict_do_nothing()
        also = self.notices.starting(owner, None)
        return await self.database.changes(added.returning(LinkRow.user_id), also)

    async def latest_keys(self, limit: int) -> tuple[SecretStr, ...]:
        statement = select(LinkRow).order_by(LinkRow.linked_at.desc()).limit(limit)
        keys = []
        for row in await self.database.rows(statement):
            with suppress(StoredSecretError):
                keys.append(self.vault.decrypt(Owner.of(row), row.encrypted_key))
        return tuple(keys)

    async def delete(self, owner: Owner) -> bool:
        """Delete the owner's link; returns whether there was one."""
        deleted = delete(LinkRow).where(LinkRow.of(owner)).returning(LinkRow.user_id)
        return await self.database.changes(deleted)

    async def delete_refused(self, link: Link) -> bool:
        """Delete a link unless its key or refusals changed since it was read; returns whether it did."""
        deleted = delete(LinkRow).where(_as_read(link)).returning(LinkRow.user_id)
        return await self.database.changes(deleted)

    async def refused(self, link: Link, refusals: Refusals, also: Sequence[Executable] = ()) -> None:
        """Record refusals of a link's key, unless that or they changed since the link was read."""
        refused = update(LinkRow).where(_as_read(link)).values(_refusal_columns(refusals))
        await self.database.changes(refused.returning(LinkRow.user_id), *also)

    async def accepted(self, link: Link) -> None:
        """Record that the service accepts a link's key again."""
        await self.database.execute(update(LinkRow).where(_same_key(link)).values(_refusal_columns(None)))

    def _values(self, owner: Owner, key: SecretStr, user_id: int, name: str) -> dict[str, object]:
        return {
            "encrypted_key": self.vault.encrypt(owner, key),
            "service_user_id": user_id,
            "name": name,
            "linked_at": datetime.now(UTC),
            **_refusal_columns(None),
        }


def _same_key(link: Link) -> ColumnElement[bool]:
    return and_(LinkRow.of(link.owner), LinkRow.encrypted_key == link.encrypted)


def _as_read(link: Link) -> ColumnElement[bool]:
    latest = link.refusals and link.refusals.latest
    return and_(_same_key(link), LinkRow.refused_at.is_not_distinct_from(latest))


def _refusal_columns(refusals: Refusals | None) -> dict[str, object]:
    return {
        "refused_since": refusals and refusals.since,
        "refused_at": refusals and refusals.latest,
    }
