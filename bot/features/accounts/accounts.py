"""Links Slack users to their own API keys and verifies a key each time it is used.

A key can stop working without an error: the service then answers lists as for an anonymous visitor. So every
operation verifies its key with `GET /users/current.json`, right before a write and right after the last reads
were sent, while their answers are still on their way.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from pydantic import SecretStr

from bot.errors import (
    AccountChanged,
    Forbidden,
    KeyRejected,
    KeyUnreadable,
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
from bot.features.accounts.key_checks import KeyChecks
from bot.service.client import Client, watched_reads
from bot.service.models import User
from bot.store.links import Link
from bot.store.owner import Owner
from bot.store.store import Store

ROUNDS_CHECKED = 3
"""Rounds of reads with a check beside them; more would double the requests for a list of many pages."""


@dataclass(frozen=True)
class Session:
    """A linked user's key and identity in the service, for one operation."""

    owner: Owner
    key: SecretStr
    user_id: int
    name: str


@dataclass(frozen=True)
class Accounts:
    """Links between Slack users and the service's users."""

    client: Client
    store: Store
    recheck_delay: float = 0.5
    """The pause in seconds before a refused key is checked again."""

    async def owner_of(self, key: SecretStr) -> User:
        """The user that a key belongs to. Raises SwitchedOff, Unauthorized."""
        try:
            return await self.client.get_user(key, "current")
        except Forbidden as error:
            # Any user may read their own account, so 403 means that the REST API is off.
            raise SwitchedOff(error.method, error.path, error.status) from None

    async def link(self, owner: Owner, key: SecretStr, user: User) -> None:
        """Store a key that belongs to `user`."""
        await self.store.links.put(owner, key, user.id, full_name(user))

    async def unlink(self, owner: Owner) -> bool:
        """Delete the stored key. Returns whether there was one."""
        return await self.store.links.delete(owner)

    async def linked_as(self, owner: Owner) -> Link | None:
        """The stored link, without verifying its key. None if there is none or it can't be decrypted."""
        with suppress(NotLinked):
            return await self.link_of(owner)
        return None

    async def link_of(self, owner: Owner) -> Link:
        """The stored link, without verifying its key. Raises NotLinked, KeyUnreadable."""
        try:
            link = await self.store.links.get(owner)
        except StoredSecretError as error:
            raise KeyUnreadable from error
        if link is None:
            raise NotLinked
        return link

    async def whoami(self, owner: Owner) -> User:
        """Read the linked user from the service. Raises NotLinked, KeyRejected."""
        return await self._verify(await self.link_of(owner))

    async def writing(self, owner: Owner) -> Session:
        """Verify the key and return a session to write with. Raises NotLinked, KeyRejected."""
        link = await self.link_of(owner)
        user = await self._verify(link)
        return Session(owner, link.key, user.id, full_name(user))

    async def reverified(self, session: Session) -> Session:
        """As `writing`, again after a long wait. Raises AccountChanged too."""
        now = await self.writing(session.owner)
        if now.user_id != session.user_id:
            raise AccountChanged
        return now

    @asynccontextmanager
    async def reading(self, owner: Owner, *, background: bool = False) -> AsyncIterator[Session]:
        """A session for reads, whose key is checked beside the reads and verified on exit.

        Exiting raises KeyRejected if the key no longer works, so that an anonymous visitor's view is never
        returned as the user's own. A write that depends on these reads comes right after the block. In the
        `background`, where nobody waits, the key is checked only on exit, which takes fewer requests.
        """
        link = await self.link_of(owner)
        checks = KeyChecks(partial(self.owner_of, link.key), 0 if background else ROUNDS_CHECKED)
        try:
            with watched_reads(checks.read_starts):
                yield Session(owner, link.key, link.user_id, link.name)
        except (Redirected, ServiceBroken, TimedOut, TooManyRequests, Unreachable):
            raise  # nothing was read, so there is nothing to verify
        except Exception:
            await self._verify(link, checks.last())
            raise
        else:
            await self._verify(link, checks.last())
        finally:
            await checks.close()

    async def _verify(self, link: Link, check: Awaitable[User] | None = None) -> User:
        """The user the key belongs to, by `check` if it was sent already.

        Deletes the key only if it is refused twice, since a proxy may have caused the first refusal. Raises
        AccountChanged if the user has linked another account in the meantime.
        """
        try:
            user = await (check or self.owner_of(link.key))
        except Unauthorized:
            await asyncio.sleep(self.recheck_delay)
            try:
                user = await self.owner_of(link.key)
            except Unauthorized:
                removed = await self.store.links.delete_if_key(link.owner, link.key)
                raise (KeyRejected() if removed else NotLinked()) from None
        if (await self.link_of(link.owner)).user_id != link.user_id:
            raise AccountChanged
        return user


def full_name(user: User) -> str:
    """First and last name, or the login or ID if the service shows no name."""
    return " ".join(filter(None, (user.firstname, user.lastname))) or user.login or f"user {user.id}"
