"""Whose key is used: linking a Slack user to a key of their own, and opening it for work.

A key may stop working silently: lists then answer as an anonymous visitor would see them. So the key is
verified with `GET /users/current.json` for every piece of work: just before a write, after what was read.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from bot.errors import (
    AccountChanged,
    Forbidden,
    KeyRejected,
    NotLinked,
    Redirected,
    ServiceBroken,
    StoredSecretError,
    SwitchedOff,
    TimedOut,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
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

    def __init__(self, client: Client, store: Store, *, second_look: float = 0.5) -> None:
        """`second_look` is the pause in seconds before a refused key is checked again."""
        self._client = client
        self._store = store
        self._second_look = second_look

    async def link(self, owner: Owner, key: SecretStr) -> User:
        """Verify a key and remember it as `owner`'s; the user whose key it is.

        Raises Unauthorized for a wrong key and other ServiceErrors; nothing is stored then.
        """
        user = await self._whose(key)
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

    async def reverified(self, session: Session) -> Session:
        """The session to write with after a long wait: the same account, with the key it is linked by now.

        Raises AccountChanged, NotLinked, KeyRejected, ServiceError.
        """
        now = await self.writing(session.owner)
        if now.user_id != session.user_id:
            raise AccountChanged
        return now

    @asynccontextmanager
    async def reading(self, owner: Owner) -> AsyncIterator[Session]:
        """A session for reads, verified after the last of them: leaving it raises KeyRejected if the key is
        no longer good, so nothing that an anonymous visitor saw is ever returned as the person's own view.
        What is to be written after such reads is written right after leaving it.
        """
        link = await self._link(owner)
        try:
            yield Session(owner, link.key, link.user_id, link.name)
        except (Redirected, ServiceBroken, TimedOut, TooManyRequests, Unreachable):
            raise  # there was no view, whoever's
        except Exception:
            await self._verify(link)
            raise
        await self._verify(link)

    async def _link(self, owner: Owner) -> Link:
        try:
            link = await self._store.links.get(owner)
        except StoredSecretError as error:  # kept: the right encryption key may come back
            raise NotLinked("Your stored key can't be read any more: link your account anew.") from error
        if link is None:
            raise NotLinked
        return link

    async def _verify(self, link: Link) -> User:
        """Whose key it is, checked twice before the key is forgotten: a proxy may have refused it once.

        Raises AccountChanged if the person has linked another account meanwhile.
        """
        try:
            user = await self._whose(link.key)
        except Unauthorized:
            await asyncio.sleep(self._second_look)
            try:
                user = await self._whose(link.key)
            except Unauthorized:
                removed = await self._store.links.delete_if_key(link.owner, link.key)
                raise (KeyRejected() if removed else NotLinked()) from None
        if (await self._link(link.owner)).user_id != link.user_id:
            raise AccountChanged
        return user

    async def _whose(self, key: SecretStr) -> User:
        """Whose key it is: everybody may ask that. Raises SwitchedOff, Unauthorized, other ServiceErrors."""
        try:
            return await self._client.get_user(key, "current")
        except Forbidden as error:
            raise SwitchedOff(error.method, error.path, error.status) from None


def full_name(user: User) -> str:
    """First and last name, or whatever the service shows of the person."""
    return (
        " ".join(part for part in (user.firstname, user.lastname) if part) or user.login or f"user {user.id}"
    )
