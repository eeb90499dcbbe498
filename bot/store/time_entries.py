"""The time entries logged with the bot; the service may be unable to list them."""

from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, select, update

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import TimeEntryRow


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


@dataclass(frozen=True)
class Post:
    """The message that announced an entry; `ts` is None if Slack didn't confirm it, `thread_ts` outside of
    threads.
    """

    channel_id: str
    ts: str | None
    thread_ts: str | None


@dataclass(frozen=True, kw_only=True)
class Entry(Spent):
    id: int
    post: Post | None = None


_SPENT = [field.name for field in fields(Spent)]
"""The columns that have the names of the fields."""


@dataclass(frozen=True)
class TimeEntries:
    """The entries of all users; each is accessible to its owner only."""

    database: Database

    async def add(self, owner: Owner, entry: Entry) -> None:
        """Record a new entry, replacing an earlier one with this ID, which belonged to another service."""
        values = _columns(entry) | {
            **owner.columns,
            "created_at": datetime.now(UTC),
            "post_channel_id": None,
            "post_ts": None,
            "post_thread_ts": None,
        }
        identity = {"entry_id": entry.id}
        await self.database.execute(self.database.upsert(TimeEntryRow, identity, values))

    async def change(self, owner: Owner, entry: Entry) -> None:
        await self.database.execute(
            update(TimeEntryRow).where(_is(owner, entry.id)).values(**_columns(entry))
        )

    async def announced(self, owner: Owner, entry_id: int, post: Post) -> None:
        statement = (
            update(TimeEntryRow)
            .where(_is(owner, entry_id))
            .values(post_channel_id=post.channel_id, post_ts=post.ts, post_thread_ts=post.thread_ts)
        )
        await self.database.execute(statement)

    async def prune(self, older_than: datetime) -> None:
        """Delete the records of entries logged before `older_than`; the entries stay in the service."""
        await self.database.delete_in_batches(TimeEntryRow, TimeEntryRow.created_at < older_than)

    async def forget(self, owner: Owner, entry_id: int) -> None:
        await self.database.execute(delete(TimeEntryRow).where(_is(owner, entry_id)))

    async def get(self, owner: Owner, entry_id: int) -> Entry | None:
        row = await self.database.one(select(TimeEntryRow).where(_is(owner, entry_id)))
        return _entry(row) if row else None

    async def latest(self, owner: Owner, limit: int) -> tuple[Entry, ...]:
        statement = (
            select(TimeEntryRow)
            .where(TimeEntryRow.of(owner))
            .order_by(TimeEntryRow.created_at.desc(), TimeEntryRow.entry_id.desc())
            .limit(limit)
        )
        return tuple(map(_entry, await self.database.rows(statement)))

    async def last_in(self, owner: Owner, project_id: int) -> Entry | None:
        """Return the owner's latest entry in a project that has an activity, or None."""
        statement = (
            select(TimeEntryRow)
            .where(TimeEntryRow.of(owner), TimeEntryRow.project_id == project_id, TimeEntryRow.activity != "")
            .order_by(TimeEntryRow.created_at.desc(), TimeEntryRow.entry_id.desc())
            .limit(1)
        )
        row = await self.database.one(statement)
        return _entry(row) if row else None

    async def minutes(self, owner: Owner, since: date, until: date) -> int:
        """Return the minutes that the owner logged from `since` to `until`, inclusive."""
        statement = select(func.coalesce(func.sum(TimeEntryRow.minutes), 0)).where(
            TimeEntryRow.of(owner), TimeEntryRow.spent_on >= since, TimeEntryRow.spent_on <= until
        )
        return await self.database.read(lambda connection: int(connection.scalar(statement) or 0))


def _columns(entry: Entry) -> dict[str, object]:
    return {name: getattr(entry, name) for name in _SPENT}


def _entry(row: Row[Any]) -> Entry:
    channel = row.post_channel_id
    post = Post(channel, row.post_ts, row.post_thread_ts) if channel else None
    return Entry(id=row.entry_id, post=post, **{name: getattr(row, name) for name in _SPENT})


def _is(owner: Owner, entry_id: int) -> ColumnElement[bool]:
    return and_(TimeEntryRow.entry_id == entry_id, TimeEntryRow.of(owner))
