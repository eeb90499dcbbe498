"""Shows a change of a followed issue in its thread, once, or stops following it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

import structlog

from bot.features.background.clock import Clock
from bot.features.background.outcomes import (
    Absent,
    ChannelStatus,
    Delayed,
    Found,
    Outcome,
    Posted,
    Refused,
    Unfinished,
    Unsure,
)
from bot.features.following.reading import Seen
from bot.store.followed import Followed, StoredFollowed
from bot.store.owner import Owner
from bot.timings import Timings

SAME_SECOND = timedelta(seconds=5)
"""For how long after an update another one may get the same time, with some room for unequal clocks."""

log = structlog.get_logger(__name__)


class ThreadPoster(Protocol):
    """Writes to the threads that follow issues."""

    async def channel_status(self, owner: Owner, channel_id: str) -> ChannelStatus:
        """Whether the channel may still be shown the issue."""

    def slack_time(self) -> datetime | None:
        """The time by Slack's clock; None before Slack's first response."""

    async def update(self, followed: Followed, seen: Seen) -> Outcome:
        """Show the issue in its post. Repeating it is safe."""

    async def tell(self, followed: Followed, seen: Seen) -> Outcome:
        """Add the line that says whether the issue is closed, without retries."""

    async def find_line(self, followed: Followed, within: tuple[datetime, datetime]) -> Found:
        """Look for the line that was being sent, between the two times."""

    async def notify_owner(self, owner: Owner, posts: int) -> None:
        """Tell the user that this many posts stopped because their key doesn't work anymore."""


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
            return None
        closed = one.closed if isinstance(found, Absent) else one.telling
        await self.followed.record(one, telling=None, closed=closed)
        return replace(one, telling=None, closed=closed)

    async def _update(self, one: Followed, seen: Seen) -> Outcome | None:
        """Show the issue in its post, unless the post shows it already."""
        if seen.fingerprint == one.shown:
            return None
        outcome = await self._written(one, partial(self.poster.update, one, seen))
        if isinstance(outcome, Posted):
            await self.followed.record(one, shown=seen.fingerprint)
        return outcome

    async def _tell(self, one: Followed, seen: Seen) -> Outcome | None:
        """Add the line that the issue was closed or reopened, if it was."""
        if seen.closed == one.closed:
            return None
        at = self.poster.slack_time() or self.clock.now()
        telling = replace(one, telling=seen.closed, telling_at=at, told=one.told + 1)
        outcome = await self._written(telling, partial(self.poster.tell, telling, seen))
        if isinstance(outcome, Posted):
            await self.followed.record(one, closed=seen.closed, telling=None)
        elif isinstance(outcome, Delayed):
            await self.followed.record(one, telling=None)
        return outcome

    async def _written(self, one: Followed, write: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Write to Slack. The request is over once the lease ends and another process may look for it."""
        began = time.monotonic()
        held = await self.followed.begin_writing(one, self.lease_until())
        if not held or time.monotonic() > began + self.timings.longest_post / 2:
            return Delayed(0)
        try:
            async with asyncio.timeout_at(began + self.timings.longest_post):
                return await write()
        except TimeoutError:
            return Unsure()


def _why_not(one: Followed, seen: Seen | None, status: ChannelStatus) -> str | None:
    """Why the thread may not be shown the issue anymore, or None."""
    if status is not ChannelStatus.OPEN:
        return f"channel {status.value}"
    if seen is None:
        return "issue not visible"
    if seen.issue.is_private:
        return "issue private"
    agreed = seen.project is not None and seen.project.id == one.agreed_project
    return None if seen.public or agreed else "project not public"
