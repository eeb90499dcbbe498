"""The issues created with the bot, and the messages they were created from."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, and_, select

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import CreatedIssueRow

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

    async def is_older(self, issue_id: int, subject: str, than: datetime) -> bool:
        """Return whether the issue was created with the bot before `than`; compares the subject, too."""
        statement = select(CreatedIssueRow.subject, CreatedIssueRow.created_at).where(
            CreatedIssueRow.issue_id == issue_id
        )
        row = await self.database.one(statement)
        return row is not None and row.subject == subject and row.created_at < than

    async def refused_privacy(self) -> frozenset[int]:
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

    async def prune(self, older_than: datetime) -> None:
        """Delete the records of issues created before `older_than`; the issues stay in the service."""
        await self.database.delete_in_batches(CreatedIssueRow, CreatedIssueRow.created_at < older_than)

    async def _found(self, which: ColumnElement[bool], limit: int) -> tuple[CreatedIssue, ...]:
        statement = (
            select(CreatedIssueRow.issue_id, CreatedIssueRow.subject, CreatedIssueRow.created_at)
            .where(which)
            .order_by(CreatedIssueRow.created_at.desc(), CreatedIssueRow.issue_id.desc())
            .limit(limit)
        )
        rows = await self.database.rows(statement)
        return tuple(CreatedIssue(row.issue_id, row.subject, row.created_at) for row in rows)
