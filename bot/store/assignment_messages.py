"""The messages about assigned issues that are to be sent, and the users who turned them off."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, or_, select, update

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import NO_HOLDER, Processes
from bot.store.tables import AssignmentMessageRow, AssignmentMessagesOffRow

BATCH = 50


@dataclass(frozen=True)
class AssignmentMessage:
    """What `to` is to be told: that `by` assigned the issue to them; None for somebody in the service."""

    to: Owner
    by: Owner | None
    issue: int


@dataclass(frozen=True)
class AssignmentMessages:
    database: Database
    processes: Processes

    async def put(self, message: AssignmentMessage) -> None:
        """Store a message that this process is sending; another one sends it if this process stops."""
        now = self.processes.clock.scalar_subquery()
        identity = {**message.to.columns, "issue_id": message.issue}
        values = {"holder": self.processes.name, "created_at": now}
        if message.by:
            values["by"] = message.by.user_id
            await self.database.execute(self.database.upsert(AssignmentMessageRow, identity, values))
        else:  # one that the bot was asked for is stored already
            added = self.database.insert(AssignmentMessageRow).values(**identity, **values, by="")
            await self.database.execute(added.on_conflict_do_nothing())

    async def sent(self, message: AssignmentMessage) -> None:
        await self.database.execute(delete(AssignmentMessageRow).where(_is(message)))

    async def retry(self, message: AssignmentMessage) -> None:
        """Let any process send the message later."""
        freed = update(AssignmentMessageRow).where(_is(message)).values(holder=NO_HOLDER)
        await self.database.execute(freed)

    async def take_unsent(self) -> Sequence[AssignmentMessage]:
        """Take over the messages that no live process is sending; only one caller gets each."""
        holder, now = AssignmentMessageRow.holder, await self.processes.now()
        unheld = or_(holder == NO_HOLDER, self.processes.dead(holder, now))
        mine = {"holder": self.processes.name}
        return [
            _message(row) for row in await self.database.take(AssignmentMessageRow, unheld, BATCH, **mine)
        ]

    async def wanted(self, owner: Owner) -> bool:
        off = select(AssignmentMessagesOffRow.user_id).where(AssignmentMessagesOffRow.of(owner))
        return await self.database.one(off) is None

    async def turn(self, owner: Owner, *, on: bool) -> None:
        turned_on = delete(AssignmentMessagesOffRow).where(AssignmentMessagesOffRow.of(owner))
        turned_off = self.database.insert(AssignmentMessagesOffRow).values(**owner.columns)
        await self.database.execute(turned_on if on else turned_off.on_conflict_do_nothing())


def _is(message: AssignmentMessage) -> ColumnElement[bool]:
    return and_(AssignmentMessageRow.of(message.to), AssignmentMessageRow.issue_id == message.issue)


def _message(row: Row[Any]) -> AssignmentMessage:
    to = Owner.of(row)
    return AssignmentMessage(to, replace(to, user_id=row.by) if row.by else None, row.issue_id)
