"""Creates and reads issues with the requesting user's key."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from bot.errors import Refused, ServiceError, UserError, WrongField
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.creating import Creating, Upload
from bot.features.issues.fields import Draft, Meant, fields_named
from bot.features.issues.resolution import Names, request
from bot.features.issues.service_changes import ServiceChange, service_changes
from bot.features.projects.catalog import Catalog, Catalogs
from bot.features.projects.permissions import may
from bot.features.projects.projects import Projects
from bot.features.users.people import People
from bot.service.client import Client
from bot.service.conventions import SETS_PRIVACY, IssueDetailInclude
from bot.service.filters import IssueFilters, Sort, searchable
from bot.service.models import Child, Issue, Project, Ref
from bot.store.channels import Channel
from bot.store.owner import Owner
from bot.store.store import Store

log = structlog.get_logger(__name__)

Similar = Callable[[Session, str, int], Coroutine[Any, Any, tuple[Issue, ...]]]
"""Finds open issues with a similar subject in a project."""
Assigned = Callable[[Owner, Issue], Awaitable[None]]
"""Tells an issue's assignee that a user assigned it to them; never raises."""
MOST = 50
"""How many issues are read by their numbers."""
SIMILAR_SECONDS = 1.0
"""How long a created issue waits for similar ones."""


class SubjectMissing(UserError):
    """An issue without a subject."""


class PrivateIssuesForbidden(UserError):
    """The user's roles in the project don't let them create private issues."""

    project: str


class IssueRefused(Refused):
    """The service refused the issue; `fields` are those that its messages name, as the form names them."""

    def __init__(self, refused: Refused, fields: tuple[str, ...]) -> None:
        super().__init__(refused.method, refused.path, refused.status or 0, refused.errors)
        self.fields = fields


class IssueNotFound(UserError):
    """The issue doesn't exist, or the user can't see it."""

    number: int


def is_public(issue: Issue, project: Project | None) -> bool:
    """Whether everyone can see the issue in the service; False if that isn't known."""
    return project is not None and project.is_public is True and not issue.is_private


@dataclass(frozen=True)
class Source:
    """The Slack message that an issue is created from."""

    channel_id: str
    ts: str


@dataclass(frozen=True)
class Created:
    """A created issue, with the values that the service changed."""

    issue: Issue
    project: Project
    changes: tuple[ServiceChange, ...] = ()
    requested_private: bool = False
    """Whether the user asked for a private issue."""
    mention: str | None = None
    """The assignee's Slack user, if they are to be mentioned."""
    similar: tuple[Issue, ...] = ()
    """Open issues with a similar subject."""

    @property
    def exposed(self) -> bool:
        """Whether others can see it although the user asked for a private issue."""
        return self.requested_private and not self.issue.is_private

    @property
    def public(self) -> bool:
        """Whether everyone can see it in the service, and the user didn't ask for a private issue."""
        return is_public(self.issue, self.project) and not self.requested_private


@dataclass(frozen=True)
class Shown:
    """An issue with what its card adds: children, the subjects of related issues, its project."""

    issue: Issue
    children: tuple[Child, ...]
    subjects: dict[int, str]
    project: Project | None

    @property
    def public(self) -> bool:
        """Whether everyone can see it in the service."""
        return is_public(self.issue, self.project)


