"""Reads issues for the posts that follow them, and starts and stops following."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import structlog

from bot.access.access import Access
from bot.access.accounts import Session
from bot.errors import ServiceBroken, UserError
from bot.features.issues.fields import REPORTED_IN_CHANNELS
from bot.features.issues.issues import HISTORY, IssueNotFound, Issues, assigned_to
from bot.features.issues.publicity import Exposure, Publicity, exposure_of
from bot.service.conventions import poll_until_found
from bot.service.models import Change, Issue, Journal
from bot.store.followed import Followed
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

MAX_FOLLOWED = 500


def told_changes(entry: Journal) -> list[Change]:
    """An entry's changes that channels are told, of the status and the assignee."""
    return [one for one in entry.details if one.property == "attr" and one.name in REPORTED_IN_CHANNELS]


def has_changed(one: Followed, issue: Issue | None, *, unlisted: bool = False) -> bool:
    """Whether a followed issue has to be read, by its row in a list, or because it is `unlisted` there."""
    if issue is None:
        return unlisted
    return issue.updated_on != one.seen_on or (issue.is_private and not one.direct)


@dataclass(frozen=True)
class IssueSnapshot:
    issue: Issue
    exposure: Exposure
    closed: bool
    mine: bool = False  # whether it is assigned to the follower

    @property
    def history(self) -> Sequence[Journal]:
        return self.issue.public_history

    def changes_after(self, journal: int) -> list[tuple[Journal, Change]]:
        """The changes of status and assignee after that one, which the thread of a live feed's post tells."""
        later = (entry for entry in self.history if entry.id > journal)
        changes: list[tuple[Journal, Change]] = []
        for entry in later:
            changes.extend((entry, change) for change in told_changes(entry))
        return changes

    def comment(self, number: int | None) -> Journal | None:
        return next((comment for comment in self.issue.public_comments or () if comment.id == number), None)

    @property
    def fingerprint(self) -> str:
        """Equal for equal posts."""
        issue = self.issue
        refs = (issue.project, issue.status, issue.priority, issue.assigned_to)
        visible = [issue.subject, *(ref and ref.name for ref in refs), str(issue.due_date)]
        last = [journal.id for journal in self.history[-1:]]
        return hashlib.sha256(json.dumps([*visible, self.closed, *last]).encode()).hexdigest()


@dataclass(frozen=True)
class ThreadPlace:
    """A thread; in a direct message with the bot (`direct`) also none, for a new post."""

    channel_id: str
    ts: str
    direct: bool = False


