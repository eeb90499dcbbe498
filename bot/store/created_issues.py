"""The issues that were created through the bot, and the messages that they were made from."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, and_, select

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import CreatedIssueRow
from bot.store.upsert import insert

SHOWN_OF_MESSAGE = 5


@dataclass(frozen=True)
class CreatedIssue:
    """An issue as it was created: the service's number, and its subject then."""

    issue_id: int
    subject: str
    created_at: datetime


class CreatedIssues:
    """What the bot remembers of issues that were created through it."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
        """Remembers an issue as created by `owner`, from a message where one is given.

        `privacy_refused` marks one that was meant to be private and isn't.

        An issue of that number from before (of another service) is forgotten.
        """
        values = {
            "enterprise_id": owner.enterprise_id or "",
            "team_id": owner.team_id,
            "user_id": owner.user_id,
            "subject": subject,
            "channel_id": channel_id,
            "message_ts": message_ts,
            "created_at": datetime.now(UTC),
            "privacy_refused": privacy_refused,
        }
        statement = (
            insert(self._database.dialect, CreatedIssueRow)
            .values(issue_id=issue_id, **values)
            .on_conflict_do_update(index_elements=["issue_id"], set_=values)
        )
        await self._database.write(lambda connection: connection.execute(statement))

    async def is_older(self, issue_id: int, subject: str, than: datetime) -> bool:
        """Whether it was created through the bot before then, in this service and not in an earlier one."""
        statement = select(CreatedIssueRow.subject, CreatedIssueRow.created_at).where(
            CreatedIssueRow.issue_id == issue_id
        )
        row = await self._database.read(lambda connection: connection.execute(statement).one_or_none())
        return row is not None and row.subject == subject and row.created_at < than

    async def refused_privacy(self) -> frozenset[int]:
        """The issues that were meant to be private and that the service made visible."""
        statement = select(CreatedIssueRow.issue_id).where(CreatedIssueRow.privacy_refused)
        return await self._database.read(lambda connection: frozenset(connection.scalars(statement)))

    async def latest(self, owner: Owner, limit: int) -> tuple[CreatedIssue, ...]:
        """The owner's own, the latest first."""
        mine = and_(
            CreatedIssueRow.enterprise_id == (owner.enterprise_id or ""),
            CreatedIssueRow.team_id == owner.team_id,
            CreatedIssueRow.user_id == owner.user_id,
        )
        return await self._found(mine, limit)

    async def of_message(self, team_id: str, channel_id: str, message_ts: str) -> tuple[CreatedIssue, ...]:
        """Those made from that message by anybody, the latest first: not everyone may see each of them."""
        there = and_(
            CreatedIssueRow.team_id == team_id,
            CreatedIssueRow.channel_id == channel_id,
            CreatedIssueRow.message_ts == message_ts,
        )
        return await self._found(there, SHOWN_OF_MESSAGE)

    async def prune(self, older_than: datetime) -> None:
        """Forgets what was made before then; in the service it stays."""
        await self._database.forget(CreatedIssueRow, CreatedIssueRow.created_at < older_than)

    async def _found(self, which: ColumnElement[bool], limit: int) -> tuple[CreatedIssue, ...]:
        statement = (
            select(CreatedIssueRow)
            .where(which)
            .order_by(CreatedIssueRow.created_at.desc(), CreatedIssueRow.issue_id.desc())
            .limit(limit)
        )

        def work(connection: Connection) -> tuple[CreatedIssue, ...]:
            rows = connection.execute(statement)
            return tuple(CreatedIssue(row.issue_id, row.subject, row.created_at) for row in rows)

        return await self._database.read(work)
