"""Users' input, saved for a day: drafts, unfinished forms, requests made before linking, forms that Slack
didn't open, files to attach, time to log, changes to undo, and a key whose account they are asked to confirm.
"""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select

from bot.errors import StoredSecretError
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import SavedInputRow
from bot.store.vault import Vault

LIFETIME = timedelta(days=1)
Change = Callable[[dict[str, Any] | None], dict[str, Any]]


@dataclass(frozen=True)
class SavedInput:
    """Saved input by random ID, or one of a name for each user, each accessible to its owner only.

    It is encrypted, because it contains what users typed and Slack's response URLs. Raises
    StoredSecretError if it can't be decrypted.
    """

    database: Database
    vault: Vault

    async def put(self, owner: Owner, payload: dict[str, Any]) -> str:
        """Save a JSON object; returns its ID."""
        now = datetime.now(UTC)
        saved_id = secrets.token_urlsafe(24)
        encrypted = self.vault.encrypt_json(owner, [saved_id, payload])
        statement = insert(SavedInputRow).values(
            id=saved_id, **owner.columns, encrypted=encrypted, created_at=now
        )
        await self.database.execute(statement)
        return saved_id

    async def keep(self, owner: Owner, name: str, at: datetime, change: Change) -> None:
        """Keep one JSON object under a name, replacing one kept there before `at`.

        `change` gets the kept object, or None if there is none or it can't be read, and returns the new one.
        """
        saved_id = _id_of(owner, name)
        statement = select(SavedInputRow.encrypted).where(_is(owner, saved_id))

        def work(connection: Connection) -> None:
            before = None
            with suppress(StoredSecretError):
                before = self._opened(owner, saved_id, connection.scalar(statement))
            encrypted = self.vault.encrypt_json(owner, [saved_id, change(before)])
            values = {"encrypted": encrypted, "created_at": at}
            added = self.database.insert(SavedInputRow).values(id=saved_id, **owner.columns, **values)
            newer = SavedInputRow.created_at <= at
            connection.execute(added.on_conflict_do_update(index_elements=["id"], set_=values, where=newer))

        await self.database.write(work)

    async def kept(self, owner: Owner, name: str) -> dict[str, Any] | None:
        return await self.get(owner, _id_of(owner, name))

    async def get(self, owner: Owner, saved_id: str, lifetime: timedelta = LIFETIME) -> dict[str, Any] | None:
        statement = select(SavedInputRow.encrypted).where(_is(owner, saved_id, lifetime))
        return self._opened(owner, saved_id, await self.database.scalar(statement))

    async def take(self, owner: Owner, saved_id: str) -> dict[str, Any] | None:
        """Return the owner's saved request and delete it: only one caller gets it."""
        statement = delete(SavedInputRow).where(_is(owner, saved_id)).returning(SavedInputRow.encrypted)

        def work(connection: Connection) -> dict[str, Any] | None:
            return self._opened(owner, saved_id, connection.scalar(statement))

        return await self.database.write(work)

    def _opened(self, owner: Owner, saved_id: str, encrypted: str | None) -> dict[str, Any] | None:
        if encrypted is None:
            return None
        match self.vault.decrypt_json(owner, encrypted):
            case [encrypted_as, dict(payload)] if encrypted_as == saved_id:
                return payload
        raise StoredSecretError("it was saved under another ID")


def _id_of(owner: Owner, name: str) -> str:
    return ":".join([name, *owner.columns.values()])


def _is(owner: Owner, saved_id: str, lifetime: timedelta = LIFETIME) -> ColumnElement[bool]:
    return and_(
        SavedInputRow.id == saved_id,
        SavedInputRow.of(owner),
        SavedInputRow.created_at > datetime.now(UTC) - lifetime,
    )
