"""Links Slack users to their own API keys and verifies a key each time it is used.

A key can stop working without an error: the service then answers lists as for an anonymous visitor. So every
operation verifies its key with `GET /users/current.json`, right before a write and right after the last reads
were sent, while their answers are still on their way.

A refused key may be fine: the service or a proxy may refuse all of them for a while. So a refusal only
suspends background work with the key, for longer each time, until the next success. The key is forgotten
after refusals over hours, but not while other people's keys are refused as well (`bot.timings.KeyTimings`).
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pydantic import SecretStr

from bot import errors
from bot.access.assignments import assignments_end
from bot.service.client import Client, watched_reads
from bot.service.models import User
from bot.store.links import Link, Refusals
from bot.store.owner import Owner
from bot.store.store import Store
from bot.timings import DEFAULT, KeyTimings

KEY_DELETED = "key deleted"
"""The kind of job that stops what ran with a key that was deleted, and tells its owner. Its content is the
owner's name and how many issues they followed then.
"""
ROUNDS_CHECKED = 3
"""Rounds of reads with a check beside them; more would double the requests for a list of many pages."""


@dataclass(frozen=True)
class Session:
    """A linked user's key and identity in the service, for one operation."""

    owner: Owner
    key: SecretStr
    user_id: int
    name: str


@dataclass(eq=False)
class Accounts:
    client: Client
    store: Store
    timings: KeyTimings = DEFAULT.keys
    check_departure: Callable[[Owner], Awaitable[None]] | None = None
    """Unlinks an owner whom Slack has deactivated; called before background work."""
    _accepted_at: float = field(default=-math.inf, init=False)
    """When the service last accepted a key, on the monotonic clock."""

    async def owner_of(self, key: SecretStr) -> User:
        """The user that a key belongs to. Raises SwitchedOff, Unauthorized."""
        try:
            return await self.client.get_user(key, "current")
        except errors.Forbidden as error:
            # Any user may read their own account, so 403 means that the REST API is off.
            raise errors.SwitchedOff(error.method, error.path, error.status) from None

    async def link(self, owner: Owner, key: SecretStr, user: User) -> None:
        since = None
        with suppress(errors.ServiceError):  # otherwise it starts with what is read first
            since = await assignments_end(self.client, key, await self.store.processes.now())
        await self.store.links.put(owner, key, user.id, full_name(user), since)

    async def linked_as(self, owner: Owner) -> Link | None:
        """The stored link, without verifying its key. None if there is none or it can't be decrypted."""
        with suppress(errors.NotLinked):
            return await self.store.links.required(owner)
        return None

    async def background_link(self, owner: Owner) -> Link:
        """The stored link, for work that no user waits for. Raises NotLinked, KeyUnreadable, KeySuspended."""
        if self.check_departure:
            await self.check_departure(owner)
        link = await self.store.links.required(owner)
        if link.refusals:
            wait = (self._retry_at(link.refusals) - await self.store.processes.now()).total_seconds()
            if 0 < wait <= self.timings.longest_retry:  # longer only if the clock was set back
                raise errors.KeySuspended(wait)
        return link

    async def whoami(self, owner: Owner) -> User:
        return await self._verify(await self.store.links.required(owner))

    async def writing(self, owner: Owner) -> Session:
        """Verify the key and return a session to write with. Raises NotLinked, KeyRejected."""
        link = await self.store.links.required(owner)
        user = await self._verify(link)
        return Session(owner, link.key, user.id, full_name(user))

    async def reverified(self, session: Session) -> Session:
        """As `writing`, again after a long wait. Raises UserError if another account was linked meanwhile."""
        now = await self.writing(session.owner)
        _check_same(now, session)
        return now

    @asynccontextmanager
    async def reading(self, owner: Owner, *, background: bool = False) -> AsyncIterator[Session]:
        """A session for reads, whose key is checked beside the reads and verified on exit.

        Exiting raises KeyRejected if the key no longer works, so that an anonymous visitor's view is never
        returned as the user's own. A write that depends on these reads comes right after the block. In the
        `background`, where nobody waits, the key is checked only on exit, which takes fewer requests, and
        KeySuspended is raised instead until the key is forgotten.
        """
        link = await (self.background_link(owner) if background else self.store.links.required(owner))
        checks = KeyChecks(partial(self.owner_of, link.key), 0 if background else ROUNDS_CHECKED)
        try:
            async with self._while_linked(owner):
                with watched_reads(checks.read_starts):
                    yield Session(owner, link.key, link.user_id, link.name)
        except (
            errors.NotLinked,
            errors.Redirected,
            errors.ServiceBroken,
            errors.TimedOut,
            errors.TooManyRequests,
            errors.Unreachable,
        ):
            raise  # the key is gone, or nothing was read, so there is nothing to verify
        except Exception:
            await self._verify(link, checks.last(), background=background)
            raise
        else:
            await self._verify(link, checks.last(), background=background)
        finally:
            await checks.close()

    @asynccontextmanager
    async def _while_linked(self, owner: Owner) -> AsyncIterator[None]:
        """Interrupt the block once the owner's key is deleted. Raises NotLinked then."""

        async def watch(limit: asyncio.Timeout) -> None:
            await asyncio.sleep(self.timings.watch)
            while await self.linked_as(owner):  # noqa: ASYNC110 - another process may have deleted it
                await asyncio.sleep(self.timings.watch)
            limit.reschedule(asyncio.get_running_loop().time())

        limit = asyncio.timeout(None)
        try:
            async with limit:
                watching = asyncio.create_task(watch(limit))
                watching.add_done_callback(lambda task: task.cancelled() or task.exception())
                try:
                    yield
                finally:
                    watching.cancel()
        except TimeoutError:
            if limit.expired():
                raise errors.NotLinked from None
            raise

    async def _verify(
        self, link: Link, check: Awaitable[User] | None = None, *, background: bool = False
    ) -> User:
        """The user the key belongs to, by `check` if it was sent already.

        Counts a refusal only if the key is refused twice in a row. Raises AccountChanged if the user has
        linked another account in the meantime.
        """
        try:
            user = await (check or self.owner_of(link.key))
        except errors.Unauthorized:
            await asyncio.sleep(self.timings.recheck)
            try:
                user = await self.owner_of(link.key)
            except errors.Unauthorized:
                wait = await self._refused(link)
                suspended = background and wait is not None
                raise (errors.KeySuspended(wait or 0) if suspended else errors.KeyRejected()) from None
        self._accepted_at = time.monotonic()
        now = await self.store.links.required(link.owner)
        _check_same(now, link)
        if now.refusals:
            await self.store.links.accepted(link)
        return user

    async def _refused(self, link: Link) -> float | None:
        """Record a refusal; returns the seconds until the key is tried again, None if it was forgotten."""
        now = await self.store.processes.now()
        past = link.refusals
        refusals = past or Refusals(now, now, 1)
        if past is None or now >= self._retry_at(past):
            refusals = Refusals(refusals.since, now, past.count + 1 if past else 1)
            if await self._is_dead(link, refusals) and await self._deleted(link):
                return None
            await self.store.links.refused(link, refusals)
        return (self._retry_at(refusals) - now).total_seconds()

    async def _deleted(self, link: Link) -> bool:
        """Delete a key, and put the job that tells its owner; False if another process did."""
        followed = await self.store.followed.count(link.owner)
        key, content = f"{KEY_DELETED}:{link.owner.name}:{link.linked_at}", [link.owner.name, followed]
        return await self.store.links.forget(link, self.store.jobs.putting(KEY_DELETED, key, content))

    def _retry_at(self, refusals: Refusals) -> datetime:
        wait = self.timings.first_retry * 2.0 ** min(refusals.count - 1, 20)
        return refusals.latest + timedelta(seconds=min(wait, self.timings.longest_retry))

    async def _is_dead(self, link: Link, refusals: Refusals) -> bool:
        lasted = refusals.latest - refusals.since
        if refusals.count < self.timings.refusals or lasted.total_seconds() < self.timings.forget_after:
            return False
        together = self.timings.together
        tried_before = (link.refusals or refusals).latest  # long ago if the bot was stopped
        service_works = time.monotonic() - self._accepted_at < together
        return not await self.store.links.others_refused(
            link,
            since=refusals.latest - timedelta(seconds=self.timings.others_for) if service_works else None,
            latest=tried_before - timedelta(seconds=together),
        )


