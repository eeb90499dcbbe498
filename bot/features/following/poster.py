"""Posts the issues of live feeds, keeps the posts that follow issues up to date in Slack, and adds the lines
and comments below them.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ServiceError, UserError
from bot.features.following import views
from bot.features.following.following import Following, IssueSnapshot
from bot.features.issues.buttons import FollowIssue, StopFollowing
from bot.features.issues.publicity import Publicity
from bot.features.parts import Parts
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import DeliveryOutcome, NotPosted
from bot.slack.outgoing.posting import deletable
from bot.slack.outgoing.replies import Platform
from bot.slack.surfaces.blocks import Message
from bot.store.followed import Followed, Stage
from bot.store.jobs import Job, Later
from bot.store.owner import Owner


async def built(
    slack: AsyncWebClient,
    platform: Platform,
    poster: Owner,
    snapshot: IssueSnapshot,
    follow: FollowIssue | StopFollowing,
    **how: bool,
) -> Message:
    """The post that `poster` caused, who can delete it; `how` is as in `views.post`. A `feed`'s names the
    issue's author.
    """
    profile = await platform.profiles.of(slack, poster.team_id, poster.user_id)
    author = snapshot.issue.author.name if snapshot.issue.author else ""
    by = (author or "Someone") if how.get("feed") else profile.name
    message = views.post(snapshot, platform.wording, by, follow, **how)
    return deletable(message, poster, profile.first_name, platform.wording.service)


class LineKind(StrEnum):
    POST = "live"  # a live feed's post itself, which starts the thread
    QUOTE = "comment"
    CHANGES = "changes"  # who changed the status or the assignee, below a live feed's post
    CLOSED = "closed"  # whether the issue was closed or reopened


class ThreadLine(BaseModel, frozen=True):
    """A line for a thread. `records` are the columns of `FollowedIssueRow` to store once it is added; for
    `mark` see `Post`.
    """

    kind: LineKind
    mark: str
    records: Mapping[str, Any]

    @classmethod
    def saying(cls, kind: LineKind, **records: object) -> "ThreadLine":
        return cls(kind=kind, mark=f"issuebot_{kind}:{secrets.token_hex(8)}", records=records)

    @classmethod
    def posting(cls, followed: Followed, fingerprint: str, **records: object) -> "ThreadLine":
        mark = f"issuebot_{LineKind.POST}:{followed.digest_id}:{followed.issue_id}"
        records = {"closed": False, **records, "fingerprint": fingerprint}
        return cls(kind=LineKind.POST, mark=mark, records=records)

    def recorded(self, followed: Followed, ts: str) -> Mapping[str, Any]:
        """Return the values to store once it is added, with this `ts`."""
        if self.kind is not LineKind.POST:
            return self.records
        return {**self.records, "stage": Stage.POSTED, "ts": ts, "thread_ts": followed.thread_ts or ts}


class ThreadPoster:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.posts, self.wording = parts, parts.platform.posts, parts.platform.wording
        self.channel_status = parts.platform.conversations.status
        self.following, self.publicity = parts.shared(Following), parts.shared(Publicity)

    async def update(
        self, job: Job, followed: Followed, snapshot: IssueSnapshot
    ) -> DeliveryOutcome | NotPosted:
        """Show the issue in its post. Repeating it is safe, unless another process has shown more since."""
        message = await self._built(followed, snapshot)
        post = Post(owner=followed.owner, channel_id=followed.channel_id, ts=followed.ts)

        async def ready() -> Message | NotPosted:
            mine = await self.posts.jobs.still_holds(job)
            return message if mine and await self._may_show(followed, snapshot, None) else NotPosted()

        return await self.parts.platform.outbox.send(post, ready, due_at=datetime.now(UTC))

    async def add(
        self, job: Job, followed: Followed, line: ThreadLine, snapshot: IssueSnapshot
    ) -> DeliveryOutcome | NotPosted | Later:
        """Add a line, or the post itself, unless the channel may not be shown the issue anymore."""
        quoting = line.records.get("quoted_to")
        match line.kind:
            case LineKind.QUOTE:
                comment = snapshot.comment(quoting)
                message = await views.quote(snapshot, comment, self.wording) if comment else NotPosted()
            case LineKind.POST:
                message = await self._built(followed, snapshot)
            case LineKind.CHANGES:
                message = views.changes_line(snapshot, followed.told_to)
            case LineKind.CLOSED:
                message = views.closed_line(snapshot, self.wording)

        async def ready() -> Message | NotPosted:
            if line.kind is LineKind.POST and await self.publicity.privacy_refused(followed.issue_id):
                return NotPosted()
            return message if await self._may_show(followed, snapshot, quoting) else NotPosted()

        post, now = line_post(followed, line), datetime.now(UTC)
        return await self.posts.post(
            job, post, ready, sending=lambda: line.model_dump(mode="json"), due_at=now
        )

    async def _built(self, followed: Followed, snapshot: IssueSnapshot) -> Message:
        owner = followed.owner
        poster = Owner(owner.enterprise_id, owner.team_id, followed.posted_by)
        follow = StopFollowing(issue=followed.issue_id, created=followed.created)
        slack = await self.parts.workspaces.of(owner)
        feed, quotes = followed.digest_id is not None, followed.quoted_to is not None
        how = {"direct": followed.direct, "quotes": quotes, "feed": feed}
        return await built(slack, self.parts.platform, poster, snapshot, follow, **how)

    async def _may_show(self, followed: Followed, snapshot: IssueSnapshot, quoting: int | None) -> bool:
        """Whether that may be shown there now; a comment is read again if it was read a while ago."""
        if not await self.parts.store.followed.is_still_followed(followed, quoting):
            return False
        oldest = time.monotonic() - self.parts.timings.fresh
        if quoting is not None and snapshot.exposure.issue_at < oldest:
            try:
                async with self.parts.accounts.reading(followed.owner, background=True) as session:
                    now = await self.following.read(session, followed.issue_id, {})
            except (ServiceError, UserError):
                return False
            if now.comment(quoting) != snapshot.comment(quoting):
                return False
            snapshot = now
        if followed.direct:
            return True
        exposure = replace(snapshot.exposure, agreed_project=followed.agreed_project)
        return await self.publicity.why_not_show(followed.owner, exposure) is None


def line_post(followed: Followed, line: ThreadLine) -> Post:
    thread_ts = followed.thread_ts or None
    return Post(owner=followed.owner, channel_id=followed.channel_id, thread_ts=thread_ts, mark=line.mark)
