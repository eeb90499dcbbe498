"""Runs live feeds: digests that are due every minute, whose new issues get posts of their own.

One list finds new and changed issues for all of an owner's feeds of a project. Each of these issues becomes
a job, in the transaction that advances the feed: `FollowedReads` posts it, or shows its changes.
"""

import asyncio
from dataclasses import replace

from bot.errors import KeySuspended, TooManyRequests
from bot.features.digests.editions import DigestRun, RunResult
from bot.features.digests.reading import Content
from bot.features.digests.runs import DigestRuns
from bot.service.models import Issue
from bot.store.digests import Digest, Pause
from bot.store.followed import Followed
from bot.store.job import Again, JobOutcome, Later

LATEST_RETRY = 60.0  # seconds until a feed is read again after an error
ALONE = 10  # more new issues than this in one reading are one post that lists them


class FeedRuns(DigestRuns):
    name = "feed"
    readers = 8

    async def post(self, item: DigestRun, content: Content | Pause) -> JobOutcome:
        if isinstance(content, Pause):
            return await super().post(item, content)
        feed, stored = item.digest, self.access.store.followed
        rows = {row.id: row for row in content.updated}
        known = await stored.in_feeds(feed.channel_id, rows) if rows else ()
        posted = {one.issue_id for one in known}
        new = tuple(issue for issue in content.issues if issue.id not in posted)
        content = replace(content, issues=new)
        if len(new) > ALONE:
            outcome, new = await super().post(item, content), ()
        else:
            run = await self._renamed(item, content)
            outcome = self._finished(run, RunResult.SENT if new else RunResult.EMPTY, content)
        if not isinstance(outcome, Again):
            return outcome
        mine = (one for one in known if one.digest_id == feed.id and one.issue_id in rows)
        changed = [one for one in mine if _changed(one, rows[one.issue_id])]
        if not (new or changed):
            return outcome
        posts = [followed_by(feed, issue) for issue in new]
        # In a thread, because encrypting what hundreds of jobs say takes a while.
        shown = await asyncio.to_thread(lambda: [*stored.posting(posts), *stored.changed(changed)])
        old = stored.dropping_old(feed.id, self._clock.now())
        return replace(outcome, also=(*outcome.also, *shown, old))

    async def put_off(self, item: DigestRun, error: Exception | None = None) -> Later:
        """Within a minute, unless the service or a refused key asks for more."""
        later = await super().put_off(item, error)
        asked = isinstance(error, KeySuspended | TooManyRequests)
        return later if asked else replace(later, seconds=min(later.seconds, LATEST_RETRY))

    def _record(self, run: DigestRun, result: RunResult, outcome: str = "", **more: object) -> None:
        if result is not RunResult.EMPTY:
            super()._record(run, result, outcome, **more)


def _changed(one: Followed, issue: Issue) -> bool:
    """Whether a post has to be updated, or is still to be made."""
    return issue.updated_on != one.seen_on or issue.is_private


def followed_by(feed: Digest, issue: Issue) -> Followed:
    """An issue that a live feed is about to post."""
    return Followed(
        owner=feed.owner,
        issue_id=issue.id,
        channel_id=feed.channel_id,
        thread_ts="",
        ts="",
        posted_by=feed.owner.user_id,
        created=True,
        agreed_project=feed.agreed_project,
        direct=feed.direct,
        digest_id=feed.id,
    )
