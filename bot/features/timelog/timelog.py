"""Log time on an issue or a project with the user's own key, and edit their entries.

The service has no list of time entries, so the bot stores those it creates.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

import structlog

from bot.errors import NotFound, OutcomeUnknown, Refused, ServiceError, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.issues import Issues
from bot.features.lost_writes import LOOKS
from bot.features.name_matching import pick
from bot.features.projects.projects import Projects
from bot.service.client import Client
from bot.service.conventions import ProjectInclude
from bot.service.filters import IssueFilters, Sort
from bot.service.inputs import NewTimeEntry, TimeEntryChanges
from bot.service.models import Issue, Project, Ref, TimeEntry
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.time_entries import Entry, Post, Spent

log = structlog.get_logger(__name__)

ACTIVITIES: tuple[ProjectInclude, ...] = ("time_entry_activities",)
MINUTES = 60
DAY = 24 * MINUTES
LATEST = 20
"""How many of a user's latest entries decide which activities come first."""
SUGGESTED = 20
ROUNDING = Decimal("0.011")
"""The most that two sums of hours can be off: the service rounds each to two places."""


@dataclass(frozen=True, kw_only=True)
class TimeToLog:
    """The time to log, on an issue or else a project; names or ids as typed.

    `agreed` is how many minutes on that day the user has confirmed, 0 if they weren't asked.
    """

    hours: Decimal
    spent_on: date
    issue: int | None = None
    project: str | None = None
    activity: str | None = None
    comment: str = ""
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

    def __init__(self, on: Loggable, refused: Refused | None = None) -> None:
        super().__init__("Say what you did: choose an activity.")
        self.on = on
        self.refused = refused


