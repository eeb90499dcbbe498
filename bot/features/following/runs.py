"""Keeps the posts that follow issues up to date: one process for each follower, however many replicas run.

A follower's issues are read in pages of 100, at most once in `Timings.follow_every`: those updated since the
last read, and from time to time all of them, to notice the ones that aren't visible anymore. Only issues that
changed are then read one by one, with a key that is verified before anything is posted. A change is shown in
its thread once, or the issue isn't followed anymore.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog

from bot.access.access import Access
from bot.errors import KeyRejected, KeyUnreadable, NotLinked, Unauthorized
from bot.features.background import Background
from bot.features.following.following import Following, Seen
from bot.features.following.poster import ThreadPoster
from bot.service.conventions import PAGE
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.service.models import Issue
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.store.followed import Followed, Follower

MAX_IN_FLIGHT = 200  # how many followers one process may have claimed at a time
MAX_CHANGES = 50
"""How many changed issues of one follower are read one by one; the others wait for the next read."""
ALL_EVERY = 10  # every how many reads all issues are read
OVERLAP = timedelta(minutes=15)
"""How late an update may become visible, and how far the service's clock may be set back."""
QUIET = timedelta(days=30)  # after this long without a change, an issue isn't followed anymore
LONGEST_TURN = 300.0
SAME_SECOND = timedelta(seconds=5)
"""For how long after an update another one may get the same time, with some room for unequal clocks."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Poll:
    """The followed issues that have to be shown, as they are now, and up to when all changes are known.

    `seen` lacks those that the service failed to send, and has None for those that aren't visible.
    """

    changed: Sequence[Followed]
    covered_to: datetime | None
    seen: Mapping[int, Seen | None]


class FollowRuns(Background[Follower, Poll]):
    """Updates posts and adds lines below them in one process."""

    name = "follow"
    readers = 8

    def __init__(self, access: Access, poster: ThreadPoster) -> None:
        super().__init__(access)
        self.poster = poster
        self._stored = access.store.followed

    def _next_at(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self.access.timings.follow_every)

    async def realign(self, now: datetime) -> None:
        await self._stored.realign(now, lease_until=self.lease_until(), next_at=self._next_at(now))

    async def due(self, now: datetime) -> AsyncIterator[Sequence[Follower]]:
        next_at = self._next_at(now)
        claimed = await self._stored.claim(
            now,
            MAX_IN_FLIGHT - len(self.in_flight),
            lease_until=self.lease_until(),
            next_at=next_at,
            excluding={follower.owner for follower in self.in_flight.values()},
        )
        for follower in claimed:
            yield [follower]

    async def ready(self, items: Sequence[Follower]) -> Sequence[Follower]:
        """The follower with what they follow, without what has been quiet for long."""
        (follower,) = items
        oldest = self.clock.now() - QUIET
        followed = await self._stored.of(follower.owner)
        quiet = {one.id: one for one in followed if one.changed_at and one.changed_at < oldest}
        await self._end([*quiet.values()], "quiet")
        return [replace(follower, followed=tuple(one for one in followed if one.id not in quiet))]

    async def read(self, items: Sequence[Follower]) -> Sequence[tuple[Follower, Poll]]:
        """What changed, and each such issue. Raises NotLinked, KeyRejected, ServiceError."""
        (follower,) = items
        changed, covered_to = await self._changed(follower)
        seen: Mapping[int, Seen | None] = {}
        if numbers := sorted({one.issue_id for one in changed}):
            first = follower.reads * MAX_CHANGES % len(numbers)  # each read goes on after the one before
            async with self.access.accounts.reading(follower.owner, background=True) as session:
                seen = await Following(self.access).read_all(
                    session, (numbers[first:] + numbers[:first])[:MAX_CHANGES]
                )
        return [(follower, Poll(changed, covered_to, seen))]

    async def post(self, item: Follower, content: Poll) -> None:
        """Show the changes; those that can't be shown now are read again in the follower's next turn."""
        async with asyncio.timeout(LONGEST_TURN):
            # At once, so that a busy channel doesn't hold up the others.
            shown = await asyncio.gather(*(self._shown(one, content.seen) for one in content.changed))
        covered_to = content.covered_to if all(shown) else item.covered_to
        await self._stored.release(item, covered_to)

    async def failed(self, items: Sequence[Follower], error: Exception) -> None:
        """Leave all changes to the follower's next turn; without a key, stop following.

        A key that was just deleted has a job that stops it, and tells its owner.
        """
        (follower,) = items
        if isinstance(error, NotLinked) and not isinstance(error, KeyUnreadable | KeyRejected):
            await self._end(follower.followed, "unlinked")
        await self._stored.release(follower, follower.covered_to)

    async def _changed(self, follower: Follower) -> tuple[Sequence[Followed], datetime | None]:
        """What has to be read, by one request for each hundred issues, and up to when changes are known then.

        Raises NotLinked, KeyRejected, ServiceError.
        """
        followed = follower.followed
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
            link = await self.access.accounts.background_link(follower.owner)  # it may be gone by now
            try:
                page = await self.access.client.list_issues(link.key, filters)
            except Unauthorized:
                async with self.access.accounts.reading(follower.owner, background=True):
                    raise
            found |= {issue.id: issue for issue in page.items}
        changed = [one for one in followed if _changed(one, found.get(one.issue_id), everything=everything)]
        moments = [issue.updated_on for issue in found.values() if issue.updated_on]
        latest = max([*moments, *([since] if since else [])], default=None)
        # Not past now: an issue dated in the future would hide all others until then.
        return changed, min(latest, self.clock.now()) if latest else None

    async def _shown(self, one: Followed, seen: Mapping[int, Seen | None]) -> bool:
        """Whether an issue's change is handled, so that it isn't tried again."""
        try:
            return one.issue_id in seen and await self._show_or_end(one, seen[one.issue_id])
        except Exception:
            log.exception("followed issue not shown", action="follow.not_shown", issue=one.issue_id)
            return False

    async def _end(self, followed: Sequence[Followed], why: str) -> None:
        """Stop following. The posts stay as they are."""
        if followed:
            await self._stored.end(followed)
        for one in followed:
            about = {"issue": one.issue_id, "channel": one.channel_id}
            log.info("stopped following an issue", action="follow.ended", why=why, **about)

    async def _show_or_end(self, one: Followed, seen: Seen | None) -> bool:
        """Show an issue as it is now, None if it isn't visible; returns False to try again later."""
        status = await self.poster.channel_status(one.owner, one.channel_id)
        if status is ChannelStatus.UNKNOWN:
            return False
        if why := _why_not(one, seen, status):
            await self._end([one], why)
        elif seen is not None:
            return await self._show(one, seen)
        return True

    async def _show(self, one: Followed, seen: Seen) -> bool:
        settled = await self._settled(one)
        if settled is None:
            return False
        for write in (self._update, self._quote, self._tell):
            match await write(settled, seen):
                case outcomes.PostRefused():
                    await self._end([one], "post gone")
                    return True
                case outcomes.Delayed() | outcomes.Unsure():
                    return False
        now, updated_on = self.clock.now(), seen.issue.updated_on
        # Times are in whole seconds: another change may still get the same one.
        settled_on = updated_on if updated_on and updated_on < now - SAME_SECOND else None
        await self._stored.record(one, seen_on=settled_on, changed_at=now)
        return True

    async def _settled(self, one: Followed) -> Followed | None:
        """The same once it is known whether a line that was being sent arrived; None if it isn't yet."""
        if one.telling is None and one.quoting is None:
            return one
        sent_at = one.telling_at or self.clock.now()
        last = sent_at + timedelta(seconds=self.access.timings.longest_post)
        found = await self.poster.find_line(one, (sent_at, last))
        log.info("line looked up", action="follow.looked_up", issue=one.issue_id, found=type(found).__name__)
        if isinstance(found, outcomes.Unfinished):
            await self._stored.record(one, searched_to=found.searched_to)
            return None
        return await self._told(one, arrived=not isinstance(found, outcomes.Absent))

    async def _told(self, one: Followed, *, arrived: bool) -> Followed:
        """The same after a line or a comment was sent, whether or not it arrived."""
        known: dict[str, Any] = {"telling": None, "quoting": None}
        if arrived:
            known |= {"quoted_to": one.quoting} if one.quoting is not None else {"closed": one.telling}
        await self._stored.record(one, **known)
        return replace(one, **known)

    async def _update(self, one: Followed, seen: Seen) -> outcomes.Outcome | None:
        """Show the issue in its post, unless the post shows it already."""
        if seen.fingerprint == one.shown:
            return None
        outcome = await self.poster.update(one, seen, partial(self._begin, one))
        if isinstance(outcome, outcomes.Posted):
            await self._stored.record(one, shown=seen.fingerprint)
        return outcome or outcomes.Delayed(0)

    async def _tell(self, one: Followed, seen: Seen) -> outcomes.Outcome | None:
        """Add the line that the issue was closed or reopened, if it was."""
        if seen.closed == one.closed:
            return None
        return await self._say(replace(one, told=one.told + 1, telling=seen.closed), seen)

    async def _quote(self, one: Followed, seen: Seen) -> outcomes.Outcome | None:
        """Quote the comments that are new, if they are included."""
        if one.quoted_to is None:
            return None
        for comment in seen.issue.public_comments or ():
            if comment.id > one.quoted_to:
                outcome = await self._say(replace(one, quoting=comment.id), seen)
                if not isinstance(outcome, outcomes.Posted):
                    return outcome
        return None

    async def _say(self, one: Followed, seen: Seen) -> outcomes.Outcome:
        """Add a line or a comment below the post, once."""

        async def begin() -> bool:
            at = self.poster.slack_time() or self.clock.now()
            return await self._begin(replace(one, telling_at=at, searched_to=None))

        outcome = await self.poster.tell(one, seen, begin)
        if not isinstance(outcome, outcomes.Unsure):
            await self._told(one, arrived=isinstance(outcome, outcomes.Posted))
        return outcome or outcomes.Delayed(0)

    async def _begin(self, one: Followed) -> bool:
        """Renew the lease right before a write; False if this process lost it, or the thread stopped."""
        return await self._stored.begin_writing(one, self.lease_until())


def _changed(one: Followed, issue: Issue | None, *, everything: bool) -> bool:
    """Whether an issue has to be read, by its row in the list."""
    if one.telling is not None or one.quoting is not None:
        return True
    if issue is None:
        return everything
    return issue.updated_on != one.seen_on or (issue.is_private and not one.direct)


def _why_not(one: Followed, seen: Seen | None, status: ChannelStatus) -> str | None:
    """Why the thread may not be shown the issue anymore, or None."""
    if status is not ChannelStatus.OPEN:
        return f"channel {status.value}"
    if seen is None:
        return "issue not visible"
    if one.direct:
        return None
    if seen.issue.is_private:
        return "issue private"
    return None if seen.exposure.may_show(one.agreed_project) else "project not public"
