"""Logging time on an issue, in the person's own name."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from bot.errors import UserError
from bot.service.client import Client
from bot.service.conventions import ProjectInclude
from bot.service.models import Issue, Project, Ref, TimeEntry
from bot.service.writes import NewTimeEntry
from bot.store.owner import Owner
from bot.usecases.accounts import Accounts
from bot.usecases.issues import Issues
from bot.usecases.projects import Projects

ACTIVITIES: tuple[ProjectInclude, ...] = ("time_entry_activities",)


@dataclass(frozen=True)
class Loggable:
    """What time can be logged on: an issue, with the activities of its project."""

    issue: Issue
    activities: tuple[Ref, ...]


@dataclass(frozen=True)
class Logged:
    """A time entry that now exists."""

    entry: TimeEntry
    issue: Issue
    project: Project | None

    @property
    def public(self) -> bool:
        """Whether anyone in a channel might as well see the issue in the service."""
        return self.project is not None and self.project.is_public is True and not self.issue.is_private


class Timelog:
    """Creates time entries with the key of whoever asks."""

    def __init__(self, client: Client, accounts: Accounts, projects: Projects, issues: Issues) -> None:
        self._client = client
        self._accounts = accounts
        self._projects = projects
        self._issues = issues

    async def loggable(self, owner: Owner, number: int) -> Loggable:
        """The issue and its project's activities. Raises UserError, NotLinked, ServiceError."""
        async with self._accounts.reading(owner) as session:
            issue = await self._issues.one(session, number)
            activities: tuple[Ref, ...] = ()
            if issue.project:
                project = await self._client.get_project(session.key, issue.project.id, ACTIVITIES)
                activities = project.time_entry_activities
            if not activities:
                activities = tuple(await self._client.beyond.time_entry_activities(session.key) or ())
            return Loggable(issue, activities)

    async def log(
        self,
        owner: Owner,
        number: int,
        hours: Decimal,
        *,
        activity_id: int | None,
        spent_on: date,
        comment: str,
    ) -> Logged:
        """Log `hours` on an issue once. Raises UserError, NotLinked, ServiceError (OutcomeUnknown too)."""
        if hours <= 0:
            raise UserError("Log more than no time at all: `1.5`, `90m` or `1h30`.")
        session = await self._accounts.writing(owner)
        issue = await self._issues.one(session, number)
        fields: dict[str, object] = {"issue_id": number, "hours": hours, "spent_on": spent_on}
        if activity_id is not None:
            fields["activity_id"] = activity_id
        if comment:
            fields["comments"] = comment
        entry = await self._client.create_time_entry(session.key, NewTimeEntry.model_validate(fields))
        project = await self._projects.by_id(session, issue.project.id) if issue.project else None
        return Logged(entry, issue, project)
