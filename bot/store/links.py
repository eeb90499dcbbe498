"""The links from Slack users to their accounts in the service."""

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import SecretStr
from sqlalchemy import Connection, delete, select

from bot.errors import StoredSecretError
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import LinkRow
from bot.store.vault import Vault


@dataclass(frozen=True)
class Link:
    """A Slack user's account in the service; `user_id` and `name` are those in the service."""

    owner: Owner
    key: SecretStr
    user_id: int
    name: str
    linked_at: datetime


@dataclass(frozen=True)
class Links:
    database: Database
    vault: Vault

    async def get(self, owner: Owner) -> Link | None:
        """Return the owner's link, or None. Raises StoredSecretError if its key can't be decrypted."""
        row = await self.database.one(select(LinkRow).where(LinkRow.of(owner)))
        if row is None:
            return None
        key = self.vault.open(owner, row.sealed_key)
        return Link(owner, key, row.service_user_id, row.name, row.linked_at)

    async def slack_users(self, owner: Owner, user_id: int) -> tuple[str, ...]:
        """Return the Slack users in the owner's workspace that are linked to an account, the latest first."""
        statement = (
            select(LinkRow.user_id)
            .filter_by(
                enterprise_id=owner.enterprise_id or "", team_id=owner.team_id, service_user_id=user_id
            )
            .order_by(LinkRow.linked_at.desc())
        )
        return tuple(row.user_id for row in await self.database.rows(statement))

    async def put(self, owner: Owner, key: SecretStr, user_id: int, name: str) -> None:
        values = self._values(owner, key, user_id, name)
        await self.database.execute(self.database.upsert(LinkRow, owner.columns, values))

    async def add(self, owner: Owner, key: SecretStr, user_id: int, name: str) -> bool:
        """Add a link unless the owner has one; returns whether it was added."""
        added = self.database.insert(LinkRow).values(
            **owner.columns, **self._values(owner, key, user_id, name)
        )
        return await self.database.changes(added.on_conflict_do_nothing().returning(LinkRow.user_id))

    async def latest_keys(self, limit: int) -> tuple[SecretStr, ...]:
        statement = select(LinkRow).order_by(LinkRow.linked_at.desc()).limit(limit)
        keys = []
        for row in await self.database.rows(statement):
            with suppress(StoredSecretError):
                owner = Owner(row.enterprise_id or None, row.team_id, row.user_id)
                keys.append(self.vault.open(owner, row.sealed_key))
        return tuple(keys)

    async def delete(self, owner: Owner) -> bool:
        """Delete the owner's link; returns whether there was one."""
        return await self.database.changes(
            delete(LinkRow).where(LinkRow.of(owner)).returning(LinkRow.user_id)
        )

    async def delete_if_key(self, owner: Owner, key: SecretStr) -> bool:
        """Delete the link if it still has this key; returns whether this call deleted it.

        So a rejected key never deletes a newer link, and the user is notified once.
        """

        def work(connection: Connection) -> bool:
            sealed = connection.scalar(select(LinkRow.sealed_key).where(LinkRow.of(owner)).with_for_update())
            if sealed is None or not self._holds(sealed, owner, key):
                return False
            connection.execute(delete(LinkRow).where(LinkRow.of(owner)))
            return True

        return await self.database.write(work)

    def _values(self, owner: Owner, key: SecretStr, user_id: int, name: str) -> dict[str, object]:
        return {
            "sealed_key": self.vault.seal(owner, key),
            "service_user_id": user_id,
            "name": name,
            "linked_at": datetime.now(UTC),
        }

    def _holds(self, sealed: str, owner: Owner, key: SecretStr) -> bool:
        try:
            stored = self.vault.open(owner, sealed)
        except StoredSecretError:
            return False
        return secrets.compare_digest(stored.get_secret_value().encode(), key.get_secret_value().encode())
