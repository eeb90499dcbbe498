"""Links Slack users to their own API keys and verifies a key each time it is used.

A key can stop working without an error: the service then returns lists as for an anonymous visitor. So every
operation verifies its key with `GET /users/current.json`, right before a write and right after it sends the
last reads, while it waits for their responses.

A refused key may be fine: the service or a proxy may refuse keys for a while. So a refusal only suspends
background work with the key, for longer each time, until the next success. If refusals go on, the owner is
notified, and much later the key is deleted (`bot.timings.KeyTimings`).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from pydantic import SecretStr

from bot import errors
from bot.service.client import Client, watched_reads
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.service.models import User
from bot.store.digests import Pause
from bot.store.links import Link, Refusals
from bot.store.notices import EVER
from bot.store.owner import Owner
from bot.store.store import Store
from bot.timings import DEFAULT, KeyTimings

KEY_REFUSED = "key refused"
"""The kind of job that notifies the owner of a key that is still refused. Its content is the owner's name."""
AHEAD = timedelta(days=1)  # how far ahead the service's clock may be
SECOND = timedelta(seconds=1)
ROUNDS_CHECKED = 3
"""Rounds of reads with a check beside them; more would double the requests for a list of many pages."""

log = structlog.get_logger(__name__)


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

    async def owner_of(self, key: SecretStr) -> User:
        """The user that a key belongs to. Raises SwitchedOff, Unauthorized."""
        try:
            return await self.client.get_user(key, "current")
        except errors.Forbidden as error:
            # Any user may read their own account, so 403 means that the REST API is off.
            raise errors.SwitchedOff(error.method, error.path, error.status) from None

    async def link(self, owner: Owner, key: SecretStr, user: User) -> None:
        since = None
        with suppress(errors.ServiceError):  # otherwise it starts with the first read
            now = await self.store.processes.now()
            since = await changes_end(self.client, key, now, reported=True)
        await self.store.links.put(owner, key, user.id, full_name(user), since)

    async def background_link(self, owner: Owner) -> Link:
        """The stored link, for work that no user waits for. Raises NotLinked, KeyUnreadable, KeySuspended."""
        if self.check_departure:
            await self.check_departure(owner)
        link = await self.store.links.required(owner)
        if link.refusals:
            retry_at = link.refusals.latest + self._pause(link.refusals)
            wait = (retry_at - await self.store.processes.now()).total_seconds()
            if wait > 0:
                raise errors.KeySuspended(wait)
        return link

    async def whoami(self, owner: Owner) -> User:
        return await self._verify(await self.store.links.required(owner))

    async def writing(self, owner: Owner) -> Session:
        """Verify the key and return a session to write with. Raises NotLinked, KeyRejected."""
        link = await self.store.links.required(owner)
        user = await self._verify(link)
        return Session(owner, link.key, user.id, full_name(user))

    async def unverified(self, owner: Owner) -> Session:
        """A session whose key isn't verified: one that no longer works shows what everyone can see.

        For what is checked right before a public post, and where the next request verifies the key. Raises
        NotLinked, KeyUnreadable.
        """
        link = await self.store.links.required(owner)
        return Session(owner, link.key, link.user_id, link.name)

    async def reverified(self, session: Session) -> Session:
        """Verify the key again after a long wait. Raises UserError if the user has linked another account."""
        now = await self.writing(session.owner)
        _check_same(now, session)
        return now

    @asynccontextmanager
    async def reading(self, owner: Owner, *, background: bool = False) -> AsyncIterator[Session]:
        """A session for reads, whose key is checked beside the reads and verified on exit.

        Exiting raises KeyRejected if the key no longer works, so that an anonymous visitor's view is never
        returned as the user's own. A write that depends on these reads comes right after the block. In the
        `background`, the key is checked only on exit, which takes fewer requests, and
        KeySuspended is raised instead.
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
            while await self.store.links.get(owner):  # noqa: ASYNC110 - another process may have deleted it
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

        Records a refusal only if the key is refused twice in a row. Raises KeyRejected, or in the background
        KeySuspended; UserError if the user has linked another account in the meantime.
        """
        try:
            user = await (check or self.owner_of(link.key))
        except errors.Unauthorized:
            await asyncio.sleep(self.timings.recheck)
            try:
                user = await self.owner_of(link.key)
            except errors.Unauthorized:
                pause = await self._refused(link)
                raise (errors.KeySuspended(pause) if background else errors.KeyRejected()) from None
        now = await self.store.links.required(link.owner)
        _check_same(now, link)
        if now.refusals:
            await self.store.links.accepted(link)
        return user

    async def _refused(self, link: Link) -> float:
        """Record a refusal; returns the seconds until the key is tried again.

        Once refusals last for `notify_after`, a job notifies the owner. The key is deleted only later.
        """
        now, past = await self.store.processes.now(), link.refusals
        refusals = Refusals(past.since if past else now, now)
        notified = past is not None and past.duration >= self.timings.notify_after
        if notified and refusals.duration >= self.timings.delete_after:
            if await self.store.links.delete_refused(link):
                await self.stop_work(link.owner, Pause.KEY)
            return 0
        also = []
        if not notified and refusals.duration >= self.timings.notify_after:
            key = f"{KEY_REFUSED}:{link.owner.name}:{refusals.since.isoformat()}"
            also.append(self.store.jobs.putting(KEY_REFUSED, key, link.owner.name))
        await self.store.links.refused(link, refusals, also)
        self.store.jobs.wake()
        return self._pause(refusals).total_seconds()

    def _pause(self, refusals: Refusals) -> timedelta:
        """The time until a key is tried again: as long as it has been refused, within limits."""
        seconds = min(max(refusals.duration, self.timings.first_retry), self.timings.longest_retry)
        return timedelta(seconds=seconds)

    async def stop_work(self, owner: Owner, why: Pause, *, tell_owner: bool = True) -> int:
        """Stop the digests and followed issues of a user whose key is gone; return how many digests.

        A crash between deleting the key and this leaves it to the next due reads.
        """
        stopped = await self.store.digests.stop(owner, None, why, tell_owner=tell_owner)
        followed = await self.store.followed.of(owner)
        await self.store.followed.end(followed)
        if stopped or followed:
            who = {"team": owner.team_id, "user": owner.user_id, "why": why.value}
            counts = {"digests": stopped, "followed": len(followed)}
            log.info("stopped what ran with a key", action="account.stopped", **who, **counts)
        return stopped


