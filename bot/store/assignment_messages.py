"""Which users are told about issues that someone assigns to them: all except those who turned it off."""

from sqlalchemy import delete, select

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.tables import AssignmentMessagesOffRow
from bot.store.upsert import insert


class AssignmentMessages:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def wanted(self, owner: Owner) -> bool:
        off = select(AssignmentMessagesOffRow.user_id).where(AssignmentMessagesOffRow.of(owner))
        return await self._database.one(off) is None

    async def turn(self, owner: Owner, *, on: bool) -> None:
        if on:
            await self._database.execute(
                delete(AssignmentMessagesOffRow).where(AssignmentMessagesOffRow.of(owner))
            )
        else:
            off = insert(self._database.dialect, AssignmentMessagesOffRow).values(**owner.columns)
            await self._database.execute(off.on_conflict_do_nothing())