def _check_same(now: Session | Link, before: Session | Link) -> None:
    if now.user_id != before.user_id:
        said = "You linked a different {service} account while I was working on this. Try again."
        raise errors.UserError(said)


def full_name(user: User) -> str:
    """First and last name, or the login or ID if the service shows no name."""
    return " ".join(filter(None, (user.firstname, user.lastname))) or user.login or f"user {user.id}"


class KeyChecks:
    """Sends a check right after each round of reads, and returns the one that was sent last.

    A check proves that the key was good for the reads sent before it, unless it overtook them on the network.
    Reads that start after a check has started are the next round and get a check of their own. After `most`
    rounds only one more check is sent, at the end.
    """

    def __init__(self, check: Callable[[], Coroutine[Any, Any, User]], most: int) -> None:
        self._check = check
        self._left = most
        self._tasks: list[asyncio.Task[User]] = []
        self._starting = False
        self._last: asyncio.Task[User] | None = None

    def read_starts(self) -> None:
        """Schedule a check, unless one is scheduled that will start after this read."""
        if self._starting:
            return
        self._last = None
        if self._left:
            self._left -= 1
            self._starting = True
            self._last = asyncio.create_task(self._start())
            self._tasks.append(self._last)

    def last(self) -> Awaitable[User]:
        """The check that was sent after all reads; sends one if there is none."""
        return self._last or self._check()

    async def close(self) -> None:
        self._left = 0
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _start(self) -> User:
        await asyncio.sleep(0)  # tasks that the first reads' tasks have started belong to the same round
        self._starting = False
        with watched_reads(lambda: None):  # the check is a read as well
            return await self._check()