def _check_same(now: Session | Link, before: Session | Link) -> None:
    if now.user_id != before.user_id:
        sentence = "You linked a different {service} account while I was working on this. Try again."
        raise errors.UserError(sentence)


def full_name(user: User) -> str:
    """First and last name, or the login or ID if the service shows no name."""
    return " ".join(filter(None, (user.firstname, user.lastname))) or user.login or f"user {user.id}"


def changed_since(since: datetime | None, *, reported: bool) -> Sequence[IssueFilters]:
    """Return the filters for a user's issues, or those that changed since then, the latest first: assigned to
    them or their groups, and those that they `reported`.
    """
    changed = TimeRange(since=since.replace(microsecond=0)) if since else None
    latest = (Sort("updated_on", descending=True), Sort("id"))
    assigned = IssueFilters(assigned_to=("me",), status="any", updated_on=changed, sort=latest)
    own = IssueFilters(author=("me",), status="any", updated_on=changed, sort=latest)
    return (assigned, own) if reported else (assigned,)


async def changes_end(client: Client, key: SecretStr, now: datetime, *, reported: bool) -> datetime:
    """When the last change of the user's issues was, a second later."""
    at = EVER
    for filters in changed_since(None, reported=reported):
        newest = (await client.list_issues(key, filters, limit=1)).items
        at = max([at, *(issue.updated_on for issue in newest if issue.updated_on)])
    return min(at, now + AHEAD) + SECOND


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
