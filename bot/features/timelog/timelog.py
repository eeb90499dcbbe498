"""Logs time on an issue or a project with the user's own key."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from decimal import Decimal

from pydantic import BaseModel, ConfigDict

from bot.errors import OutcomeUnknown, Refused, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.issues import Issues
from bot.features.issues.publicity import Exposure
from bot.features.lost_writes import looked_for
from bot.features.name_matching import pick
from bot.features.projects.projects import DetailedProject, Projects
from bot.features.timelog.activities import Activities
from bot.features.timelog.own_entries import MINUTES, LongDay, OwnEntries
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.inputs import NewTimeEntry
from bot.service.models import Issue, Ref, TimeEntry
from bot.store.created_issues import CreatedIssues
from bot.store.owner import Owner
from bot.store.time_entries import Entry, Spent

SUGGESTED = 20
ROUNDING = Decimal("0.011")
"""The most that two sums of hours can be off: the service rounds each to two places."""


class TimeDraft(BaseModel):
    """What is known of time to log on an issue, or else on a project; names or ids as typed."""

    model_config = ConfigDict(frozen=True)
    issue: int | None = None
    project: str | None = None
    hours: Decimal | None = None
    activity: str | None = None
    spent_on: date | None = None
    comment: str = ""


class TimeToLog(TimeDraft):
    """The time to log. `agreed` is how many minutes on that day the user has confirmed, 0 if not asked, and
    `ahead` whether they have confirmed a day in the future. `with_day` is the comment with the words that
    name the day. `spent` are the hours on the issue when the user was asked, if known.
    """

    hours: Decimal
    spent_on: date
    agreed: int = 0
    ahead: bool = False
    with_day: str | None = None
    spent: Decimal | None = None


@dataclass(frozen=True)
class Loggable:
    """An issue to log time on, or a project if `issue` is None.

    `activities` are the project's, with those that the user logged last first; `usual` is the one to log with
    if the user names none.
    """

    issue: Issue | None
    project: DetailedProject
    activities: tuple[Ref, ...]
    usual: Ref | None = None
    requested_private: bool = False
    """Whether the issue was created as private and the service ignored that."""
    read_at: float = field(default_factory=time.monotonic)

    @property
    def private(self) -> bool:
        """Whether the issue is private."""
        return self.requested_private or (self.issue is not None and self.issue.is_private)

    @property
    def title(self) -> str:
        """The issue's subject, or the project's name."""
        return self.issue.subject if self.issue else self.project.name

    @property
    def exposure(self) -> Exposure:
        """Its project is read before it is posted."""
        return Exposure(self.issue, self.project.id, issue_at=self.read_at)


class ActivityNeeded(UserError):
    """The service needs an activity, and none was given; `refused` is its own refusal, if it sent one."""

    on: Loggable
    refused: Refused | None = None


class ProjectNotTold(UserError):
    """The service doesn't say which project an issue belongs to."""

    issue: int


class NothingToLogOn(UserError):
    """Neither an issue nor a project was given."""


@dataclass(frozen=True)
class Logged:
    """Logged time. `spent` isn't an `Entry` if only the issue's total shows that it was logged: its number is
    unknown, so it can't be edited.
    """

    spent: Spent
    on: Loggable


