"""The entries that a user logged with the bot: changing, deleting and adding them up.

The service need not list time entries, so the bot stores those that it creates.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

import structlog

from bot.errors import NotFound, OutcomeUnknown, Refused, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.lost_writes import looked_for
from bot.features.projects.projects import Projects
from bot.features.timelog.activities import Activities
from bot.service.client import Client
from bot.service.inputs import TimeEntryChanges
from bot.service.models import Ref
from bot.store.owner import Owner
from bot.store.time_entries import Entry, Post, TimeEntries

log = structlog.get_logger(__name__)

MINUTES = 60
DAY = 24 * MINUTES
DELETE = "delete_time_entry"


@dataclass(frozen=True, kw_only=True)
class TimeChange:
    """What is changed in an entry, None for what isn't; `agreed` is how many minutes on that day the user has
    confirmed.
    """

    hours: Decimal | None = None
    spent_on: date | None = None
    activity: Ref | None = None
    comment: str | None = None
    agreed: int = 0


@dataclass(frozen=True)
class Totals:
    """Minutes that a user logged with the bot, today and this week (from Monday)."""

    today: int
    week: int


class LongDay(UserError):
    """The user would have more than 24 hours on `day`, `minutes` in total, and has to confirm that.

    `spent` are the hours on the issue when it was asked, if known.
    """

    day: date
    minutes: int
    spent: Decimal | None = None


class NothingLoggedYet(UserError):
    """The user has no entry to edit."""


class NotOwnEntry(UserError):
    """The user has no such entry."""


class EntryGone(UserError):
    """The service no longer has the entry."""


class CantDeleteTime(UserError):
    """The service doesn't delete time entries."""


@dataclass(frozen=True)
class OwnEntries:
    """Changes and deletes time entries with the user's own key."""

    client: Client
    entries: TimeEntries
    accounts: Accounts
    projects: Projects
    activities: Activities
    looks: Sequence[float]

    async def one(self, owner: Owner, entry_id: int | None) -> Entry:
        """An entry of the user, their last one for None. Raises NothingLoggedYet, NotOwnEntry."""
        if entry_id is None:
            latest = await self.entries.latest(owner, 1)
            if not latest:
                raise NothingLoggedYet
            return latest[0]
        entry = await self.entries.get(owner, entry_id)
        if entry is None:
            raise NotOwnEntry
        return entry

    async def add(self, owner: Owner, entry: Entry) -> bool:
        """Store a new entry; returns whether that worked."""
        return await _stored(self.entries.add(owner, entry), entry)

    async def changeable(self, owner: Owner, entry_id: int | None) -> tuple[Entry, tuple[Ref, ...]]:
        """As `one`, with the activities that it can have."""
        async with self.accounts.reading(owner) as session:
            entry = await self.one(owner, entry_id)
            project = await self.projects.detailed(session, entry.project_id)
            found = await self.activities.of(session, project)
        if entry.activity_id is not None and entry.activity_id not in {ref.id for ref in found}:
            found = (Ref(id=entry.activity_id, name=entry.activity), *found)
        return entry, found

    async def change(self, owner: Owner, entry_id: int, wanted: TimeChange) -> Entry:
        """Change an entry. Raises NotOwnEntry, EntryGone, LongDay."""
        session = await self.accounts.writing(owner)
        entry = await self.one(owner, entry_id)
        sent: dict[str, object] = {}
        changed = entry
        if wanted.hours is not None:
            sent["hours"], changed = wanted.hours, replace(changed, minutes=round(wanted.hours * MINUTES))
        if wanted.spent_on is not None:
            sent["spent_on"], changed = wanted.spent_on, replace(changed, spent_on=wanted.spent_on)
        if wanted.comment is not None:
            sent["comments"], changed = wanted.comment, replace(changed, comments=wanted.comment)
        if wanted.activity:
            sent["activity_id"] = wanted.activity.id
            changed = replace(changed, activity_id=wanted.activity.id, activity=wanted.activity.name)
        if not sent:
            return entry
        if {"hours", "spent_on"} & sent.keys():
            spent = Decimal(changed.minutes) / MINUTES
            await self.check_day(owner, spent, changed.spent_on, wanted.agreed, before=entry)
        changes = TimeEntryChanges.model_validate(sent)
        try:
            await self.client.update_time_entry(session.key, entry.id, changes)
        except NotFound:
            await self.entries.forget(owner, entry.id)
            raise EntryGone from None
        await _stored(self.entries.change(owner, changed), entry)
        return changed

    async def delete(self, owner: Owner, entry: Entry) -> None:
        """Delete an entry, which may be gone already. Raises CantDeleteTime."""
        session = await self.accounts.writing(owner)
        if self.client.optional.is_missing(DELETE):
            raise CantDeleteTime
        try:
            await self.client.optional.delete_time_entry(session.key, entry.id)
        except NotFound:
            if await self._exists(session, entry):
                self.client.optional.note_missing(DELETE)
                raise CantDeleteTime from None
        except OutcomeUnknown:

            async def gone() -> bool:
                return not await self._exists(session, entry)

            if not await looked_for(gone, self.looks):
                raise
        await _stored(self.entries.forget(owner, entry.id), entry)

    async def totals(self, owner: Owner, today: date) -> Totals:
        """Minutes that the user logged with the bot; `today` is the date in their time zone."""
        monday = today - timedelta(days=today.weekday())
        day, week = await asyncio.gather(
            self.entries.minutes(owner, today, today),
            self.entries.minutes(owner, monday, monday + timedelta(days=6)),
        )
        return Totals(day, week)

    async def posted(self, owner: Owner, entry: Entry, post: Post) -> None:
        """Store where an entry was posted, so that an edit can update the post."""
        await _stored(self.entries.announced(owner, entry.id, post), entry, "time.post_not_remembered")

    async def check_day(
        self, owner: Owner, hours: Decimal, day: date, agreed: int, before: Entry | None = None
    ) -> None:
        """Raises LongDay for more than 24 hours in a day, unless the user agreed to that many minutes.

        `before` is the entry that the hours replace.
        """
        minutes = await self.entries.minutes(owner, day, day) + round(hours * MINUTES)
        if before and before.spent_on == day:
            minutes -= before.minutes
        if minutes > max(DAY, agreed):
            raise LongDay(day, minutes)

    async def _exists(self, session: Session, entry: Entry) -> bool:
        """Whether the service has the entry, by a change of nothing."""
        try:
            await self.client.update_time_entry(session.key, entry.id, TimeEntryChanges())
        except NotFound:
            return False
        except Refused:
            pass
        return True


async def _stored(storing: Awaitable[None], entry: Entry, action: str = "time.not_remembered") -> bool:
    """Whether the bot's record was stored. The service has the entry by now, so an error is only logged."""
    try:
        await storing
    except Exception:
        log.exception("time entry not stored", action=action, entry=entry.id)
        return False
    return True
