"""What users did with the bot: the issues they created, with the messages they came from, and the time they
logged, which the service may be unable to list.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial

from sqlalchemy import ColumnElement, and_, delete, func, select, update

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.plans import EntryPost
from bot.store.tables import CreatedIssueRow, TimeEntryRow, columns_of, from_row

MAX_FROM_MESSAGE = 5


@dataclass(frozen=True)
class CreatedIssue:
    """An issue created with the bot, with its original subject."""

    issue_id: int
    subject: str
    created_at: datetime


@dataclass(frozen=True)
class CreatedIssues:
    database: Database

    async def put(
        self,
        owner: Owner,
        issue_id: int,
        subject: str,
        channel_id: str | None = None,
        message_ts: str | None = None,
        *,
        privacy_refused: bool = False,
    ) -> None:
        """Record an issue created by `owner`, and the message it was created from, if any.

        `privacy_refused` marks an issue that should be private but isn't. Replaces an earlier issue with this
        number, which belonged to another service.
        """
        values = {
            **owner.columns,
            "subject": subject,
            "channel_id": channel_id,
            "message_ts": message_ts,
            "created_at": datetime.now(UTC),
            "privacy_refused": privacy_refused,
        }
        identity = {"issue_id": issue_id}
        await self.database.execute(self.database.upsert(CreatedIssueRow, identity, values))

    async def privacy_refused(self) -> frozenset[int]:
        statement = select(CreatedIssueRow.issue_id).where(CreatedIssueRow.privacy_refused)
        return await self.database.read(lambda connection: frozenset(connection.scalars(statement)))

    async def latest(self, owner: Owner, limit: int) -> tuple[CreatedIssue, ...]:
        return await self._found(CreatedIssueRow.of(owner), limit)

    async def from_message(self, team_id: str, channel_id: str, message_ts: str) -> tuple[CreatedIssue, ...]:
        """Return everyone's issues from a message, latest first. The reader may not have access to all."""
        there = and_(
            CreatedIssueRow.team_id == team_id,
            CreatedIssueRow.channel_id == channel_id,
            CreatedIssueRow.message_ts == message_ts,
        )
        return await self._found(there, MAX_FROM_MESSAGE)

    async def _found(self, which: ColumnElement[bool], limit: int) -> tuple[CreatedIssue, ...]:
        latest = (CreatedIssueRow.created_at.desc(), CreatedIssueRow.issue_id.desc())
        statement = select(CreatedIssueRow).where(which).order_by(*latest).limit(limit)
        return tuple(map(partial(from_row, CreatedIssue), await self.database.rows(statement)))


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Time on an issue, or on a project if `issue_id` is None; `title` is the subject or name."""

    project_id: int
    issue_id: int | None
    title: str
    minutes: int
    activity_id: int | None
    activity: str
    spent_on: date
    comments: str


@dataclass(frozen=True, kw_only=True)
class Entry(Spent):
    id: int
    post: EntryPost | None = None


@dataclass(frozen=True)
class TimeEntries:
    """The entries of all users; each is accessible to its owner only."""

    database: Database

    async def add(self, owner: Owner, entry: Entry) -> None:
        """Record a new entry, replacing an earlier one with this ID, which belonged to another service."""
        values = {**columns_of(entry, "id"), **owner.columns, "created_at": datetime.now(UTC)}
        await self.database.execute(self.database.upsert(TimeEntryRow, {"id": entry.id}, values))

    async def change(self, owner: Owner, entry: Entry) -> None:
        await self._set(owner, entry.id, **columns_of(entry, "id", "post"))

    async def announced(self, owner: Owner, entry_id: int, post: EntryPost) -> None:
        await self._set(owner, entry_id, post=post)

    async def _set(self, owner: Owner, entry_id: int, **values: object) -> None:
        await self.database.execute(update(TimeEntryRow).where(_is(owner, entry_id)).values(**values))

    async def forget(self, owner: Owner, entry_id: int) -> None:
        await self.database.execute(delete(TimeEntryRow).where(_is(owner, entry_id)))

    async def get(self, owner: Owner, entry_id: int) -> Entry | None:
        row = await self.database.one(select(TimeEntryRow).where(_is(owner, entry_id)))
        return from_row(Entry, row) if row else None

    async def latest(self, owner: Owner, limit: int, *which: ColumnElement[bool]) -> tuple[Entry, ...]:
        latest = (TimeEntryRow.created_at.desc(), TimeEntryRow.id.desc())
        its = (TimeEntryRow.of(owner), *which)
        statement = select(TimeEntryRow).where(*its).order_by(*latest).limit(limit)
        return tuple(map(partial(from_row, Entry), await self.database.rows(statement)))

    async def last_in(self, owner: Owner, project_id: int) -> Entry | None:
        """Return the owner's latest entry in a project that has an activity, or None."""
        there = (TimeEntryRow.project_id == project_id, TimeEntryRow.activity != "")
        return next(iter(await self.latest(owner, 1, *there)), None)

    async def last_on(self, owner: Owner, issue_id: int) -> Entry | None:
        """Return the owner's latest entry on an issue, or None."""
        return next(iter(await self.latest(owner, 1, TimeEntryRow.issue_id == issue_id)), None)

    async def within(self, owner: Owner, since: date, until: date, limit: int) -> tuple[Entry, ...]:
        """Return the owner's latest entries from `since` to `until`, inclusive."""
        days = (TimeEntryRow.spent_on >= since, TimeEntryRow.spent_on <= until)
        return await self.latest(owner, limit, *days)

    async def minutes(self, owner: Owner, since: date, until: date) -> int:
        """Return the minutes that the owner logged from `since` to `until`, inclusive."""
        statement = select(func.coalesce(func.sum(TimeEntryRow.minutes), 0)).where(
            TimeEntryRow.of(owner), TimeEntryRow.spent_on >= since, TimeEntryRow.spent_on <= until
        )
        return await self.database.read(lambda connection: int(connection.scalar(statement) or 0))


def _is(owner: Owner, entry_id: int) -> ColumnElement[bool]:
    return and_(TimeEntryRow.id == entry_id, TimeEntryRow.of(owner))
