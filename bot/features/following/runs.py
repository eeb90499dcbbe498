"""Keeps the posts that follow issues up to date: one process for each follower, however many replicas run.

A follower's issues are read in pages of 100, at most once in `Timings.follow_every`: those updated since the
last read, and from time to time all of them, to notice the ones that aren't visible anymore. Only issues that
changed are then read one by one, with a key that is verified before anything is posted.
"""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.errors import BotError, KeyRejected, KeySuspended, KeyUnreadable, NotLinked, Unauthorized
from bot.features.accounts.accounts import Accounts
from bot.features.following.reading import IssueReader, Seen
from bot.features.following.showing import Showing
from bot.service.client import Client
from bot.service.conventions import PAGE
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.service.models import Issue
from bot.store.followed import Followed, Follower
from bot.store.owner import Owner
from bot.store.store import Store

MAX_IN_FLIGHT = 200
"""How many followers one process may have claimed at a time."""
READERS = 8
"""How many followers' issues are read at once."""
MOST_CHANGES = 50
"""How many changed issues of one follower are read one by one; the others wait for the next read."""
ALL_EVERY = 10
"""Every how many reads all issues are read."""
OVERLAP = timedelta(minutes=15)
"""How late an update may become visible, and how far the service's clock may be set back."""
QUIET = timedelta(days=30)
"""After this long without a change, an issue isn't followed anymore."""
LONGEST_TURN = 300.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Poll:
    """The followed issues that have to be read one by one, and up to when all changes are known."""

    changed: tuple[Followed, ...]
    covered_to: datetime | None


@dataclass(frozen=True)
class FollowRuns:
    """Updates posts in one process."""

    client: Client
    store: Store
    accounts: Accounts
    reader: IssueReader
    showing: Showing
    _readers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(READERS), init=False)
    _tasks: dict[Owner, asyncio.Task[None]] = field(default_factory=dict, init=False)

    async def run_due(self) -> None:
        """Claim followers whose issues are due to be read, and start; `idle` waits for them."""
        self.showing.clock.set(await self.store.processes.now())
        if (free := MAX_IN_FLIGHT - len(self._tasks)) <= 0:
            return
        now = self.showing.clock.now()
        claimed = await self.store.followed.claim(
            now,
            free,
            lease_until=self.showing.lease_until(),
            next_at=now + timedelta(seconds=self.showing.timings.follow_every),
            excluding=set(self._tasks),
        )
        for follower in claimed:
            task = self._tasks[follower.owner] = asyncio.create_task(self._run_logged(follower))
            task.add_done_callback(partial(self._done, follower.owner))

    async def idle(self) -> None:
        """Wait until everything in flight is done."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def stop(self, seconds: float) -> None:
        """Give work in flight `seconds` to finish. Another process continues the rest."""
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=seconds)
        for task in (left := set(self._tasks.values())):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _done(self, owner: Owner, _: asyncio.Task[None]) -> None:
        del self._tasks[owner]

    async def _run_logged(self, follower: Follower) -> None:
        """One follower's turn; all its log lines share one reference."""
        owner = follower.owner
        who = {"reference": secrets.token_hex(4), "team": owner.team_id, "user": owner.user_id}
        with structlog.contextvars.bound_contextvars(**who):
            covered_to = follower.covered_to
            try:
                async with asyncio.timeout(LONGEST_TURN):
                    covered_to = await self._turn(follower)
            except KeyUnreadable:  # the operator may restore the right encryption key
                log.warning("stored key can't be decrypted", action="follow.key_unreadable")
            except KeySuspended as error:
                log.info("key suspended", action="follow.key_suspended", seconds=round(error.retry_after))
            except BotError as error:
                why = str(error) or type(error).__name__
                log.warning("followed issues not read", action="follow.not_read", error=why)
            except Exception:
                log.exception("followed issues not handled", action="follow.failed")
            try:
                await self.store.followed.release(follower, covered_to)
            except Exception:
                log.exception("follower not released", action="follow.not_released")

    async def _turn(self, follower: Follower) -> datetime | None:
        """Handle a follower's changes; returns up to when they are handled."""
        owner = follower.owner
        followed = await self._without_quiet(await self.store.followed.of(owner))
        try:
            async with self._readers:
                poll = await self._poll(follower, followed)
                if not poll.changed:
                    return poll.covered_to
                seen = await self._read(follower, poll.changed)
        except KeyRejected:
            await self.showing.end(followed, "key")
            await self.showing.poster.notify_owner(owner, len(followed))
            return None
        except NotLinked:
            await self.showing.end(followed, "unlinked")
            return None
        # At once, so that a busy channel doesn't hold up the others.
        shown = await asyncio.gather(*(self._shown(one, seen) for one in poll.changed))
        return poll.covered_to if all(shown) else follower.covered_to

    async def _shown(self, one: Followed, seen: Mapping[int, Seen | None]) -> bool:
        """Whether an issue's change is handled, so that it isn't tried again."""
        try:
            return one.issue_id in seen and await self.showing.show(one, seen[one.issue_id])
        except Exception:
            log.exception("followed issue not shown", action="follow.not_shown", issue=one.issue_id)
            return False

    async def _without_quiet(self, followed: Sequence[Followed]) -> Sequence[Followed]:
        oldest = self.showing.clock.now() - QUIET
        quiet = {one.id: one for one in followed if one.changed_at and one.changed_at < oldest}
        await self.showing.end([*quiet.values()], "quiet")
        return [one for one in followed if one.id not in quiet]

    async def _poll(self, follower: Follower, followed: Sequence[Followed]) -> Poll:
        """One request for each hundred issues. Raises NotLinked, KeyRejected, ServiceError."""
        everything = follower.covered_to is None or follower.reads % ALL_EVERY == 0
        since = follower.covered_to
        updated_on = TimeRange(since=since - OVERLAP) if since and not everything else None
        numbers = sorted({one.issue_id for one in followed})
        found: dict[int, Issue] = {}
        for start in range(0, len(numbers), PAGE):
            filters = IssueFilters(
                issue_ids=tuple(numbers[start : start + PAGE]),
                status="any",
                updated_on=updated_on,
                sort=(Sort("id"),),
            )
            link = await self.accounts.background_link(follower.owner)  # it may be gone by now
            try:
                page = await self.client.list_issues(link.key, filters)
            except Unauthorized:
                async with self.accounts.reading(follower.owner, background=True):
                    raise
            found |= {issue.id: issue for issue in page.items}
        changed = [one for one in followed if _changed(one, found.get(one.issue_id), everything=everything)]
        moments = [issue.updated_on for issue in found.values() if issue.updated_on]
        latest = max([*moments, *([since] if since else [])], default=None)
        # Not past now: an issue dated in the future would hide all others until then.
        covered_to = min(latest, self.showing.clock.now()) if latest else None
        return Poll(tuple(changed), covered_to)

    async def _read(self, follower: Follower, changed: Sequence[Followed]) -> dict[int, Seen | None]:
        """The issues as they are now, None for those that aren't visible. Raises as `_poll`."""
        numbers = sorted({one.issue_id for one in changed})
        first = follower.reads * MOST_CHANGES % len(numbers)  # each read goes on after the one before
        async with self.accounts.reading(follower.owner, background=True) as session:
            return await self.reader.read_all(session, (numbers[first:] + numbers[:first])[:MOST_CHANGES])


def _changed(one: Followed, issue: Issue | None, *, everything: bool) -> bool:
    """Whether an issue has to be read, by its row in the list."""
    if one.telling is not None:
        return True
    if issue is None:
        return everything
    return issue.updated_on != one.seen_on or issue.is_private