@dataclass(frozen=True)
class Timelog:
    """Creates time entries."""

    client: Client
    accounts: Accounts
    projects: Projects
    issues: Issues
    activities: Activities
    entries: OwnEntries
    created: CreatedIssues
    looks: Sequence[float]

    async def loggable(self, owner: Owner, draft: TimeDraft) -> Loggable | None:
        """The issue or project to log time on, None if none was given yet."""
        async with self.accounts.reading(owner) as session:
            if draft.issue is None and draft.project is None:
                return None
            return await self._on(session, draft)

    async def target_of(self, owner: Owner, entry: Entry) -> Loggable:
        """What an entry is on, as the user sees it now."""
        project = None if entry.issue_id else f"#{entry.project_id}"
        draft = TimeDraft(issue=entry.issue_id, project=project, activity=entry.activity)
        async with self.accounts.reading(owner) as session:
            return await self._on(session, draft)

    async def suggest(self, owner: Owner, text: str) -> tuple[Issue, ...]:
        """Issues that match the typed text; if it is empty, the user's own open ones."""
        async with self.accounts.reading(owner) as session:
            if text.strip().lstrip("#"):
                return await self.issues.suggest(session, text, None)
            latest = (Sort("updated_on", descending=True),)
            mine = IssueFilters(assigned_to=("me",), status="open", sort=latest)
            return (await self.client.list_issues(session.key, mine, limit=SUGGESTED)).items

    async def log(self, owner: Owner, wanted: TimeToLog, *, look: bool = False) -> Logged:
        """Log time once, and store the entry as this user's. With `look`, an earlier attempt may have.

        Raises ActivityNeeded and LongDay, and OutcomeUnknown only if the issue's spent hours don't show the
        time either.
        """
        async with self.accounts.reading(owner) as session:
            on = await self._on(session, wanted)
            activity = await self._activity(session, on, wanted.activity)
            if look and _was_logged(on, wanted):
                return Logged(_spent(on, wanted, activity, None), on)
            try:
                await self.entries.check_day(owner, wanted.hours, wanted.spent_on, wanted.agreed)
            except LongDay as long:
                so_far = on.issue.spent_hours if on.issue else None
                raise LongDay(long.day, long.minutes, so_far) from None
        try:
            made = await self.client.create_time_entry(session.key, _new(on, wanted, activity))
        except Refused as error:
            if activity is None and on.activities:
                raise ActivityNeeded(on, error) from error
            raise
        except OutcomeUnknown:
            if not await self._has_grown(session, on.issue, wanted.hours):
                raise
            return Logged(_spent(on, wanted, activity, None), on)
        spent = _spent(on, wanted, activity, made)
        entry = Entry(id=made.id, **asdict(spent))
        return Logged(entry if await self.entries.add(owner, entry) else spent, on)

    async def _on(self, session: Session, draft: TimeDraft) -> Loggable:
        issue = None
        if draft.issue is not None:
            issue, _ = await asyncio.gather(
                self.issues.detailed(session, draft.issue), self.activities.prefetch(session)
            )
            if issue.project is None:
                raise ProjectNotTold(draft.issue)
            project_id = issue.project.id
        elif draft.project is not None:
            project_id = (await self.projects.find(session, draft.project)).id
        else:
            raise NothingToLogOn
        project = await self.projects.detailed(session, project_id)
        known = await self.activities.of(session, project)
        usual = known[0] if len(known) == 1 else None
        if usual is None and draft.activity is None:
            usual = await self.activities.last_used(session, project, known)
        hidden = await self.created.refused_privacy()
        return Loggable(issue, project, known, usual, draft.issue in hidden)

    async def _activity(self, session: Session, on: Loggable, typed: str | None) -> Ref | None:
        """The activity to log; None leaves it to the service."""
        if typed is not None:
            return pick("activity", typed, on.activities)
        if on.usual is None and on.activities and await self.activities.default_is_missing(session):
            raise ActivityNeeded(on)
        return on.usual

    async def _has_grown(self, session: Session, issue: Issue | None, hours: Decimal) -> bool:
        """Whether the issue's spent hours show that a write with no answer was made."""
        if issue is None or (before := issue.spent_hours) is None:
            return False
        number = issue.id

        async def grown() -> bool:
            after = (await self.issues.detailed(session, number)).spent_hours
            return after is not None and after > before and abs(after - before - hours) <= ROUNDING

        return bool(await looked_for(grown, self.looks))


def _was_logged(on: Loggable, wanted: TimeToLog) -> bool:
    """Whether the issue's spent hours show the time. Raises OutcomeUnknown if they don't tell."""
    now = on.issue.spent_hours if on.issue else None
    if now is not None and wanted.spent is not None:
        if abs(now - wanted.spent - wanted.hours) <= ROUNDING:
            return True
        if now == wanted.spent:
            return False
    raise OutcomeUnknown("POST", "/time_entries.json", None, "the process crashed")


def _new(on: Loggable, wanted: TimeToLog, activity: Ref | None) -> NewTimeEntry:
    fields: dict[str, object] = {"hours": wanted.hours, "spent_on": wanted.spent_on}
    if on.issue:
        fields["issue_id"] = on.issue.id
    else:
        fields["project_id"] = on.project.id
    if activity:
        fields["activity_id"] = activity.id
    if wanted.comment:
        fields["comments"] = wanted.comment
    return NewTimeEntry.model_validate(fields)


def _spent(on: Loggable, wanted: TimeToLog, activity: Ref | None, made: TimeEntry | None) -> Spent:
    """The time in whole minutes, as the service recorded it; as requested if its answer leaves it out."""
    hours, spent_on = wanted.hours, wanted.spent_on
    if made is not None:
        hours = made.hours if made.hours is not None else hours
        activity, spent_on = made.activity or activity, made.spent_on or spent_on
    return Spent(
        project_id=on.project.id,
        issue_id=on.issue.id if on.issue else None,
        title=on.title,
        minutes=round(hours * MINUTES),
        activity_id=activity.id if activity else None,
        activity=activity.name if activity else "",
        spent_on=spent_on,
        comments=wanted.comment,
    )
