"""Log time on an issue or a project with the user's own key, and edit their entries.

The service has no list of time entries, so the bot stores those it creates.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

import structlog
from pydantic import BaseModel, ConfigDict

from bot.errors import NotFound, OutcomeUnknown, Refused, ServiceError, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.issues import Issues
from bot.features.name_matching import pick
from bot.features.projects.projects import Projects
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.inputs import NewTimeEntry, TimeEntryChanges
from bot.service.models import Issue, Project, Ref, TimeEntry
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.time_entries import Entry, Post, Spent

log = structlog.get_logger(__name__)

MINUTES = 60
DAY = 24 * MINUTES
LATEST = 20
"""How many of a user's latest entries decide which activities come first."""
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
    """The time to log. `agreed` is how many minutes on that day the user has confirmed, 0 if not asked."""

    hours: Decimal
    spent_on: date
    agreed: int = 0


@dataclass(frozen=True, kw_only=True)
class TimeChange:
    """All values of a changed entry; `agreed` as in `TimeToLog`."""

    hours: Decimal
    spent_on: date
    activity: Ref | None
    comment: str
    agreed: int = 0


@dataclass(frozen=True)
class Loggable:
    """An issue to log time on, or a project if `issue` is None; with the project's activities, the user's
    most recent first.
    """

    issue: Issue | None
    project: Project
    activities: tuple[Ref, ...]
    requested_private: bool = False
    """Whether the issue was created as private and the service ignored that."""

    @property
    def public(self) -> bool:
        """Whether everyone in a channel may see it: the project is public and the issue isn't private."""
        hidden = self.requested_private or (self.issue is not None and self.issue.is_private)
        return self.project.is_public is True and not hidden


class ActivityNeeded(UserError):
    """The service needs an activity and none was given; `refused` is its own refusal, if it sent one."""

    on: Loggable
    refused: Refused | None = None


class LongDay(UserError):
    """The user would have more than 24 hours on `day`, `minutes` in total, and has to confirm that."""

    day: date
    minutes: int


class ProjectNotTold(UserError):
    """The service doesn't say which project an issue belongs to."""

    issue: int


class NothingToLogOn(UserError):
    """Neither an issue nor a project was given."""


class NothingLoggedYet(UserError):
    """The user has no entry to edit."""


class NotOwnEntry(UserError):
    """The entry wasn't logged with the bot by this user."""


class EntryGone(UserError):
    """The service no longer has the entry."""


@dataclass(frozen=True)
class Logged:
    """Logged time. `spent` isn't an `Entry` if only the issue's total shows that it was logged: its number is
    unknown, so it can't be edited.
    """

    spent: Spent
    on: Loggable


@dataclass(frozen=True)
class Changeable:
    """One of the user's own entries, and the activities that it can have."""

    entry: Entry
    activities: tuple[Ref, ...]


@dataclass(frozen=True)
class Totals:
    """Minutes that a user logged with the bot, today and this week (from Monday)."""

    today: int
    week: int


