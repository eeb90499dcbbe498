"""Secrets encrypted at rest, with their owner inside the ciphertext so that rows can't be swapped."""

import json
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from bot.errors import StoredSecretError
from bot.store.owner import Owner


class Vault:
    """Seals and opens secrets: the first key encrypts, all of them decrypt.

    Raises ValueError when there is no key, or one is not a Fernet key.
    """

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        if not keys:
            raise ValueError("no encryption key was given")
        fernets = [Fernet(key.get_secret_value()) for key in keys]
        self._first = fernets[0]
        self._all = MultiFernet(fernets)

    @staticmethod
    def generate_key() -> SecretStr:
        """A new encryption key."""
        return SecretStr(Fernet.generate_key().decode("ascii"))

    def seal(self, owner: Owner, secret: SecretStr) -> str:
        """The secret and its owner, encrypted with the first key; plain ASCII."""
        content = json.dumps([owner.enterprise_id, owner.team_id, owner.user_id, secret.get_secret_value()])
        return self._all.encrypt(content.encode()).decode("ascii")

    def open(self, owner: Owner, sealed: str) -> SecretStr:
        """The secret; StoredSecretError when no key fits or it was sealed for somebody else."""
        try:
            *sealed_for, secret = json.loads(self._all.decrypt(sealed.encode()))
        except (InvalidToken, ValueError):
            raise StoredSecretError("no encryption key fits") from None
        if sealed_for != [owner.enterprise_id, owner.team_id, owner.user_id]:
            raise StoredSecretError("the stored secret is somebody else's")
        return SecretStr(secret)

    def is_current(self, sealed: str) -> bool:
        """Whether the first key encrypted it."""
        try:
            self._first.decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True

    def fits(self, sealed: str) -> bool:
        """Whether any key opens it."""
        try:
            self._all.decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True

    def rotate(self, sealed: str) -> str:
        """The same content, encrypted with the first key; StoredSecretError when no key fits."""
        try:
            return self._all.rotate(sealed.encode()).decode("ascii")
        except InvalidToken:
            raise StoredSecretError("no encryption key fits") from None
