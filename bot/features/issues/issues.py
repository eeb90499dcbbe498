"""Reads issues with the requesting user's key."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from bot.errors import ServiceError, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.projects.projects import KnownProject, Projects
from bot.service.client import Client
from bot.service.conventions import IssueDetailInclude
from bot.service.filters import IssueFilters, Sort, searchable
from bot.service.models import Child, Issue
from bot.store.owner import Owner
from bot.store.store import Store

log = structlog.get_logger(__name__)

Assigned = Callable[[Owner, Issue], Awaitable[None]]
"""Tells an issue's assignee that a user assigned it to them; never raises."""
MOST = 50
"""How many issues are read by their numbers."""


class IssueNotFound(UserError):
    """The issue doesn't exist, or the user can't see it."""

    number: int


@dataclass(frozen=True)
class Shown:
    """An issue with what its card adds: children, the subjects of related issues, its project."""

    issue: Issue
    children: tuple[Child, ...]
    subjects: dict[int, str]
    project: KnownProject | None


@dataclass(frozen=True)
class Issues:
    """Reads issues with the requesting user's key."""

    client: Client
    store: Store
    accounts: Accounts
    projects: Projects

    async def assignee_to_mention(self, owner: Owner, issue: Issue) -> str | None:
        """The assignee's Slack user, if they are linked and aren't the user; None if that can't be read."""
        if issue.assigned_to is None:
            return None
        try:
            linked = await self.store.links.slack_users(owner, issue.assigned_to.id)
        except Exception:
            log.exception("assignee not looked up", action="issue.no_mention", issue=issue.id)
            return None
        return None if owner.user_id in linked else next(iter(linked), None)

    async def show(self, owner: Owner, number: int) -> Shown:
        """One issue as the user sees it. Raises UserError if they can't see it, NotLinked, ServiceError."""
        async with self.accounts.reading(owner) as session:
            detailed = await self.client.optional.get_issue(
                session.key, number, ("children", "attachments", "relations")
            )
            if detailed is not None:
                issue, children = detailed, detailed.children
            else:
                issue, children = await asyncio.gather(
                    self.one(session, number), self._children(session, number)
                )
                self.client.optional.note_missing("get_issue")
            others = (r.issue_to_id if r.issue_id == number else r.issue_id for r in issue.relations)
            named = {other for other in (*others, issue.parent and issue.parent.id) if other}
            others_seen, project = await asyncio.gather(
                self.several(session, sorted(named)), self._project_of(session, issue)
            )
            return Shown(issue, children, {n: other.subject for n, other in others_seen.items()}, project)

    async def suggest(self, session: Session, text: str, project_id: int | None) -> tuple[Issue, ...]:
        """Issues whose number or subject matches, most recently updated first. Raises ServiceError."""
        sought = text.strip().lstrip("#")
        latest = (Sort("updated_on", descending=True),)
        try:
            if re.fullmatch("[0-9]{1,9}", sought):
                filters = IssueFilters(issue_ids=(int(sought),))
            else:
                words = searchable(sought) or sought
                filters = IssueFilters(project_id=project_id, subject=words, status="open", sort=latest)
        except ValueError:  # nothing to search for
            return ()
        return (await self.client.list_issues(session.key, filters, limit=20)).items

    async def one(self, session: Session, number: int) -> Issue:
        """One issue from the service's list. Raises UserError if the user can't see it."""
        filters = IssueFilters(
            issue_ids=(number,), status="any", include=frozenset({"attachments", "relations"})
        )
        items = (await self.client.list_issues(session.key, filters, limit=1)).items
        if not items:
            raise IssueNotFound(number)
        return items[0]

    async def detailed(
        self, session: Session, number: int, include: Collection[IssueDetailInclude] = ()
    ) -> Issue:
        """One issue with its details; as `one`, if the service doesn't tell them."""
        optional = self.client.optional
        if (issue := await optional.get_issue(session.key, number, include)) is None:
            issue = await self.one(session, number)
            optional.note_missing("get_issue")  # the issue exists, so the endpoint doesn't
        return issue

    async def several(self, session: Session, numbers: Sequence[int]) -> dict[int, Issue]:
        """The first MOST of these issues, without those that the user can't see. Raises ServiceError."""
        if not (wanted := numbers[:MOST]):
            return {}
        filters = IssueFilters(issue_ids=tuple(wanted), status="any")
        page = await self.client.list_issues(session.key, filters, limit=len(wanted))
        return {issue.id: issue for issue in page.items if issue.id in wanted}

    async def _children(self, session: Session, number: int) -> tuple[Child, ...]:
        filters = IssueFilters(parent_ids=(number,), status="any", sort=(Sort("id"),))
        page = await self.client.list_issues(session.key, filters, limit=100)
        return tuple(
            Child(id=i.id, tracker=i.tracker, subject=i.subject)
            for i in page.items
            if i.parent and i.parent.id == number
        )

    async def _project_of(self, session: Session, issue: Issue) -> KnownProject | None:
        """The issue's project as of the last minute; None if it can't be read."""
        with suppress(ServiceError):
            return await self.projects.by_id(session, issue.project.id) if issue.project else None
        return None
