"""Logs time on an issue or a project with the user's own key, and changes and deletes what they logged.

The service need not list time entries, so the bot stores those that it creates.
"""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import structlog

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.name_matching import pick
from bot.access.projects import DetailedProject
from bot.errors import NotFound, OutcomeUnknown, Refused, ServiceError, UserError
from bot.features.issues.fields import MINUTES_IN_HOUR
from bot.features.issues.issues import Issues
from bot.features.issues.publicity import Exposure
from bot.features.timelog.drafts import TimeDraft, TimeToLog
from bot.service.client import DELETE_TIME
from bot.service.conventions import poll_until_found
from bot.service.inputs import NewTimeEntry, TimeEntryChanges
from bot.service.models import Issue, Ref, TimeEntry
from bot.store.activity import Entry, Spent
from bot.store.owner import Owner
from bot.store.plans import EntryPost

log = structlog.get_logger(__name__)

DAY = 24 * MINUTES_IN_HOUR
ENTRIES_READ = 20  # how many of a user's latest entries decide which activities come first
ROUNDING = Decimal("0.011")
"""The most that two sums of hours can be off: the service rounds each to two places."""


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
    privacy_refused: bool = False  # whether the issue was to be private and the service ignored that
    read_at: float = field(default_factory=time.monotonic)

    @property
    def private(self) -> bool:
        return self.privacy_refused or (self.issue is not None and self.issue.is_private)

    @property
    def title(self) -> str:
        return self.issue.subject if self.issue else self.project.name

    @property
    def exposure(self) -> Exposure:
        """Its project is read before it is posted."""
        return Exposure(self.issue, self.project.id, issue_at=self.read_at)


class ActivityNeeded(UserError):
    """The service needs an activity, and none was given; `refused` is its own refusal, if it sent one."""

    says = "{service} needs an activity for this entry. Choose one, and I'll use it next time."
    on: Loggable
    refused: Refused | None = None


@dataclass(frozen=True)
class Logged:
    """Logged time. `spent` isn't an `Entry` if only the issue's total shows that it was logged: its number is
    unknown, so it can't be edited.
    """

    spent: Spent
    on: Loggable


@dataclass(frozen=True, kw_only=True)
class TimeChange:
    """The changes to an entry, None for unchanged fields; `confirmed_minutes` is how many minutes on that day
    the user has confirmed.
    """

    hours: Decimal | None = None
    spent_on: date | None = None
    activity: Ref | None = None
    comment: str | None = None
    confirmed_minutes: int = 0


class LongDay(UserError):
    """The user would have more than 24 hours on `day`, `minutes` in total, and has to confirm that.

    `spent` are the hours on the issue when it was asked, if known.
    """

    says = "That's more than 24 hours for one day."
    day: date
    minutes: int
    spent: Decimal | None = None


