"""The linked users whose newly assigned issues are read in the service. Each has a job for that."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select

from bot.store.database import Database
from bot.store.job import Statement
from bot.store.jobs import Jobs
from bot.store.owner import Owner
from bot.store.tables import AssignmentMessagesOffRow

ASSIGNEE = "assignee"
"""The kind of job that reads what is assigned to a user; its content says up to when that is handled."""


@dataclass(frozen=True)
class Notices:
    database: Database
    jobs: Jobs

    async def wanted(self, owner: Owner) -> bool:
        """Whether the user didn't turn the messages off."""
        off = select(AssignmentMessagesOffRow.user_id).where(AssignmentMessagesOffRow.of(owner))
        return await self.database.one(off) is None

    async def turn_off(self, owner: Owner) -> None:
        off = self.database.insert(AssignmentMessagesOffRow).values(**owner.columns)
        await self.database.execute(off.on_conflict_do_nothing())

    async def turn_on(self, owner: Owner, since: datetime) -> None:
        """Handle what is assigned from then on."""
        on = delete(AssignmentMessagesOffRow).where(AssignmentMessagesOffRow.of(owner))
        starting = self.starting(owner, since)

        def work(connection: Connection) -> None:
            connection.execute(on)
            connection.execute(starting)

        await self.database.write(work)

    def starting(self, owner: Owner, since: datetime | None) -> Statement:
        """The statement that lets a user's issues be read, for what is assigned from then on, by the
        service's clock; None to start with what is read first.
        """
        content = {"since": since and since.isoformat()}
        return self.jobs.putting(ASSIGNEE, f"{ASSIGNEE}:{owner.name}", content)
