"""Runs live feeds: digests that are due every minute, whose new issues get posts of their own.

One list finds new and changed issues for all of an owner's feeds of a project. Each of these issues becomes
a job, in the transaction that advances the feed: `FollowedReads` posts it, or shows its changes. The
announcement of an issue that is created where a feed would post it becomes the feed's post.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog

from bot.errors import KeySuspended, ServiceError, TooManyRequests, UserError
from bot.features.digests import plans
from bot.features.digests.reading import Content
from bot.features.digests.runs import DigestRun, DigestRuns, RunResult
from bot.features.following.following import has_changed
from bot.features.following.poster import ThreadLine, line_post
from bot.features.issues.views import FOLLOWS
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outcomes import ChannelStatus, PostOutcome
from bot.slack.outgoing.replies import Reply, WhyNotShow
from bot.slack.surfaces.blocks import Message
from bot.store.digests import Digest, Pause
from bot.store.followed import Followed, Stage
from bot.store.jobs import Again, Done, JobOutcome, Later

LATEST_RETRY = 60.0  # seconds until a feed is read again after an error
MAX_POSTED_ALONE = 10  # more new issues than this in one reading are one post that lists them
REFUSED: Mapping[ChannelStatus | None, PostOutcome] = {
    ChannelStatus.SHARED: PostOutcome.SHARED,
    ChannelStatus.GONE: PostOutcome.AUDIENCE_UNREAD,
}

log = structlog.get_logger(__name__)


class FeedRuns(DigestRuns):
    name = "feed"
    readers = 8

    async def post(self, item: DigestRun, content: Content | Pause) -> JobOutcome:
        if isinstance(content, Pause):
            return await super().post(item, content)
        feed, stored = item.digest, self.access.store.followed
        rows = {row.id: row for row in content.updated}
        known = await stored.in_feeds(feed.channel_id, rows) if rows else ()
        posted = {one.issue_id for one in known if one.digest_id != feed.id or one.has_own_post}
        new = tuple(issue for issue in content.issues if issue.id not in posted)

        if len(new) > MAX_POSTED_ALONE:
            its = await stored.claim_list(feed.id, [followed_by(feed, issue) for issue in new])
            content = replace(content, issues=tuple(issue for issue in new if issue.id in its))
            outcome, new = await super().post(item, content), ()
        else:
            run = await self._renamed(item, content)
            outcome = self._finished(run, RunResult.SENT if new else RunResult.EMPTY, content.coverage)
        if not isinstance(outcome, Again):
            return outcome

        mine = (one for one in known if one.digest_id == feed.id and one.has_own_post)
        changed = [one for one in mine if one.issue_id in rows and has_changed(one, rows[one.issue_id])]
        if not (new or changed):
            return outcome
        posts = [followed_by(feed, issue) for issue in new]
        # In a thread, because encrypting what hundreds of jobs say takes a while.
        jobs = await asyncio.to_thread(lambda: [*stored.posting(posts), *stored.showing_changes(changed)])
        old = stored.dropping_old(feed.id, self._clock.now())
        return replace(outcome, also=(*outcome.also, *jobs, old))

    async def put_off(self, item: DigestRun, error: Exception | None = None) -> Later:
        """Within a minute, unless the service or a refused key asks for more."""
        later = await super().put_off(item, error)
        asked = isinstance(error, KeySuspended | TooManyRequests)
        return later if asked else replace(later, seconds=min(later.seconds, LATEST_RETRY))


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
        stage=Stage.FOUND,
        agreed_project=feed.agreed_project,
        direct=feed.direct,
        digest_id=feed.id,
    )


@dataclass(frozen=True)
class FeedAnnouncer:
    parts: Parts

    async def announce(
        self, reply: Reply, issue: Issue, message: Message, why_not_show: WhyNotShow
    ) -> PostOutcome | None:
        """Post it for the live feed where it was created; None if no live feed there has such issues.

        If Slack doesn't confirm the post, or this process dies, the feed goes on with it.
        """
        store, feed = self.parts.store, await self._feed(reply, issue)
        if feed is None:
            return None
        if why_not := await reply.why_not_post():
            return why_not

        thread_ts = reply.place.thread_ts or ""
        announced = replace(followed_by(feed, issue), thread_ts=thread_ts, posted_by=reply.owner.user_id)
        blocks = tuple(block for block in message.blocks if thread_ts or block.get("block_id") != FOLLOWS)
        message = await reply.deletable(replace(message, blocks=blocks))
        if (claim := await store.followed.claim(announced)) is None:
            return PostOutcome.YES
        job, followed = claim
        line = ThreadLine.posting(followed, "announced")  # in other words, which the next update replaces

        async def ready() -> Message | outcomes.NotPosted:
            reason = await why_not_show()
            return outcomes.NotPosted(reason) if reason else message

        # The feed posts it in the channel itself, as what it has found but not posted yet.
        to_feed = Done([store.followed.recording(followed, thread_ts="")])
        outcome: JobOutcome = job.later(self.parts.delays.background_retry)
        try:
            posted = await self.parts.platform.posts.post(
                job, line_post(followed, line), ready, sending=lambda: line.model_dump(mode="json")
            )
            match posted:
                case outcomes.Posted(ts):
                    outcome = Done([store.followed.recording(followed, **line.recorded(followed, ts))])
                case Later():
                    outcome = posted
                case outcomes.PostRefused(status):
                    outcome, why_not = to_feed, REFUSED.get(status, PostOutcome.FAILED)
                case outcomes.NotPosted(reason):
                    outcome = to_feed
                    why_not = reason if isinstance(reason, PostOutcome) else PostOutcome.HIDDEN
        finally:
            await store.jobs.settle(job, outcome)
        return why_not or PostOutcome.YES

    async def _feed(self, reply: Reply, issue: Issue) -> Digest | None:
        if reply.channel is None:
            return None
        for feed in await self.parts.store.digests.in_channel(reply.channel):
            if feed.plan.live and not feed.paused and await self._passes(feed, issue):
                return feed
        return None

    async def _passes(self, feed: Digest, issue: Issue) -> bool:
        """Whether a feed posts the issue. Asks the service about subprojects, custom fields and saved
        queries. Without a response, returns True, so that the issue isn't posted twice.
        """
        plan = feed.plan
        if not plans.passes(plan, issue):
            return False
        if not (plan.subprojects or plan.custom_fields or plan.query):
            return True
        filters = replace(plans.filters_of(plan, datetime.now(UTC)), issue_ids=(issue.id,))
        try:
            async with self.parts.accounts.reading(feed.owner, background=True) as session:
                page = await self.parts.client.list_issues(session.key, filters)
                rows, _ = await plans.rows_in_query(self.parts.client, session, plan, page.items)
        except (ServiceError, UserError) as error:
            log.warning("filters not read", action="feed.not_read", error=str(error) or type(error).__name__)
            return True
        return bool(rows)