class Timelog:
    """Logs time with the user's own key, and changes and deletes what they logged with the bot."""

    def __init__(self, access: Access) -> None:
        self.access, self.issues, self._entries = access, access.shared(Issues), access.store.time_entries

    async def loggable(self, owner: Owner, draft: TimeDraft) -> Loggable | None:
        """The issue or project to log time on, None if none was given yet."""
        async with self.access.accounts.reading(owner) as session:
            return await self._on(session, draft) if draft.issue or draft.project else None

    async def target_of(self, owner: Owner, entry: Entry) -> Loggable:
        """The issue or project of an entry, as the user sees it now."""
        project = f"#{entry.project_id}"
        draft = TimeDraft(issue=entry.issue_id, project=project, activity=entry.activity)
        async with self.access.accounts.reading(owner) as session:
            return await self._on(session, draft)

    async def log(self, owner: Owner, time: TimeToLog, *, look: bool = False) -> Logged:
        """Log time once, and store the entry as this user's. With `look`, an earlier attempt may have.

        Raises ActivityNeeded and LongDay, and OutcomeUnknown only if the issue's spent hours don't show the
        time either.
        """
        async with self.access.accounts.reading(owner) as session:
            on = await self._on(session, time)
            time = time.with_dated_activity(on.activities).with_activity(on.activities)
            activity = await self._activity(session, on, time.activity)
            if look and _was_logged(on, time):
                return Logged(_spent(on, time, activity, None), on)
            so_far = on.issue.spent_hours if on.issue else None
            await self._check_day(owner, time.hours, time.spent_on, time.confirmed_minutes, spent=so_far)

        try:
            made = await self.access.client.create_time_entry(session.key, _new(on, time, activity))
        except Refused as error:
            if activity is None and on.activities:
                raise ActivityNeeded(on, error) from error
            raise
        except OutcomeUnknown:
            if not await self._has_grown(session, on.issue, time.hours):
                raise
            return Logged(_spent(on, time, activity, None), on)

        spent = _spent(on, time, activity, made)
        entry = Entry(id=made.id, **asdict(spent))
        stored = await _recorded(self._entries.add(owner, entry), entry)
        return Logged(entry if stored else spent, on)

    async def _on(self, session: Session, draft: TimeDraft) -> Loggable:
        issue = None
        if draft.issue is not None:
            issue, _ = await asyncio.gather(
                self.issues.detailed(session, draft.issue), self._prefetch_activities(session)
            )
            if issue.project is None:
                raise UserError(
                    "{service} doesn't say which project #{number} is in. Log the time in {service}.",
                    number=draft.issue,
                )
            project_id = issue.project.id
        elif draft.project is not None:
            project_id = (await self.access.projects.find(session, draft.project)).id
        else:
            raise UserError("Which issue is this for? Choose one, or type `{/timelog} 42 1h30`.")

        project = await self.access.projects.detailed(session, project_id)
        known = await self.activities(session, project)
        usual = known[0] if len(known) == 1 else None
        if usual is None and draft.activity is None:
            usual = await self._last_used(session, project, known)
        privacy_refused = await self.access.store.created_issues.privacy_refused()
        return Loggable(issue, project, known, usual, draft.issue in privacy_refused)

    async def _activity(self, session: Session, on: Loggable, typed: str | None) -> Ref | None:
        """The activity to log; None leaves it to the service."""
        if typed is not None:
            return pick("activity", typed, on.activities)
        if on.usual is None and on.activities:
            offered = await self.access.projects.activities(session)
            if offered and not any((ref.model_extra or {}).get("is_default") for ref in offered):
                raise ActivityNeeded(on)  # the service has no default
        return on.usual

    async def _prefetch_activities(self, session: Session) -> None:
        """Read the service's list beside something else; if that fails, it is read again where needed."""
        with suppress(ServiceError):
            await self.access.projects.activities(session)

    async def _last_used(
        self, session: Session, project: DetailedProject, known: Sequence[Ref]
    ) -> Ref | None:
        """The activity that the user last logged in the project, through the bot or else in the service."""
        name = None
        if entry := await self._entries.last_in(session.owner, project.id):
            name = entry.activity
        else:
            with suppress(ServiceError):
                latest = await self.access.client.optional.latest_time(session.key, project.id) or ()
                here = (one.activity for one in latest if one.project and one.project.id == project.id)
                name = next((activity.name for activity in here if activity), None)
        return next((ref for ref in known if ref.name == name), None)

    async def _has_grown(self, session: Session, issue: Issue | None, hours: Decimal) -> bool:
        """Whether the issue's spent hours show that a write without a response was made."""
        if issue is None or (before := issue.spent_hours) is None:
            return False
        number = issue.id

        async def grown() -> bool:
            after = (await self.issues.detailed(session, number)).spent_hours
            return after is not None and after > before and abs(after - before - hours) <= ROUNDING

        return bool(await poll_until_found(grown, self.access.delays.lookups))

    async def one(self, owner: Owner, entry_id: int | None) -> Entry:
        """An entry of the user, their last one for None. Raises UserError if there is none."""
        if entry_id is None:
            latest = await self._entries.latest(owner, 1)
            if not latest:
                raise UserError("You haven't logged any time yet. Try `{/timelog} 42 1h30`.")
            return latest[0]
        entry = await self._entries.get(owner, entry_id)
        if entry is None:
            raise UserError("I can't change this entry. You may have deleted it, or someone else logged it.")
        return entry

    async def changeable(self, owner: Owner, entry_id: int | None) -> tuple[Entry, tuple[Ref, ...]]:
        """Return the entry of `one`, with the activities that it can have."""
        async with self.access.accounts.reading(owner) as session:
            entry = await self.one(owner, entry_id)
            project = await self.access.projects.detailed(session, entry.project_id)
            activities = await self.activities(session, project)
        if entry.activity_id is not None and entry.activity_id not in {ref.id for ref in activities}:
            activities = (Ref(id=entry.activity_id, name=entry.activity), *activities)
        return entry, activities

    async def activities(self, session: Session, project: DetailedProject) -> tuple[Ref, ...]:
        """The project's activities, those that the user logged last in it first."""
        known = project.time_entry_activities or await self.access.projects.activities(session)
        latest = await self._entries.latest(session.owner, ENTRIES_READ)
        here_first = sorted(latest, key=lambda entry: entry.project_id != project.id)
        # by name, as a project may have activities of its own under the same names
        used = {name: n for n, name in reversed(list(enumerate(entry.activity for entry in here_first)))}
        return tuple(sorted(known, key=lambda ref: used.get(ref.name, ENTRIES_READ)))

    async def change(self, owner: Owner, entry_id: int, change: TimeChange) -> Entry:
        """Change an entry. Raises LongDay, and UserError if the entry is gone."""
        session = await self.access.accounts.writing(owner)
        entry = await self.one(owner, entry_id)
        given = {"spent_on": change.spent_on, "comments": change.comment}
        sent: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        changed = replace(entry, **sent)
        if change.hours is not None:
            sent["hours"] = change.hours
            changed = replace(changed, minutes=round(change.hours * MINUTES_IN_HOUR))
        if change.activity:
            sent["activity_id"] = change.activity.id
            changed = replace(changed, activity_id=change.activity.id, activity=change.activity.name)

        if not sent:
            return entry
        if {"hours", "spent_on"} & sent.keys():
            spent = Decimal(changed.minutes) / MINUTES_IN_HOUR
            await self._check_day(owner, spent, changed.spent_on, change.confirmed_minutes, before=entry)

        changes = TimeEntryChanges.model_validate(sent)
        try:
            await self.access.client.update_time_entry(session.key, entry.id, changes)
        except NotFound:
            await self._entries.forget(owner, entry.id)
            raise UserError(
                "This entry was deleted in {service}. Log the time again with `{/timelog}`."
            ) from None
        await _recorded(self._entries.change(owner, changed), entry)
        return changed

    async def delete(self, owner: Owner, entry: Entry) -> None:
        """Delete an entry, which may be gone already. Raises UserError if the service doesn't delete time."""
        session, optional = await self.access.accounts.writing(owner), self.access.client.optional
        can_delete, exists = not optional.is_missing(DELETE_TIME), partial(self._exists, session, entry)

        async def gone() -> bool:
            return not await exists()

        try:
            if can_delete:
                can_delete = await optional.delete_time_entry(session.key, entry.id, exists)
        except NotFound:
            pass
        except OutcomeUnknown:
            if not await poll_until_found(gone, self.access.delays.lookups):
                raise
        if not can_delete:
            raise UserError(
                "{service} doesn't let me delete time entries. "
                "Delete the entry in {service}, or edit it here."
            )
        await _recorded(self._entries.forget(owner, entry.id), entry)

    async def totals(self, owner: Owner, today: date) -> tuple[int, int]:
        """Minutes that the user logged with the bot: on `today`, their date, and this week, from Monday."""
        monday = today - timedelta(days=today.weekday())
        return await asyncio.gather(
            self._entries.minutes(owner, today, today),
            self._entries.minutes(owner, monday, monday + timedelta(days=6)),
        )

    async def posted(self, owner: Owner, entry: Entry, post: EntryPost) -> None:
        """Store where an entry was posted, so that an edit can update the post."""
        await _recorded(self._entries.announced(owner, entry.id, post), entry, "time.post_not_remembered")

    async def _check_day(
        self,
        owner: Owner,
        hours: Decimal,
        day: date,
        confirmed_minutes: int,
        *,
        before: Entry | None = None,
        spent: Decimal | None = None,
    ) -> None:
        """Raises LongDay for more than 24 hours in a day, unless the user confirmed that many minutes.

        `before` is the entry that the hours replace, `spent` as in `LongDay`.
        """
        minutes = await self._entries.minutes(owner, day, day) + round(hours * MINUTES_IN_HOUR)
        if before and before.spent_on == day:
            minutes -= before.minutes
        if minutes > max(DAY, confirmed_minutes):
            raise LongDay(day, minutes, spent)

    async def _exists(self, session: Session, entry: Entry) -> bool:
        """Whether the service has the entry, by a change of nothing."""
        try:
            await self.access.client.update_time_entry(session.key, entry.id, TimeEntryChanges())
        except NotFound:
            return False
        except Refused:
            pass
        return True


