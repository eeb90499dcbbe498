"""Reads an issue as the post that follows it shows it, and starts and stops following issues in threads."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.access.access import Access
from bot.access.accounts import Session
from bot.errors import AnswerTooLarge, ServiceBroken, UserError
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.issues.publicity import Exposure, Publicity, exposure_of
from bot.service.conventions import IssueDetailInclude
from bot.service.models import Issue
from bot.store.followed import Followed
from bot.store.owner import Owner

JOURNALS: tuple[IssueDetailInclude, ...] = ("journals",)
MAX_FOLLOWED = 500


@dataclass(frozen=True)
class Seen:
    """An issue, who can see it, and who commented last for everyone to see."""

    issue: Issue
    exposure: Exposure
    closed: bool
    commenter: str = ""

    @property
    def fingerprint(self) -> str:
        """Equal for equal posts."""
        issue = self.issue
        refs = (issue.project, issue.status, issue.priority, issue.assigned_to)
        shown = [issue.subject, *(ref and ref.name for ref in refs), str(issue.due_date)]
        return hashlib.sha256(json.dumps([*shown, self.closed, self.commenter]).encode()).hexdigest()


@dataclass(frozen=True)
class ThreadPlace:
    channel_id: str
    ts: str


def _already_followed(number: int) -> UserError:
    return UserError(
        "This thread already follows #{number}. Its post here is kept up to date.", number=number
    )


class TooManyFollowed(UserError):
    most: int = MAX_FOLLOWED
    says = (
        "You already follow {most} issues, the most allowed. To stop following one, use the menu of its post."
    )


class Following:
    def __init__(self, access: Access) -> None:
        self.access, self.followed = access, access.store.followed

    async def seen(self, owner: Owner, number: int) -> Seen:
        """The issue as the user sees it. Raises IssueNotFound, NotLinked, ServiceError."""
        async with self.access.accounts.reading(owner) as session:
            return await self.read(session, number, {})

    async def read_all(self, session: Session, numbers: Iterable[int]) -> dict[int, Seen | None]:
        """Several issues, None for those that the user can't see. Raises ServiceError.

        Leaves out those that the service fails to send, so that the others don't wait for them.
        """
        found: dict[int, Seen | None] = {}
        projects: dict[int | None, Exposure] = {}
        for number in numbers:
            with suppress(ServiceBroken, AnswerTooLarge):
                try:
                    found[number] = await self.read(session, number, projects)
                except IssueNotFound:
                    found[number] = None
        return found

    async def read(self, session: Session, number: int, projects: dict[int | None, Exposure]) -> Seen:
        """One issue, and its project unless `projects` has it. Raises IssueNotFound, ServiceError."""
        issue = await Issues(self.access).detailed(session, number, JOURNALS)
        unread = exposure_of(issue)
        if unread.project_id not in projects:
            projects[unread.project_id] = await Publicity(self.access).read(session, unread)
        commenters = [comment.user.name for comment in issue.public_comments or () if comment.user]
        return Seen(
            issue,
            replace(projects[unread.project_id], issue=issue, issue_at=unread.issue_at),
            await self._is_closed(session, issue),
            commenters[-1] if commenters else "",
        )

    async def _is_closed(self, session: Session, issue: Issue) -> bool:
        """Services that don't send whether a status is closed may list it."""
        if issue.status is None or issue.status.is_closed is not None:
            return bool(issue.status and issue.status.is_closed)
        statuses = await self.access.client.optional.issue_statuses(session.key) or ()
        return any(status.id == issue.status.id and status.is_closed for status in statuses)

    async def may_follow(self, owner: Owner, number: int, thread: ThreadPlace) -> Seen:
        """As `seen`; raises UserError, too: it's private, followed already, or one too many."""
        seen = await self.seen(owner, number)
        if seen.issue.is_private:
            raise UserError(
                "#{number} is private, so a thread can't follow it. Type `{/issue} {number}` to see it.",
                number=number,
            )
        if await self.followed.in_thread(thread.channel_id, thread.ts, number):
            raise _already_followed(number)
        await self._require_room(owner)
        return seen

    async def post_in(self, thread: ThreadPlace, number: int) -> str | None:
        followed = await self.followed.in_thread(thread.channel_id, thread.ts, number)
        return followed.ts if followed else None

    async def start(
        self,
        owner: Owner,
        seen: Seen,
        thread: ThreadPlace,
        ts: str,
        *,
        agreed: int | None,
        posted_by: str | None = None,
        created: bool = False,
    ) -> None:
        """Keep the post with this `ts` up to date from now on. Raises UserError, TooManyFollowed too.

        `posted_by` is the Slack user who caused it, by default the owner, `created` whether by creating the
        issue, and `agreed` the project that isn't public which the owner agreed to show.
        """
        await self._require_room(owner)
        followed = Followed(
            owner=owner,
            issue_id=seen.issue.id,
            channel_id=thread.channel_id,
            thread_ts=thread.ts,
            ts=ts,
            posted_by=posted_by or owner.user_id,
            created=created,
            agreed_project=agreed,
            closed=seen.closed,
        )
        if not await self.followed.add(followed):
            raise _already_followed(seen.issue.id)

    async def stop(self, owner: Owner, number: int, thread: ThreadPlace) -> None:
        """Leave the thread's post as it is. Only those who can see the issue can: raises as `seen`."""
        await self.seen(owner, number)
        if followed := await self.followed.in_thread(thread.channel_id, thread.ts, number):
            await self.followed.end([followed])

    async def _require_room(self, owner: Owner) -> None:
        if await self.followed.count(owner) >= MAX_FOLLOWED:
            raise TooManyFollowed
