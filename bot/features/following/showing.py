"""Shows a change of a followed issue in its thread, once, or stops following it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.features.following.poster import ThreadPoster
from bot.features.following.reading import Seen
from bot.slack.outgoing.outcomes import (
    Absent,
    ChannelStatus,
    Delayed,
    Outcome,
    Posted,
    Refused,
    Unfinished,
    Unsure,
)
from bot.store.clock import Clock
from bot.store.followed import Followed, StoredFollowed
from bot.timings import Timings

SAME_SECOND = timedelta(seconds=5)
"""For how long after an update another one may get the same time, with some room for unequal clocks."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Showing:
    """Updates posts and adds lines, while this process holds the lease of the issue's follower."""

    followed: StoredFollowed
    poster: ThreadPoster
    timings: Timings
    clock: Clock = field(default_factory=Clock)

    def lease_until(self) -> datetime:
        """The latest time, by the database's clock, when a write that begins now may still arrive."""
        return self.clock.now() + timedelta(seconds=self.timings.longest_post)

    async def end(self, followed: Sequence[Followed], why: str) -> None:
        """Stop following. The posts stay as they are."""
        if followed:
            await self.followed.end(followed)
        for one in followed:
            about = {"issue": one.issue_id, "channel": one.channel_id}
            log.info("stopped following an issue", action="follow.ended", why=why, **about)

    async def show(self, one: Followed, seen: Seen | None) -> bool:
        """Show an issue as it is now, None if it isn't visible; returns False to try again later."""
        status = await self.poster.channel_status(one.owner, one.channel_id)
        if status is ChannelStatus.UNKNOWN:
            return False
        if why := _why_not(one, seen, status):
            await self.end([one], why)
        elif seen is not None:
            return await self._show(one, seen)
        return True

    async def _show(self, one: Followed, seen: Seen) -> bool:
        settled = await self._settled(one)
        if settled is None:
            return False
        for write in (self._update, self._tell):
            match await write(settled, seen):
                case Refused():
                    await self.end([one], "post gone")
                    return True
                case Delayed() | Unsure():
                    return False
        now, updated_on = self.clock.now(), seen.issue.updated_on
        # Times are in whole seconds: another change may still get the same one.
        settled_on = updated_on if updated_on and updated_on < now - SAME_SECOND else None
        await self.followed.record(one, seen_on=settled_on, changed_at=now)
        return True

    async def _settled(self, one: Followed) -> Followed | None:
        """The same once it is known whether a line that was being sent arrived; None if it isn't yet."""
        if one.telling is None:
            return one
        sent_at = one.telling_at or self.clock.now()
        last = sent_at + timedelta(seconds=self.timings.longest_post)
        found = await self.poster.find_line(one, (sent_at, last))
        log.info("line looked up", action="follow.looked_up", issue=one.issue_id, found=type(found).__name__)
        if isinstance(found, Unfinished):
            await self.followed.record(one, searched_to=found.searched_to)
            return None
        closed = one.closed if isinstance(found, Absent) else one.telling
        await self.followed.record(one, telling=None, closed=closed)
        return replace(one, telling=None, closed=closed)

    async def _update(self, one: Followed, seen: Seen) -> Outcome | None:
        """Show the issue in its post, unless the post shows it already."""
        if seen.fingerprint == one.shown:
            return None
        outcome = await self.poster.update(one, seen, partial(self._begin, one))
        if isinstance(outcome, Posted):
            await self.followed.record(one, shown=seen.fingerprint)
        return outcome or Delayed(0)

    async def _tell(self, one: Followed, seen: Seen) -> Outcome | None:
        """Add the line that the issue was closed or reopened, if it was."""
        if seen.closed == one.closed:
            return None
        line = replace(one, told=one.told + 1)

        async def begin() -> bool:
            at = self.poster.slack_time() or self.clock.now()
            telling = replace(line, telling=seen.closed, telling_at=at, searched_to=None)
            return await self._begin(telling)

        outcome = await self.poster.tell(line, seen, begin)
        if isinstance(outcome, Posted):
            await self.followed.record(one, closed=seen.closed, telling=None)
        elif not isinstance(outcome, Unsure):
            await self.followed.record(one, telling=None)
        return outcome or Delayed(0)

    async def _begin(self, one: Followed) -> bool:
        """Renew the lease right before a write; False if this process lost it, or the thread stopped."""
        return await self.followed.begin_writing(one, self.lease_until())


def _why_not(one: Followed, seen: Seen | None, status: ChannelStatus) -> str | None:
    """Why the thread may not be shown the issue anymore, or None."""
    if status is not ChannelStatus.OPEN:
        return f"channel {status.value}"
    if seen is None:
        return "issue not visible"
    if seen.issue.is_private:
        return "issue private"
    return None if seen.exposure.may_show(one.agreed_project) else "project not public"
