"""Which users are told about issues that someone assigns to them: all except those who turned it off."""

from dataclasses import dataclass

from sqlalchemy import delete, select

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import AssignmentMessagesOffRow


@dataclass(frozen=True)
class AssignmentMessages:
    database: Database

    async def wanted(self, owner: Owner) -> bool:
        off = select(AssignmentMessagesOffRow.user_id).where(AssignmentMessagesOffRow.of(owner))
        return await self.database.one(off) is None

    async def turn(self, owner: Owner, *, on: bool) -> None:
        if on:
            await self.database.execute(
                delete(AssignmentMessagesOffRow).where(AssignmentMessagesOffRow.of(owner))
            )
        else:
            off = self.database.insert(AssignmentMessagesOffRow).values(**owner.columns)
            await self.database.execute(off.on_conflict_do_nothing())
