"""Whose key is used: linking a Slack user to a key of their own, and opening it for work.

A key may stop working silently: lists then answer as an anonymous visitor would see them. So the key is
verified with `GET /users/current.json` for every piece of work: before a write, beside a read.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from bot.errors import KeyRejected, NotLinked, StoredSecretError, Unauthorized
from bot.service.client import Client
from bot.service.models import User
from bot.store.links import Link
from bot.store.owner import Owner
from bot.store.store import Store


@dataclass(frozen=True)
class Session:
    """A linked person at work: their key, and who they are in the service."""

    owner: Owner
    key: SecretStr
    user_id: int
    name: str


class Accounts:
    """Links between Slack users and the service's users."""

    def __init__(self, client: Client, store: Store) -> None:
        self._client = client
        self._store = store

    async def link(self, owner: Owner, key: SecretStr) -> User:
        """Verify a key and remember it as `owner`'s; the user whose key it is.

        Raises Unauthorized for a wrong key and other ServiceErrors; nothing is stored then.
        """
        user = await self._client.get_user(key, "current")
        await self._store.links.put(owner, key, user.id, full_name(user))
        return user

    async def unlink(self, owner: Owner) -> bool:
        """Forget the person's key; False when none was known."""
        return await self._store.links.delete(owner)

    async def linked_as(self, owner: Owner) -> Link | None:
        """What is stored for the person, unverified; None also for a key that can't be opened any more."""
        try:
            return await self._store.links.get(owner)
        except StoredSecretError:
            return None

    async def whoami(self, owner: Owner) -> User:
        """The person as the service knows them now. Raises NotLinked, KeyRejected, ServiceError."""
        return await self._verify(await self._link(owner))

    async def writing(self, owner: Owner) -> Session:
        """A session whose key was verified just now. Raises NotLinked, KeyRejected, ServiceError."""
        link = await self._link(owner)
        user = await self._verify(link)
        return Session(owner, link.key, user.id, full_name(user))

    @asynccontextmanager
    async def reading(self, owner: Owner) -> AsyncIterator[Session]:
        """A session for reads, verified beside them: leaving it raises KeyRejected if the key was not good,
        so nothing that an anonymous visitor saw is ever returned as the person's own view.
        """
        link = await self._link(owner)
        check = asyncio.create_task(self._verify(link))
        try:
            yield Session(owner, link.key, link.user_id, link.name)
        except asyncio.CancelledError:
            check.cancel()
            raise
        except Exception:
            await check
            raise
        await check

    async def _link(self, owner: Owner) -> Link:
        try:
            link = await self._store.links.get(owner)
        except StoredSecretError as error:  # kept: the right encryption key may come back
            raise NotLinked("Your stored key can't be read any more: link your account anew.") from error
        if link is None:
            raise NotLinked
        return link

    async def _verify(self, link: Link) -> User:
        try:
            return await self._client.get_user(link.key, "current")
        except Unauthorized:
            removed = await self._store.links.delete_if_key(link.owner, link.key)
            raise (KeyRejected() if removed else NotLinked()) from None


def full_name(user: User) -> str:
    """First and last name, or whatever the service shows of the person."""
    return (
        " ".join(part for part in (user.firstname, user.lastname) if part) or user.login or f"user {user.id}"
    )