class Timelog:
    """Creates and changes time entries with the user's own key."""

    def __init__(
        self,
        client: Client,
        store: Store,
        accounts: Accounts,
        projects: Projects,
        issues: Issues,
        *,
        looks: Sequence[float],
    ) -> None:
        self._looks = looks
        self._client = client
        self._store = store
        self._accounts = accounts
        self._projects = projects
        self._issues = issues

    async def loggable(self, owner: Owner, draft: TimeDraft) -> Loggable | None:
        """The issue or project to log time on, None if none was given yet.

        Raises UserError if the user can't see it, NotLinked, ServiceError.
        """
        async with self._accounts.reading(owner) as session:
            if draft.issue is None and draft.project is None:
                return None
            return await self._loggable(session, draft)

    async def suggest(self, owner: Owner, text: str) -> tuple[Issue, ...]:
        """Issues that match the typed text; if it is empty, the user's own open ones.

        Raises NotLinked, ServiceError.
        """
        async with self._accounts.reading(owner) as session:
            if text.strip().lstrip("#"):
                return await self._issues.suggest(session, text, None)
            latest = (Sort("updated_on", descending=True),)
            mine = IssueFilters(assigned_to=("me",), status="open", sort=latest)
            return (await self._client.list_issues(session.key, mine, limit=SUGGESTED)).items

    async def log(self, owner: Owner, wanted: TimeToLog) -> Logged:
        """Log time once, and store the entry as this user's.

        Raises ActivityNeeded, LongDay, NotLinked, ServiceError, and UserError for unknown names;
        OutcomeUnknown only if the issue's spent hours don't show the time either.
        """
        async with self._accounts.reading(owner) as session:
            on = await self._loggable(session, wanted)
            activity = await self._activity(session, on, wanted.activity)
            await self._check_day(owner, wanted)
        try:
            made = await self._client.create_time_entry(session.key, _new(on, wanted, activity))
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
        stored = await _stored(self._store.time_entries.add(owner, entry), entry)
        return Logged(entry if stored else spent, on)

    async def changeable(self, owner: Owner, entry_id: int | None) -> Changeable:
        """An entry that this user created with the bot, their last one for None.

        Raises UserError if there is none or someone else created it, NotLinked, ServiceError.
        """
        async with self._accounts.reading(owner) as session:
            entry = await self._own_entry(owner, entry_id)
            found = list(
                await self._activities(
                    session, await self._projects.with_activities(session, entry.project_id)
                )
            )
        if entry.activity_id is not None and entry.activity_id not in {ref.id for ref in found}:
            found.insert(0, Ref(id=entry.activity_id, name=entry.activity))
        return Changeable(entry, tuple(found))

    async def change(self, owner: Owner, entry_id: int, wanted: TimeChange) -> Entry:
        """Change an entry that this user created with the bot. All fields are sent: after a change with an
        unknown outcome the service's entry may differ from the stored one.

        Raises NotOwnEntry, EntryGone, LongDay, NotLinked, ServiceError.
        """
        session = await self._accounts.writing(owner)
        entry = await self._own_entry(owner, entry_id)
        await self._check_day(owner, wanted, before=entry)
        minutes = round(wanted.hours * MINUTES)
        changed = replace(entry, minutes=minutes, spent_on=wanted.spent_on, comments=wanted.comment)
        if wanted.activity:
            changed = replace(changed, activity_id=wanted.activity.id, activity=wanted.activity.name)
        fields = {"hours": wanted.hours, "spent_on": wanted.spent_on, "comments": wanted.comment}
        activity = {} if changed.activity_id is None else {"activity_id": changed.activity_id}
        changes = TimeEntryChanges.model_validate(fields | activity)
        try:
            await self._client.update_time_entry(session.key, entry.id, changes)
        except NotFound:
            await self._store.time_entries.forget(owner, entry.id)
            raise EntryGone from None
        await _stored(self._store.time_entries.change(owner, changed), entry)
        return changed

    async def totals(self, owner: Owner, today: date) -> Totals:
        """Minutes that the user logged with the bot; `today` is the date in their time zone."""
        monday = today - timedelta(days=today.weekday())
        entries = self._store.time_entries
        day, week = await asyncio.gather(
            entries.minutes(owner, today, today), entries.minutes(owner, monday, monday + timedelta(days=6))
        )
        return Totals(day, week)

    async def announced(self, owner: Owner, entry: Entry, post: Post) -> None:
        """Store where an entry was posted, so that an edit can update the post."""
        announced = self._store.time_entries.announced(owner, entry.id, post)
        await _stored(announced, entry, "time.post_not_remembered")

    async def _check_day(
        self, owner: Owner, wanted: TimeToLog | TimeChange, before: Entry | None = None
    ) -> None:
        """Raises LongDay for more than 24 hours in a day, unless the user confirmed that many."""
        day = wanted.spent_on
        minutes = await self._store.time_entries.minutes(owner, day, day) + round(wanted.hours * MINUTES)
        if before and before.spent_on == day:
            minutes -= before.minutes
        if minutes > max(DAY, wanted.agreed):
            raise LongDay(day, minutes)

    async def _loggable(self, session: Session, draft: TimeDraft) -> Loggable:
        issue = None
        if draft.issue is not None:
            issue, _ = await asyncio.gather(
                self._issue(session, draft.issue), self._prefetch_activities(session)
            )
            if issue.project is None:
                raise ProjectNotTold(draft.issue)
            project_id = issue.project.id
        elif draft.project is not None:
            project_id = (await self._projects.find(session, draft.project)).id
        else:
            raise NothingToLogOn
        project = await self._projects.with_activities(session, project_id)
        hidden = await self._store.created_issues.refused_privacy()
        return Loggable(issue, project, await self._activities(session, project), draft.issue in hidden)

    async def _prefetch_activities(self, session: Session) -> None:
        """Read the activities beside the issue; if that fails, they are read again where they are needed."""
        with suppress(ServiceError):
            await self._projects.activities(session)

    async def _issue(self, session: Session, number: int) -> Issue:
        """An issue with its spent hours, if the service tells them. Raises UserError, ServiceError."""
        if detailed := await self._client.optional.get_issue(session.key, number):
            return detailed
        issue = await self._issues.one(session, number)
        self._client.optional.note_missing("get_issue")  # the issue exists, so the endpoint doesn't
        return issue

    async def _activities(self, session: Session, project: Project) -> tuple[Ref, ...]:
        known = project.time_entry_activities or await self._projects.activities(session)
        latest = await self._store.time_entries.latest(session.owner, LATEST)
        # by name, as a project may have activities of its own under the same names
        used = {name: n for n, name in reversed(list(enumerate(entry.activity for entry in latest)))}
        return tuple(sorted(known, key=lambda ref: used.get(ref.name, LATEST)))

    async def _activity(self, session: Session, on: Loggable, typed: str | None) -> Ref | None:
        """The activity to log; None leaves it to the service. Raises UserError, ServiceError."""
        if typed is not None:
            return pick("activity", typed, on.activities)
        if len(on.activities) == 1:
            return on.activities[0]
        offered = await self._projects.activities(session) if on.activities else ()
        if offered and not any((ref.model_extra or {}).get("is_default") for ref in offered):
            raise ActivityNeeded(on)
        return None

    async def _own_entry(self, owner: Owner, entry_id: int | None) -> Entry:
        if entry_id is None:
            latest = await self._store.time_entries.latest(owner, 1)
            if not latest:
                raise NothingLoggedYet
            return latest[0]
        entry = await self._store.time_entries.get(owner, entry_id)
        if entry is None:
            raise NotOwnEntry
        return entry

    async def _has_grown(self, session: Session, issue: Issue | None, hours: Decimal) -> bool:
        """Whether the issue's spent hours show that a write with no answer was made."""
        if issue is None or (before := issue.spent_hours) is None:
            return False
        for wait in self._looks:
            await asyncio.sleep(wait)
            try:
                after = (await self._issue(session, issue.id)).spent_hours
            except (ServiceError, UserError):
                continue
            if after is not None and after > before and abs(after - before - hours) <= ROUNDING:
                return True
        return False


async def _stored(storing: Awaitable[None], entry: Entry, action: str = "time.not_remembered") -> bool:
    """Whether the bot's record was stored. The service has the entry by now, so an error is only logged."""
    try:
        await storing
    except Exception:
        log.exception("time entry not stored", action=action, entry=entry.id)
        return False
    return True


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
        title=on.issue.subject if on.issue else on.project.name,
        minutes=round(hours * MINUTES),
        activity_id=activity.id if activity else None,
        activity=activity.name if activity else "",
        spent_on=spent_on,
        comments=wanted.comment,
    )
