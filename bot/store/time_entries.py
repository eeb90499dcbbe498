"""The time entries logged with the bot, because the interface can't list them."""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, select, update

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import TimeEntryRow
from bot.store.upsert import insert


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
    """The message that announced an entry; `ts` is None if Slack didn't confirm it."""

    channel_id: str
    ts: str | None


@dataclass(frozen=True, kw_only=True)
class Entry(Spent):
    """Logged time with its ID in the service."""

    id: int
    post: Post | None = None


class TimeEntries:
    """The entries of all users; each is accessible to its owner only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, owner: Owner, entry: Entry) -> None:
        """Record a new entry, replacing an earlier one with this ID, which belonged to another service."""
        values = _columns(entry) | {
            "enterprise_id": owner.enterprise_id or "",
            "team_id": owner.team_id,
            "user_id": owner.user_id,
            "created_at": datetime.now(UTC),
            "post_channel_id": None,
            "post_ts": None,
        }
        statement = (
            insert(self._database.dialect, TimeEntryRow)
            .values(entry_id=entry.id, **values)
            .on_conflict_do_update(index_elements=["entry_id"], set_=values)
        )
        await self._database.write(lambda connection: connection.execute(statement))

    async def change(self, owner: Owner, entry: Entry) -> None:
        """Update an entry if it belongs to the owner."""
        statement = update(TimeEntryRow).where(_is(owner, entry.id)).values(**_columns(entry))
        await self._database.write(lambda connection: connection.execute(statement))

    async def announced(self, owner: Owner, entry_id: int, post: Post) -> None:
        """Record the message that announced an entry of the owner."""
        statement = (
            update(TimeEntryRow)
            .where(_is(owner, entry_id))
            .values(post_channel_id=post.channel_id, post_ts=post.ts)
        )
        await self._database.write(lambda connection: connection.execute(statement))

    async def prune(self, older_than: datetime) -> None:
        """Delete the records of entries logged before `older_than`; the entries stay in the service."""
        await self._database.delete_in_batches(TimeEntryRow, TimeEntryRow.created_at < older_than)

    async def forget(self, owner: Owner, entry_id: int) -> None:
        """Delete the record of an entry, if it belongs to the owner."""
        statement = delete(TimeEntryRow).where(_is(owner, entry_id))
        await self._database.write(lambda connection: connection.execute(statement))

    async def get(self, owner: Owner, entry_id: int) -> Entry | None:
        """Return the entry if it belongs to the owner, otherwise None."""
        statement = select(TimeEntryRow).where(_is(owner, entry_id))
        row = await self._database.read(lambda connection: connection.execute(statement).one_or_none())
        return _entry(row) if row else None

    async def latest(self, owner: Owner, limit: int) -> tuple[Entry, ...]:
        """Return the owner's entries, latest first."""
        statement = (
            select(TimeEntryRow)
            .where(_of(owner))
            .order_by(TimeEntryRow.created_at.desc(), TimeEntryRow.entry_id.desc())
            .limit(limit)
        )

        def work(connection: Connection) -> tuple[Entry, ...]:
            return tuple(_entry(row) for row in connection.execute(statement))

        return await self._database.read(work)

    async def minutes(self, owner: Owner, since: date, until: date) -> int:
        """Return the minutes that the owner logged from `since` to `until`, inclusive."""
        statement = select(func.coalesce(func.sum(TimeEntryRow.minutes), 0)).where(
            _of(owner), TimeEntryRow.spent_on >= since, TimeEntryRow.spent_on <= until
        )
        return await self._database.read(lambda connection: int(connection.scalar(statement) or 0))


def _columns(entry: Entry) -> dict[str, object]:
    return {name: value for name, value in asdict(entry).items() if name not in ("id", "post")}


def _entry(row: Row[TimeEntryRow]) -> Entry:
    return Entry(
        id=row.entry_id,
        project_id=row.project_id,
        issue_id=row.issue_id,
        title=row.title,
        minutes=row.minutes,
        activity_id=row.activity_id,
        activity=row.activity,
        spent_on=row.spent_on,
        comments=row.comments,
        post=Post(row.post_channel_id, row.post_ts) if row.post_channel_id else None,
    )


def _of(owner: Owner) -> ColumnElement[bool]:
    return and_(
        TimeEntryRow.enterprise_id == (owner.enterprise_id or ""),
        TimeEntryRow.team_id == owner.team_id,
        TimeEntryRow.user_id == owner.user_id,
    )


def _is(owner: Owner, entry_id: int) -> ColumnElement[bool]:
    return and_(TimeEntryRow.entry_id == entry_id, _of(owner))
