"""Announces a created issue where a live feed would post it: the announcement becomes the feed's post."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

import structlog

from bot.errors import ServiceError, UserError
from bot.features.digests import plans
from bot.features.digests.feeds import followed_by
from bot.features.digests.saved_queries import in_query
from bot.features.following.poster import ThreadLine, line_post
from bot.features.issues.views import FOLLOWS
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outcomes import ChannelStatus, PostOutcome
from bot.slack.outgoing.replies import MayPost, Reply
from bot.slack.surfaces.blocks import Message
from bot.store.digests import Digest
from bot.store.job import Done, JobOutcome, Later

REFUSED: Mapping[ChannelStatus | None, PostOutcome] = {
    ChannelStatus.SHARED: PostOutcome.SHARED,
    ChannelStatus.GONE: PostOutcome.UNKNOWN,
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class FeedAnnouncer:
    parts: Parts

    async def announce(
        self, reply: Reply, issue: Issue, message: Message, may_post: MayPost
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
        if (claim := await store.followed.claim(announced)) is None:
            return PostOutcome.YES
        job, followed = claim
        blocks = tuple(block for block in message.blocks if thread_ts or block.get("block_id") != FOLLOWS)
        message = await reply.deletable(replace(message, blocks=blocks))
        line = ThreadLine.announcing(followed)

        async def ready() -> Message | None:
            return message if await may_post() else None

        outcome: JobOutcome = job.later(self.parts.delays.background_retry)
        try:
            posted = await self.parts.platform.posts.post(
                job, line_post(followed, line), ready, sending=lambda: asdict(line)
            )
            match posted:
                case outcomes.Posted(ts):
                    outcome = Done([store.followed.recording(followed, **line.recorded(followed, ts))])
                case Later():
                    outcome = posted
                case outcomes.PostRefused(status):
                    await store.followed.end([followed])
                    return REFUSED.get(status, PostOutcome.FAILED)
                case None:
                    await store.followed.end([followed])
                    return PostOutcome.HIDDEN
        finally:
            await store.jobs.settled(job, outcome)
        return PostOutcome.YES

    async def _feed(self, reply: Reply, issue: Issue) -> Digest | None:
        if reply.channel is None:
            return None
        there = await self.parts.store.digests.in_channel(reply.channel.team_id, reply.channel.channel_id)
        for feed in there:
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
                found, _ = await in_query(self.parts.client, session, plan, page.items)
        except (ServiceError, UserError) as error:
            log.warning("filters not read", action="feed.not_read", error=str(error) or type(error).__name__)
            return True
        return bool(found)
