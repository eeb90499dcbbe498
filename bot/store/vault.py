"""Encrypts secrets at rest, bound to their owner so that rows can't be swapped, and re-encrypts all of them
with the first encryption key while the bot runs.
"""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr
from sqlalchemy import Column, Row, and_, func, select, tuple_, update

from bot.errors import StoredSecretError
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import ENCRYPTED_TOKENS, INSTALLATIONS, JobRow, LinkRow, SavedInputRow, table_of

BATCH_SIZE = 100


class Vault:
    """Seals and opens secrets. The first key encrypts; all keys decrypt.

    Raises ValueError if there is no key, or if one isn't a Fernet key.
    """

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        if not keys:
            raise ValueError("no encryption key was given")
        fernets = [Fernet(key.get_secret_value()) for key in keys]
        self._first = fernets[0]
        self._all = MultiFernet(fernets)

    @staticmethod
    def generate_key() -> SecretStr:
        return SecretStr(Fernet.generate_key().decode("ascii"))

    def encrypt(self, owner: Owner, secret: SecretStr) -> str:
        """Return the secret and its owner, encrypted with the first key, as ASCII."""
        content = json.dumps([owner.enterprise_id, owner.team_id, owner.user_id, secret.get_secret_value()])
        return self._all.encrypt(content.encode()).decode("ascii")

    def decrypt(self, owner: Owner, encrypted: str) -> SecretStr:
        """Return the secret. Raises StoredSecretError if no key fits or it is another owner's."""
        try:
            *encrypted_for, secret = json.loads(self._all.decrypt(encrypted.encode()))
        except (InvalidToken, ValueError):
            raise StoredSecretError("no encryption key fits") from None
        if encrypted_for != [owner.enterprise_id, owner.team_id, owner.user_id]:
            raise StoredSecretError("the stored secret belongs to another owner")
        return SecretStr(secret)

    def encrypt_json(self, owner: Owner, content: object) -> str:
        return self.encrypt(owner, SecretStr(json.dumps(content)))

    def decrypt_json(self, owner: Owner, encrypted: str) -> Any:  # noqa: ANN401 - JSON
        """Return the content. Raises StoredSecretError like `decrypt`, and if it isn't JSON."""
        try:
            return json.loads(self.decrypt(owner, encrypted).get_secret_value())
        except ValueError:
            raise StoredSecretError("it isn't JSON") from None

    def is_current(self, encrypted: str) -> bool:
        return _decrypts(self._first, encrypted)

    def fits(self, encrypted: str) -> bool:
        return _decrypts(self._all, encrypted)

    def rotate(self, encrypted: str) -> str:
        """Return the content re-encrypted with the first key. Raises StoredSecretError if no key fits."""
        try:
            return self._all.rotate(encrypted.encode()).decode("ascii")
        except InvalidToken:
            raise StoredSecretError("no encryption key fits") from None


def _decrypts(keys: Fernet | MultiFernet, encrypted: str) -> bool:
    try:
        keys.decrypt(encrypted.encode())
    except InvalidToken:
        return False
    return True


@dataclass(frozen=True)
class Rotation:
    """Progress in rows: re-encrypted, already on the first key, and not decryptable with any key."""

    rewritten: int = 0
    current: int = 0
    unreadable: int = 0


KEYS_AND_TOKENS: tuple[Column[str], ...] = (
    *(INSTALLATIONS.c[name] for name in ENCRYPTED_TOKENS),
    table_of(LinkRow).c.encrypted_key,
)
ENCRYPTED = (
    *(*KEYS_AND_TOKENS, table_of(SavedInputRow).c.encrypted),
    *(table_of(JobRow).c.encrypted, table_of(JobRow).c.sending),
)


@dataclass(frozen=True)
class EncryptedValues:
    database: Database
    vault: Vault

    async def rotate(self, batch_size: int = BATCH_SIZE) -> AsyncIterator[Rotation]:
        """Re-encrypt everything with the first encryption key; yields the progress after each batch.

        Skips values that already use the first key, so an interrupted rotation can simply be started again.
        Leaves values that no key can decrypt.
        """
        progress = Rotation()
        for column in ENCRYPTED:
            async for batch in self._batches(column, batch_size):
                for row in batch:
                    progress = await self._rotate(progress, column, row)
                yield progress

    async def count(self) -> int:
        sizes = [select(func.count(column)).scalar_subquery() for column in ENCRYPTED]
        return await self.database.read(lambda connection: sum(connection.execute(select(*sizes)).one()))

    async def unreadable(self) -> int:
        """Return the number of stored API keys and tokens that no encryption key can decrypt."""
        count = 0
        for column in KEYS_AND_TOKENS:
            async for batch in self._batches(column, BATCH_SIZE):
                count += sum(not self.vault.fits(content) for *_, content in batch)
        return count

    async def _batches(self, column: Column[str], size: int) -> AsyncIterator[Sequence[Row[Any]]]:
        """Yield the rows that have a value: their primary key, and the value."""
        identity = tuple(column.table.primary_key)
        after: tuple[object, ...] = tuple(part.type.python_type() for part in identity)
        while True:
            more = (tuple_(*identity) > after, column.is_not(None))
            statement = select(*identity, column).where(*more).order_by(*identity).limit(size)
            if not (batch := await self.database.rows(statement)):
                return
            yield batch
            after = tuple(batch[-1][:-1])

    async def _rotate(self, so_far: Rotation, column: Column[str], row: Row[Any]) -> Rotation:
        identity: tuple[object, ...] = tuple(row[:-1])
        content: str = row[-1]
        if self.vault.is_current(content):
            return replace(so_far, current=so_far.current + 1)
        try:
            renewed = self.vault.rotate(content)
        except StoredSecretError:
            return replace(so_far, unreadable=so_far.unreadable + 1)
        # Only if it hasn't changed since: the user may be linking again right now.
        unchanged = and_(tuple_(*column.table.primary_key) == identity, column == content)
        await self.database.execute(update(column.table).where(unchanged).values({column: renewed}))
        return replace(so_far, rewritten=so_far.rewritten + 1)