class Following:
    def __init__(self, access: Access) -> None:
        self.access, self.followed = access, access.store.followed
        self.issues, self.publicity = access.shared(Issues), access.shared(Publicity)

    async def snapshot(self, owner: Owner, number: int) -> IssueSnapshot:
        """The issue as the user sees it. Raises IssueNotFound, NotLinked, ServiceError."""
        async with self.access.accounts.reading(owner) as session:
            return await self.read(session, number, {})

    async def read_all(self, session: Session, numbers: Iterable[int]) -> dict[int, IssueSnapshot | None]:
        """Several issues, None for those that the user can't see.

        Leaves out those that the service fails to send, so that the others don't wait for them.
        """
        snapshots: dict[int, IssueSnapshot | None] = {}
        projects: dict[int | None, Exposure] = {}
        for number in numbers:
            with suppress(ServiceBroken):
                try:
                    snapshots[number] = await self.read(session, number, projects)
                except IssueNotFound:
                    snapshots[number] = None
        return snapshots

    async def read(
        self, session: Session, number: int, projects: dict[int | None, Exposure]
    ) -> IssueSnapshot:
        """One issue, and its project unless `projects` has it. Raises IssueNotFound, ServiceError."""
        issue = await self.issues.detailed(session, number, HISTORY)
        unread = exposure_of(issue)
        if unread.project_id not in projects:
            projects[unread.project_id] = await self.publicity.read(session, unread)
        exposure = replace(projects[unread.project_id], issue=issue, issue_at=unread.issue_at)
        return IssueSnapshot(
            issue, exposure, await self._is_closed(session, issue), assigned_to(session, issue)
        )

    async def _is_closed(self, session: Session, issue: Issue) -> bool:
        """Services that don't send whether a status is closed may list it."""
        if issue.status is None or issue.status.is_closed is not None:
            return bool(issue.status and issue.status.is_closed)
        statuses = await self.access.client.optional.issue_statuses(session.key) or ()
        return any(status.id == issue.status.id and status.is_closed for status in statuses)

    async def may_follow(
        self, owner: Owner, number: int, thread: ThreadPlace, agreed_project: int | None
    ) -> IssueSnapshot:
        """Return the `snapshot` for a user who agreed to show that project. Raises UserError for a private
        issue, which a channel can't follow.
        """
        snapshot = await self.snapshot(owner, number)
        if snapshot.issue.is_private and not thread.direct:
            raise UserError(
                "#{number} is private, so a thread can't follow it. To follow it in a direct message, type "
                "`{/issue} {number} follow`.",
                number=number,
            )
        return replace(snapshot, exposure=replace(snapshot.exposure, agreed_project=agreed_project))

    async def there(self, owner: Owner, number: int, thread: ThreadPlace) -> Followed | None:
        """What follows the issue in the thread, or anywhere in the user's direct messages."""
        if thread.direct:
            return next((one for one in await self.followed.of(owner, number) if one.direct), None)
        return await self.followed.in_thread(thread.channel_id, thread.ts, number)

    async def start(
        self,
        owner: Owner,
        snapshot: IssueSnapshot,
        thread: ThreadPlace,
        ts: str,
        *,
        posted_by: str | None = None,
        created: bool = False,
    ) -> Followed:
        """Keep the post with this `ts` up to date from now on. Raises UserError.

        `posted_by` is the Slack user who caused it, by default the owner, and `created` whether by creating
        the issue.
        """
        await self.make_room(owner)
        followed = Followed(
            owner=owner,
            issue_id=snapshot.issue.id,
            channel_id=thread.channel_id,
            thread_ts=thread.ts or ts,
            ts=ts,
            direct=thread.direct,
            posted_by=posted_by or owner.user_id,
            created=created,
            agreed_project=snapshot.exposure.agreed_project,
            closed=snapshot.closed,
        )
        if not await self.followed.add(followed):
            raise UserError("This thread already follows #{number}.", number=snapshot.issue.id)
        return followed

    async def stop(self, owner: Owner, number: int, thread: ThreadPlace, channel_id: str | None) -> None:
        """Leave the thread's post as it is. Only those who can see the issue can, from its own channel, and
        the one who follows it there: raises as `snapshot`, and UserError. The user asked in `channel_id`.
        """
        await self.snapshot(owner, number)
        followed = await self._in_thread(thread, number)
        if followed and followed.owner != owner and followed.channel_id != channel_id:
            raise UserError("Only the person who follows #{number} there can stop that.", number=number)
        await self.followed.end([followed] if followed else [])

    async def end(self, followed: Sequence[Followed], why: str) -> None:
        """Stop following in the background. The posts stay as they are."""
        await self.followed.end(followed)
        for one in followed:
            about = {"issue": one.issue_id, "channel": one.channel_id}
            log.info("stopped following an issue", action="follow.ended", why=why, **about)

    async def stop_all(self, owner: Owner, number: int) -> bool:
        """End what the user follows of an issue, wherever; returns False if there's nothing."""
        followed = await self.followed.of(owner, number)
        await self.followed.end(followed)
        return bool(followed)

    async def include_comments(self, owner: Owner, number: int, thread: ThreadPlace, *, on: bool) -> bool:
        """Quote the public comments from now on, or no more; returns False if the issue isn't followed there.

        Only those who can see the issue can, and where not everyone can, only the one who follows it. Raises
        as `snapshot`, and UserError.
        """
        snapshot = await self.snapshot(owner, number)
        followed = await self._in_thread(thread, number)
        if followed is None:
            return False
        if on and owner != followed.owner and not snapshot.exposure.may_show:
            raise UserError(
                "#{number}'s project isn't public. Only the person who follows the issue here can "
                "include its comments.",
                number=number,
            )
        if on and snapshot.issue.public_comments is None:
            raise UserError("{service} doesn't show me the comments on #{number}.", number=number)
        last = max((journal.id for journal in snapshot.issue.journals), default=0)
        await self.followed.include_comments(followed, last if on else None)
        return True

    async def _in_thread(self, thread: ThreadPlace, number: int) -> Followed | None:
        """Return the stored post that follows the issue there. Slack shows a new post before it is stored."""
        find = partial(self.followed.in_thread, thread.channel_id, thread.ts, number)
        return await poll_until_found(find, (0, *self.access.delays.lookups))

    async def make_room(self, owner: Owner, gone: Followed | None = None) -> None:
        """Stop following posts that are `gone` from Slack. Raises UserError at the user's limit."""
        await self.followed.end([gone] if gone else [])
        if await self.followed.count(owner) >= MAX_FOLLOWED:
            raise UserError(
                "You already follow {most} issues, the maximum. To stop following one, use the menu of its "
                "post.",
                most=MAX_FOLLOWED,
            )
