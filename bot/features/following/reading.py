"""Reads an issue as the post that follows it shows it, with a user's key."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.errors import AnswerTooLarge, ServiceBroken
from bot.features.accounts.accounts import Session
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.issues.publicity import Exposure, Publicity, exposure_of
from bot.service.client import Client
from bot.service.conventions import IssueDetailInclude
from bot.service.models import Issue

JOURNALS: tuple[IssueDetailInclude, ...] = ("journals",)


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
class IssueReader:
    """Reads followed issues."""

    client: Client
    issues: Issues
    publicity: Publicity

    async def read(self, session: Session, number: int) -> Seen:
        """One issue. Raises IssueNotFound if the user can't see it, ServiceError."""
        return await self._read(session, number, {})

    async def read_all(self, session: Session, numbers: Iterable[int]) -> dict[int, Seen | None]:
        """Several issues, None for those that the user can't see. Raises ServiceError.

        Leaves out those that the service fails to send, so that the others don't wait for them.
        """
        found: dict[int, Seen | None] = {}
        projects: dict[int | None, Exposure] = {}
        for number in numbers:
            with suppress(ServiceBroken, AnswerTooLarge):
                try:
                    found[number] = await self._read(session, number, projects)
                except IssueNotFound:
                    found[number] = None
        return found

    async def _read(self, session: Session, number: int, projects: dict[int | None, Exposure]) -> Seen:
        issue = await self.issues.detailed(session, number, JOURNALS)
        unread = exposure_of(issue)
        if unread.project_id not in projects:
            projects[unread.project_id] = await self.publicity.read(session, unread)
        public = [j for j in issue.journals if j.notes and j.private_notes is False]
        commenters = [journal.user.name for journal in public if journal.user]
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
        statuses = await self.client.optional.issue_statuses(session.key) or ()
        return any(status.id == issue.status.id and status.is_closed for status in statuses)