class Issues:
    """Creates and reads issues with the requesting user's key."""

    def __init__(
        self,
        client: Client,
        store: Store,
        accounts: Accounts,
        projects: Projects,
        *,
        catalogs: Catalogs,
        people: People,
        looks: Sequence[float],
    ) -> None:
        self._creating = Creating(client, store, accounts, looks)
        self._client = client
        self._store = store
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs
        self._people = people

    async def create(
        self,
        owner: Owner,
        draft: Draft,
        channel: Channel | None,
        attempted_at: datetime | None = None,
        *,
        source: Source | None = None,
        upload: Upload | None = None,
        similar: Similar | None = None,
    ) -> Created:
        """Create the issue once, and record who created it, and from which message (`source`).

        `attempted_at` is when an earlier attempt at the same draft ended with an unknown outcome: then the
        service is searched for the issue first. `upload` sends the files once the rest is resolved. `similar`
        looks for issues like it meanwhile.

        Raises UserError, NotLinked, IssueRefused and the other ServiceErrors; OutcomeUnknown only if a search
        didn't find the issue either.
        """
        if not draft.subject.strip():
            raise SubjectMissing
        async with self._accounts.reading(owner) as session:
            project = await self._projects.chosen(session, draft.project, channel)
            catalog = await self._catalogs.of(session, project.id)
            meant = await Names(self._people, session, catalog).meant(draft)
            new = request(draft, meant, project, catalog)
            if draft.private and await may(self._client, session, project, SETS_PRIVACY) is False:
                raise WrongField("private", PrivateIssuesForbidden(project.name))
        async with _beside(similar and similar(session, new.subject, project.id)) as found:
            try:
                issue = await self._creating.once(session, new, attempted_at, upload)
            except Refused as error:
                raise self._refused(owner, error, draft, meant, catalog) from None
            alike = tuple(other for other in await found() if other.id != issue.id)
        changes = service_changes(meant, new.custom_fields, issue)
        mention = await self.assignee_to_mention(owner, issue)
        created = Created(issue, project, changes, draft.private, mention, alike)
        await self._record(owner, created, source)
        return created

    async def assignee_to_mention(self, owner: Owner, issue: Issue) -> str | None:
        """The assignee's Slack user, if they are linked and aren't the user; None if that can't be read."""
        if issue.assigned_to is None:
            return None
        try:
            linked = await self._store.links.slack_users(owner, issue.assigned_to.id)
        except Exception:
            log.exception("assignee not looked up", action="issue.no_mention", issue=issue.id)
            return None
        return None if owner.user_id in linked else next(iter(linked), None)

    def _refused(
        self, owner: Owner, error: Refused, draft: Draft, meant: Mapping[str, Meant], catalog: Catalog
    ) -> IssueRefused:
        """The refusal with the fields that it names; remembers the custom fields that were left empty."""
        fields = fields_named(error.errors, catalog.custom_fields)
        custom = {int(name.removeprefix("cf_")) for name in fields if name.startswith("cf_")}
        tracker = meant.get("tracker")
        if catalog.project and (empty := custom - draft.custom_fields.keys()):
            tracker_id = tracker.id if isinstance(tracker, Ref) else None
            self._catalogs.note_required(owner, catalog.project.id, tracker_id, empty)
        return IssueRefused(error, fields)

    async def show(self, owner: Owner, number: int) -> Shown:
        """One issue as the user sees it. Raises UserError if they can't see it, NotLinked, ServiceError."""
        async with self._accounts.reading(owner) as session:
            detailed = await self._client.optional.get_issue(
                session.key, number, ("children", "attachments", "relations")
            )
            if detailed is not None:
                issue, children = detailed, detailed.children
            else:
                issue, children = await asyncio.gather(
                    self.one(session, number), self._children(session, number)
                )
                self._client.optional.note_missing("get_issue")
            others = (r.issue_to_id if r.issue_id == number else r.issue_id for r in issue.relations)
            named = {other for other in (*others, issue.parent and issue.parent.id) if other}
            others_seen, project = await asyncio.gather(
                self.several(session, sorted(named)), self.project_of(session, issue)
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
        return (await self._client.list_issues(session.key, filters, limit=20)).items

    async def one(self, session: Session, number: int) -> Issue:
        """One issue from the service's list. Raises UserError if the user can't see it."""
        filters = IssueFilters(
            issue_ids=(number,), status="any", include=frozenset({"attachments", "relations"})
        )
        items = (await self._client.list_issues(session.key, filters, limit=1)).items
        if not items:
            raise IssueNotFound(number)
        return items[0]

    async def detailed(
        self, session: Session, number: int, include: Collection[IssueDetailInclude] = ()
    ) -> Issue:
        """One issue with its details; as `one`, if the service doesn't tell them."""
        optional = self._client.optional
        if (issue := await optional.get_issue(session.key, number, include)) is None:
            issue = await self.one(session, number)
            optional.note_missing("get_issue")  # the issue exists, so the endpoint doesn't
        return issue

    async def several(self, session: Session, numbers: Sequence[int]) -> dict[int, Issue]:
        """The first MOST of these issues, without those that the user can't see. Raises ServiceError."""
        if not (wanted := numbers[:MOST]):
            return {}
        filters = IssueFilters(issue_ids=tuple(wanted), status="any")
        page = await self._client.list_issues(session.key, filters, limit=len(wanted))
        return {issue.id: issue for issue in page.items if issue.id in wanted}

    async def _children(self, session: Session, number: int) -> tuple[Child, ...]:
        filters = IssueFilters(parent_ids=(number,), status="any", sort=(Sort("id"),))
        page = await self._client.list_issues(session.key, filters, limit=100)
        return tuple(
            Child(id=i.id, tracker=i.tracker, subject=i.subject)
            for i in page.items
            if i.parent and i.parent.id == number
        )

    async def project_of(self, session: Session, issue: Issue) -> Project | None:
        """The issue's project; None if it can't be read, and then the issue doesn't count as public."""
        with suppress(ServiceError):
            return await self._projects.by_id(session, issue.project.id) if issue.project else None
        return None

    async def _record(self, owner: Owner, created: Created, source: Source | None) -> None:
        """Record the issue. It exists, so an error here must not fail the request."""
        issue = created.issue
        where = (source.channel_id, source.ts) if source else (None, None)
        try:
            await self._store.created_issues.put(
                owner, issue.id, issue.subject, *where, privacy_refused=created.exposed
            )
        except Exception:
            log.exception("created issue not recorded", action="issue.not_remembered", issue=issue.id)


@asynccontextmanager
async def _beside(
    looking: Coroutine[Any, Any, tuple[Issue, ...]] | None,
) -> AsyncIterator[Callable[[], Awaitable[tuple[Issue, ...]]]]:
    """Look for issues during the block; it gets what was found, or nothing after an error or timeout."""
    task = asyncio.create_task(looking) if looking else None

    async def found() -> tuple[Issue, ...]:
        try:
            return await asyncio.wait_for(task, SIMILAR_SECONDS) if task else ()
        except (ServiceError, UserError, TimeoutError):
            return ()
        except Exception:  # the issue is created by now, and its answer matters more
            log.exception("similar issues not looked up", action="issue.no_similar")
            return ()

    try:
        yield found
    finally:
        if task:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
