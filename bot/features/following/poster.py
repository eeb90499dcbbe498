"""Posts the issues of live feeds, keeps the posts that follow issues up to date in Slack, and adds the lines
and comments below them.
"""

import secrets
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ServiceError, UserError
from bot.features.following import views
from bot.features.following.following import Following, IssueSnapshot
from bot.features.issues.buttons import FollowIssue, StopFollowing
from bot.features.issues.publicity import Publicity
from bot.features.parts import Parts
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import DeliveryOutcome
from bot.slack.outgoing.posting import deletable
from bot.slack.outgoing.replies import Platform
from bot.slack.outgoing.stored import LookUp
from bot.slack.surfaces.blocks import Message
from bot.store.followed import Followed
from bot.store.job import Job, Later
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


@dataclass(frozen=True)
class ThreadLine:
    """A line for a thread: that the issue was closed or reopened, changes up to the `journal`, or a
    comment. Or a live feed's post itself, which has `fingerprint`. See `Post.mark` and `FollowedIssueRow`.
    """

    mark: str
    closed: bool | None = None
    comment: int | None = None
    journal: int = 0
    fingerprint: str = ""

    @classmethod
    def posting(cls, followed: Followed, snapshot: IssueSnapshot) -> "ThreadLine":
        journal = max((journal.id for journal in snapshot.history), default=0)
        return replace(
            cls.announcing(followed),
            closed=snapshot.closed,
            journal=journal,
            fingerprint=snapshot.fingerprint,
        )

    @classmethod
    def announcing(cls, followed: Followed) -> "ThreadLine":
        """A live feed's post in other words, which the next update replaces."""
        mark = f"issuebot_live:{followed.digest_id}:{followed.issue_id}"
        return cls(mark, closed=False, fingerprint="announced")

    @classmethod
    def saying(cls, *, closed: bool, journal: int = 0) -> "ThreadLine":
        return cls(f"issuebot_followed:{secrets.token_hex(8)}", closed=closed, journal=journal)

    @classmethod
    def quoting(cls, comment: int) -> "ThreadLine":
        return cls(f"issuebot_comment:{secrets.token_hex(8)}", comment=comment)

    @classmethod
    def of(cls, sending: Any) -> "ThreadLine | None":  # noqa: ANN401 - JSON
        """The line that a job was about to add, if it was."""
        return cls(**sending) if sending else None

    def recorded(self, followed: Followed, ts: str) -> dict[str, Any]:
        """Return the values to store once it is added, with this `ts`."""
        known: dict[str, Any] = (
            {"closed": self.closed} if self.comment is None else {"quoted_to": self.comment}
        )
        if self.journal:
            known["told_to"] = self.journal
        if self.fingerprint:
            known |= {"fingerprint": self.fingerprint, "ts": ts, "thread_ts": followed.thread_ts or ts}
        return known


class ThreadPoster:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.posts, self.wording = parts, parts.platform.posts, parts.platform.wording
        self.channel_status = parts.platform.conversations.status
        self.following, self.publicity = parts.shared(Following), parts.shared(Publicity)

    async def update(self, job: Job, followed: Followed, snapshot: IssueSnapshot) -> DeliveryOutcome | None:
        """Show the issue in its post. Repeating it is safe, unless another process has shown more since."""
        message = await self._built(followed, snapshot)
        post = Post(owner=followed.owner, channel_id=followed.channel_id, ts=followed.ts)

        async def ready() -> Message | None:
            mine = await self.posts.jobs.holds(job)
            return message if mine and await self._may_show(followed, snapshot, None) else None

        return await self.parts.platform.outbox.send(post, ready, due_at=datetime.now(UTC))

    async def add(
        self, job: Job, followed: Followed, line: ThreadLine, snapshot: IssueSnapshot
    ) -> DeliveryOutcome | Later | None:
        """Add a line, or the post itself, unless the channel may not be shown the issue anymore."""
        if comment := snapshot.comment(line.comment):
            message = await views.quote(snapshot, comment, self.wording)
        elif line.fingerprint:
            message = await self._built(followed, snapshot)
        elif line.journal:
            message = views.changes_line(snapshot, followed.told_to)
        else:
            message = views.closed_line(snapshot, self.wording)

        async def ready() -> Message | None:
            if line.fingerprint and await self.publicity.meant_private(followed.issue_id):
                return None
            return message if await self._may_show(followed, snapshot, line.comment) else None

        post, now = line_post(followed, line), datetime.now(UTC)
        return await self.posts.post(job, post, ready, sending=lambda: asdict(line), due_at=now)

    async def look_up(self, job: Job, followed: Followed, line: ThreadLine) -> LookUp:
        return await self.posts.look_up(job, line_post(followed, line))

    async def _built(self, followed: Followed, snapshot: IssueSnapshot) -> Message:
        owner = followed.owner
        poster = Owner(owner.enterprise_id, owner.team_id, followed.posted_by)
        follow = StopFollowing(issue=followed.issue_id, created=followed.created)
        slack = await self.parts.workspaces.of(owner)
        feed, quotes = followed.digest_id is not None, followed.quoted_to is not None
        how = {"direct": followed.direct, "quotes": quotes, "feed": feed}
        return await built(slack, self.parts.platform, poster, snapshot, follow, **how)

    async def tell_unsure(self, followed: Followed) -> None:
        """Tell the follower that a line, or a live feed's post, may be missing."""
        await self.posts.tell(followed.owner, views.unsure(followed, self.wording))

    async def _may_show(self, followed: Followed, snapshot: IssueSnapshot, quoting: int | None) -> bool:
        """Whether that may be shown there now; a comment is read again if it was read a while ago."""
        if not await self.parts.store.followed.is_quoted(followed, quoting):
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
        agreed = followed.agreed_project
        return followed.direct or await self.publicity.may_post(followed.owner, snapshot.exposure, agreed)


def line_post(followed: Followed, line: ThreadLine) -> Post:
    thread_ts = followed.thread_ts or None
    return Post(owner=followed.owner, channel_id=followed.channel_id, thread_ts=thread_ts, mark=line.mark)
