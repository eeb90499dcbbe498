"""Keeps the posts that follow issues up to date in Slack, and adds the lines and comments below them."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ServiceError, UserError
from bot.features.following import views
from bot.features.following.following import Following, Seen
from bot.features.issues.buttons import FollowIssue, StopFollowing
from bot.features.issues.publicity import Publicity
from bot.features.parts import Parts
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import Found, Outcome
from bot.slack.outgoing.posting import deletable
from bot.slack.outgoing.replies import Platform
from bot.slack.surfaces.blocks import Message
from bot.store.followed import Followed
from bot.store.owner import Owner

Begin = Callable[[], Awaitable[bool]]  # records that a message is about to be sent; False if it must not be


async def built(
    slack: AsyncWebClient,
    platform: Platform,
    poster: Owner,
    seen: Seen,
    follow: FollowIssue | StopFollowing,
    **how: bool,
) -> Message:
    """The post that `poster` caused, who can delete it; `how` is as in `views.post`."""
    profile = await platform.profiles.of(slack, poster.team_id, poster.user_id)
    message = views.post(seen, platform.wording, profile.name, follow, **how)
    return deletable(message, poster, profile.first_name, platform.wording.service)


class ThreadPoster:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.outbox, self.wording = parts, parts.platform.outbox, parts.platform.wording
        self.channel_status, self.slack_time = self.outbox.channel_status, self.outbox.slack_time

    async def update(self, followed: Followed, seen: Seen, begin: Begin) -> Outcome | None:
        """Show the issue in its post. Repeating it is safe."""
        owner = followed.owner
        poster = Owner(owner.enterprise_id, owner.team_id, followed.posted_by)
        follow = StopFollowing(issue=followed.issue_id, created=followed.created)
        slack = await self.parts.workspaces.client(owner.enterprise_id, owner.team_id)
        how = {"direct": followed.direct, "quotes": followed.quoted_to is not None}
        message = await built(slack, self.parts.platform, poster, seen, follow, **how)
        post = Post(owner=owner, channel_id=followed.channel_id, ts=followed.ts)
        return await self._sent(post, message, followed, seen, begin)

    async def tell(self, followed: Followed, seen: Seen, begin: Begin) -> Outcome | None:
        """Add the line that says whether the issue is closed, or quotes the comment `followed.quoting`."""
        comment = seen.comment(followed.quoting)
        message = (
            await views.quote(seen, comment, self.wording)
            if comment
            else views.closed_line(seen, self.wording)
        )
        return await self._sent(_line(followed), message, followed, seen, begin)

    async def find_line(self, followed: Followed, within: tuple[datetime, datetime]) -> Found:
        return await self.outbox.find(_line(followed), within, followed.searched_to)

    async def _sent(
        self, post: Post, message: Message, followed: Followed, seen: Seen, begin: Begin
    ) -> Outcome | None:
        """Write, unless the thread may not be shown the issue anymore; the next read of it tells why."""

        async def ready() -> Message | None:
            return message if await self._may_show(followed, seen) and await begin() else None

        return await self.outbox.send(post, ready, due_at=datetime.now(UTC))

    async def _may_show(self, followed: Followed, seen: Seen) -> bool:
        """Whether that may be shown there now; a comment is read again if it was read a while ago."""
        oldest = time.monotonic() - self.parts.timings.fresh
        if followed.quoting is not None and seen.exposure.issue_at < oldest:
            try:
                async with self.parts.accounts.reading(followed.owner, background=True) as session:
                    now = await Following(self.parts).read(session, followed.issue_id, {})
            except (ServiceError, UserError):
                return False
            if now.comment(followed.quoting) != seen.comment(followed.quoting):
                return False
            seen = now
        agreed = followed.agreed_project
        return followed.direct or await Publicity(self.parts).may_post(followed.owner, seen.exposure, agreed)


def _line(followed: Followed) -> Post:
    mark = f"issuebot_followed:{followed.id}:{followed.told}"
    if followed.quoting is not None:
        mark = f"issuebot_comment:{followed.id}:{followed.quoting}"
    return Post(owner=followed.owner, channel_id=followed.channel_id, thread_ts=followed.thread_ts, mark=mark)
