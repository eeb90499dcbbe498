"""Encrypts secrets at rest, bound to their owner so that rows can't be swapped."""

import json
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from bot.errors import StoredSecretError
from bot.store.owner import Owner


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

    def seal(self, owner: Owner, secret: SecretStr) -> str:
        """Return the secret and its owner, encrypted with the first key, as ASCII."""
        content = json.dumps([owner.enterprise_id, owner.team_id, owner.user_id, secret.get_secret_value()])
        return self._all.encrypt(content.encode()).decode("ascii")

    def open(self, owner: Owner, sealed: str) -> SecretStr:
        """Return the secret. Raises StoredSecretError if no key fits or it was sealed for another owner."""
        try:
            *sealed_for, secret = json.loads(self._all.decrypt(sealed.encode()))
        except (InvalidToken, ValueError):
            raise StoredSecretError("no encryption key fits") from None
        if sealed_for != [owner.enterprise_id, owner.team_id, owner.user_id]:
            raise StoredSecretError("the stored secret belongs to another owner")
        return SecretStr(secret)

    def is_current(self, sealed: str) -> bool:
        try:
            self._first.decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True

    def fits(self, sealed: str) -> bool:
        try:
            self._all.decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True

    def rotate(self, sealed: str) -> str:
        """Return the content re-encrypted with the first key. Raises StoredSecretError if no key fits."""
        try:
            return self._all.rotate(sealed.encode()).decode("ascii")
        except InvalidToken:
            raise StoredSecretError("no encryption key fits") from None