async def _recorded(storing: Awaitable[None], entry: Entry, action: str = "time.not_remembered") -> bool:
    """Whether the bot's record was stored. The service has the entry by now, so an error is only logged."""
    try:
        await storing
    except Exception:
        log.exception("time entry not stored", action=action, entry=entry.id)
        return False
    return True


def _was_logged(on: Loggable, time: TimeToLog) -> bool:
    """Whether the issue's spent hours show the time. Raises OutcomeUnknown if they don't tell."""
    now = on.issue.spent_hours if on.issue else None
    if now is not None and time.spent is not None:
        if abs(now - time.spent - time.hours) <= ROUNDING:
            return True
        if now == time.spent:
            return False
    raise OutcomeUnknown("POST", "/time_entries.json", None, "the process crashed")


def _new(on: Loggable, time: TimeToLog, activity: Ref | None) -> NewTimeEntry:
    fields: dict[str, object] = {"hours": time.hours, "spent_on": time.spent_on}
    fields |= {"issue_id": on.issue.id} if on.issue else {"project_id": on.project.id}
    fields |= {"activity_id": activity.id} if activity else {}
    fields |= {"comments": time.comment} if time.comment else {}
    return NewTimeEntry.model_validate(fields)


def _spent(on: Loggable, time: TimeToLog, activity: Ref | None, made: TimeEntry | None) -> Spent:
    """The time in whole minutes, as the service recorded it; as requested if its response leaves it out."""
    hours, spent_on = time.hours, time.spent_on
    if made is not None:
        hours = made.hours if made.hours is not None else hours
        activity, spent_on = made.activity or activity, made.spent_on or spent_on
    return Spent(
        project_id=on.project.id,
        issue_id=on.issue.id if on.issue else None,
        title=on.title,
        minutes=round(hours * MINUTES_IN_HOUR),
        activity_id=activity.id if activity else None,
        activity=activity.name if activity else "",
        spent_on=spent_on,
        comments=time.comment,
    )
