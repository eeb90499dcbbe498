"""Shows a change of a followed issue in its thread, once, or stops following it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.features.digests.clock import Clock
from bot.features.digests.posts import ChannelStatus
from bot.features.following.posts import Looked, Sent, ThreadPoster
from bot.features.following.reading import Seen
from bot.store.followed import Followed, StoredFollowed
from bot.timings import Timings

SAME_SECOND = timedelta(seconds=5)
"""For how long after an update another one may get the same time, with some room for unequal clocks."""

log = structlog.get_logger(__name__)


class Showing:
    """Updates posts and adds lines, while this process holds the lease of the issue's follower."""

    def __init__(
        self, followed: StoredFollowed, poster: ThreadPoster, *, clock: Clock, timings: Timings
    ) -> None:
        self._followed = followed
        self._poster = poster
        self._clock = clock
        self._longest = timings.longest_post

    def lease_until(self) -> datetime:
        """The latest time, by the database's clock, when a write that begins now may still arrive."""
        return self._clock.now() + timedelta(seconds=self._longest)

    async def end(self, followed: Sequence[Followed], why: str) -> None:
        """Stop following. The posts stay as they are."""
        if followed:
            await self._followed.end(followed)
        for one in followed:
            about = {"issue": one.issue_id, "channel": one.channel_id}
            log.info("stopped following an issue", action="follow.ended", why=why, **about)

    async def show(self, one: Followed, seen: Seen | None) -> bool:
        """Show an issue as it is now, None if it isn't visible; returns False to try again later."""
        status = await self._poster.channel_status(one.owner, one.channel_id)
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
        sent = await self._update(settled, seen)
        if sent is Sent.DONE and seen.closed != settled.closed:
            sent = await self._tell(settled, seen)
        if sent is Sent.GONE:
            await self.end([one], "post gone")
        elif sent is Sent.DONE:
            now, updated_on = self._clock.now(), seen.issue.updated_on
            # Times are in whole seconds: another change may still get the same one.
            settled_on = updated_on if updated_on and updated_on < now - SAME_SECOND else None
            await self._followed.record(one, seen_on=settled_on, changed_at=now)
        return sent in (Sent.DONE, Sent.GONE)

    async def _update(self, one: Followed, seen: Seen) -> Sent:
        if seen.fingerprint == one.shown:
            return Sent.DONE
        began = time.monotonic()
        if not await self._followed.begin_sending(one, self.lease_until()):
            return Sent.LATER
        sent = await self._in_time(began, lambda: self._poster.update(one, seen))
        if sent is Sent.DONE:
            await self._followed.record(one, shown=seen.fingerprint)
        return sent

    async def _tell(self, one: Followed, seen: Seen) -> Sent:
        """Add the line that the issue was closed or reopened."""
        began, at = time.monotonic(), self._poster.slack_time() or self._clock.now()
        telling = await self._followed.begin_telling(
            one, telling=seen.closed, at=at, lease_until=self.lease_until()
        )
        if telling is None:
            return Sent.LATER
        sent = await self._in_time(began, lambda: self._poster.tell(telling, seen))
        if sent is Sent.DONE:
            await self._followed.record(one, closed=seen.closed, telling=None)
        elif sent is Sent.LATER:
            await self._followed.record(one, telling=None)
        return sent

    async def _settled(self, one: Followed) -> Followed | None:
        """The same once it is known whether a line that was being sent arrived; None if it isn't yet."""
        if one.telling is None:
            return one
        within = (one.telling_at or self._clock.now(), timedelta(seconds=self._longest))
        found = await self._poster.find_line(one, *within)
        log.info("line looked up", action="follow.looked_up", issue=one.issue_id, found=found.name)
        if found is Looked.LATER:
            return None
        closed = one.closed if found is Looked.ABSENT else one.telling
        await self._followed.record(one, telling=None, closed=closed)
        return replace(one, telling=None, closed=closed)

    async def _in_time(self, began: float, write: Callable[[], Awaitable[Sent]]) -> Sent:
        """Write to Slack. The request is over once the lease ends and another process may look for it."""
        if time.monotonic() > began + self._longest / 2:
            return Sent.LATER
        try:
            async with asyncio.timeout_at(began + self._longest):
                return await write()
        except TimeoutError:
            return Sent.UNSURE


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