class LongDay(UserError):
    """The user would have more than 24 hours on `day`, `minutes` in total, and has to confirm that."""

    def __init__(self, day: date, minutes: int) -> None:
        super().__init__("That adds up to more than 24 hours for one day.")
        self.day = day
        self.minutes = minutes


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
        looks: Sequence[float] = LOOKS,
    ) -> None:
        self._looks = looks
        self._client = client
        self._store = store
        self._accounts = accounts
        self._projects = projects
        self._issues = issues

    async def loggable(self, owner: Owner, issue: int | None, project: str | None) -> Loggable:
        """The issue or project to log time on. Raises UserError, NotLinked, ServiceError."""
        async with self._accounts.reading(owner) as session:
            return await self._loggable(session, issue, project)

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

        Raises UserError (including ActivityNeeded and LongDay), NotLinked, ServiceError; OutcomeUnknown only
        if the issue's spent hours don't show the time either.
        """
        async with self._accounts.reading(owner) as session:
            on = await self._loggable(session, wanted.issue, wanted.project)
            activity = await self._activity(session, on, wanted.activity)
            await self._check_day(owner, wanted.spent_on, wanted.hours, wanted.agreed)
            before = await self._spent_hours(session, on.issue)
        try:
            made = await self._client.create_time_entry(session.key, _new(on, wanted, activity))
        except Refused as error:
            if activity is None and on.activities:
                raise ActivityNeeded(on, error) from error
            raise
        except OutcomeUnknown:
            if not await self._has_grown(session, on.issue, before, wanted.hours):
                raise
            return Logged(_spent(on, wanted, activity, None), on)
        spent = _spent(on, wanted, activity, made)
        entry = Entry(id=made.id, **asdict(spent))
        try:
            await self._store.time_entries.add(owner, entry)
        except Exception:  # the time is logged, so this isn't a failure
            log.exception("time entry not stored", action="time.not_remembered", entry=entry.id)
            return Logged(spent, on)
        return Logged(entry, on)

    async def changeable(self, owner: Owner, entry_id: int | None) -> Changeable:
        """An entry that this user created with the bot, their last one for None.

        Raises UserError if there is none or someone else created it, NotLinked, ServiceError.
        """
        async with self._accounts.reading(owner) as session:
            entry = await self._own_entry(owner, entry_id)
            found = list(await self._activities(session, await self._project(session, entry.project_id)))
        if entry.activity_id is not None and entry.activity_id not in {ref.id for ref in found}:
            found.insert(0, Ref(id=entry.activity_id, name=entry.activity))
        return Changeable(entry, tuple(found))

    async def change(
        self,
        owner: Owner,
        entry_id: int,
        *,
        hours: Decimal,
        activity: Ref | None,
        spent_on: date,
        comment: str,
        agreed: int = 0,
    ) -> Entry:
        """Change an entry that this user created with the bot. All fields are sent: after a change with an
        unknown outcome the service's entry may differ from the stored one. `agreed` is as in `Wanted`.

        Raises UserError if someone else created it or it is gone, LongDay, NotLinked, ServiceError.
        """
        session = await self._accounts.writing(owner)
        entry = await self._own_entry(owner, entry_id)
        await self._check_day(owner, spent_on, hours, agreed, before=entry)
        changed = replace(entry, minutes=round(hours * MINUTES), spent_on=spent_on, comments=comment)
        if activity:
            changed = replace(changed, activity_id=activity.id, activity=activity.name)
        changes: dict[str, object] = {"hours": hours, "spent_on": spent_on, "comments": comment}
        if changed.activity_id is not None:
            changes["activity_id"] = changed.activity_id
        try:
            await self._client.update_time_entry(
                session.key, entry.id, TimeEntryChanges.model_validate(changes)
            )
        except NotFound:
            await self._store.time_entries.forget(owner, entry.id)
            raise UserError(
                "That entry is no longer in {service}, so it can't be changed: log the time anew."
            ) from None
        try:
            await self._store.time_entries.change(owner, changed)
        except Exception:  # the entry is changed, so this isn't a failure
            log.exception("time entry not stored", action="time.not_remembered", entry=entry.id)
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
        try:
            await self._store.time_entries.announced(owner, entry.id, post)
        except Exception:  # the time is logged and posted: only the post can't be updated later
            log.exception("time entry not stored", action="time.post_not_remembered", entry=entry.id)

    async def _check_day(
        self, owner: Owner, day: date, hours: Decimal, agreed: int, *, before: Entry | None = None
    ) -> None:
        """Raises LongDay for more than 24 hours in a day, unless the user confirmed that many."""
        minutes = await self._store.time_entries.minutes(owner, day, day) + round(hours * MINUTES)
        if before and before.spent_on == day:
            minutes -= before.minutes
        if minutes > max(DAY, agreed):
            raise LongDay(day, minutes)

    async def _loggable(self, session: Session, number: int | None, wanted: str | None) -> Loggable:
        if number is not None:
            issue = await self._issues.one(session, number)
            if issue.project is None:
                raise UserError(f"{{service}} doesn't tell which project #{number} belongs to.")
            project = await self._project(session, issue.project.id)
        elif wanted is not None:
            issue = None
            project = await self._project(session, (await self._projects.find(session, wanted)).id)
        else:
            raise UserError("Say what you worked on: `/timelog 42 1h30`, or `project:` and its name.")
        hidden = await self._store.created_issues.refused_privacy()
        return Loggable(issue, project, await self._activities(session, project), number in hidden)

    async def _project(self, session: Session, project_id: int) -> Project:
        return await self._client.get_project(session.key, project_id, ACTIVITIES)

    async def _activities(self, session: Session, project: Project) -> tuple[Ref, ...]:
        known = project.time_entry_activities or await self._client.optional.time_entry_activities(
            session.key
        )
        latest = await self._store.time_entries.latest(session.owner, LATEST)
        # by name, as a project may have activities of its own under the same names
        used = {name: n for n, name in reversed(list(enumerate(entry.activity for entry in latest)))}
        return tuple(sorted(known or (), key=lambda ref: used.get(ref.name, LATEST)))

    async def _activity(self, session: Session, on: Loggable, typed: str | None) -> Ref | None:
        """The activity to log; None leaves it to the service. Raises UserError, ServiceError."""
        if typed is not None:
            return pick("activity", typed, on.activities)
        if len(on.activities) == 1:
            return on.activities[0]
        offered = await self._client.optional.time_entry_activities(session.key) if on.activities else None
        if offered and not any((ref.model_extra or {}).get("is_default") for ref in offered):
            raise ActivityNeeded(on)
        return None

    async def _own_entry(self, owner: Owner, entry_id: int | None) -> Entry:
        if entry_id is None:
            latest = await self._store.time_entries.latest(owner, 1)
            if not latest:
                raise UserError("You haven't logged time through me yet: `/timelog 42 1h30` does.")
            return latest[0]
        entry = await self._store.time_entries.get(owner, entry_id)
        if entry is None:
            raise UserError("That time was logged by somebody else, or not through me: it stays as it is.")
        return entry

    async def _spent_hours(self, session: Session, issue: Issue | None) -> Decimal | None:
        """The hours spent on an issue; None if the service doesn't report them."""
        if issue is None or issue.spent_hours is not None:
            return issue.spent_hours if issue else None
        detailed = await self._client.optional.get_issue(session.key, issue.id)
        if detailed is None:
            self._client.optional.note_missing("get_issue")
        return detailed.spent_hours if detailed else None

    async def _has_grown(
        self, session: Session, issue: Issue | None, before: Decimal | None, hours: Decimal
    ) -> bool:
        """Whether the issue's spent hours show that a write with no answer was made."""
        if issue is None or before is None:
            return False
        for wait in self._looks:
            await asyncio.sleep(wait)
            try:
                after = await self._spent_hours(session, await self._issues.one(session, issue.id))
            except (ServiceError, UserError):
                continue
            if after is not None and after > before and abs(after - before - hours) <= ROUNDING:
                return True
        return False


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
