"""The linked users whose newly assigned issues are read in the service, in turns, spread over time.

Their turns are in the links' table, so that they end with the link. A turn has no lease: if its process
crashes, the next turn reads the same, and messages are sent once anyway.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, exists, func, select, update

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import AssignmentMessagesOffRow, LinkRow, Seen

OWNER = ("enterprise_id", "team_id", "user_id")
ROOM = 1.2  # how much faster than evenly turns may come, to catch up after a pause


@dataclass(frozen=True)
class Assignee:
    """A user whose turn it is. `since` is up to when all assignments are handled, by the service's clock,
    None if they haven't been read yet, and `seen` has the issues that were read since then, with their last
    updates.
    """

    owner: Owner
    since: datetime | None
    seen: Seen

    @property
    def key(self) -> Owner:
        return self.owner


@dataclass(frozen=True)
class Assignees:
    database: Database
    processes: Processes

    async def wanted(self, owner: Owner) -> bool:
        """Whether the user didn't turn the messages off."""
        off = select(AssignmentMessagesOffRow.user_id).where(AssignmentMessagesOffRow.of(owner))
        return await self.database.one(off) is None

    async def turn(self, owner: Owner, *, on: bool) -> None:
        turned_on = delete(AssignmentMessagesOffRow).where(AssignmentMessagesOffRow.of(owner))
        turned_off = self.database.insert(AssignmentMessagesOffRow).values(**owner.columns)
        await self.database.execute(turned_on if on else turned_off.on_conflict_do_nothing())

    async def restart(self, owner: Owner, since: datetime) -> None:
        """Handle only what is assigned from then on."""
        fresh = {"assigned_since": since, "assigned_seen": {}}
        await self.database.execute(update(LinkRow).where(LinkRow.of(owner)).values(fresh))

    async def realign(self, now: datetime, next_at: datetime) -> None:
        """Make due what was set to later than `next_at`: the clock was ahead then."""
        await self.database.realign(LinkRow.assigned_next_at, now, next_at)

    async def claim(
        self, now: datetime, most: int, *, every: timedelta, tick: timedelta
    ) -> tuple[Assignee, ...]:
        """Claim users whose turn it is, the longest overdue first; their next turn is `every` later.

        In each `tick`, all processes together get a share of all users, and each at most `most`.
        """
        due = and_(LinkRow.assigned_next_at <= now, _wanted())
        lately = and_(LinkRow.assigned_next_at > now + every - tick, LinkRow.assigned_next_at <= now + every)
        if not await self._count(due):
            return ()
        share = math.ceil(await self._count(_wanted()) * ROOM * (tick / every))
        limit = min(most, share - await self._count(lately))
        if limit <= 0:
            return ()
        taken = await self.database.take(
            LinkRow, due, limit, LinkRow.assigned_next_at, assigned_next_at=now + every
        )
        return tuple(Assignee(Owner.of(row), row.assigned_since, row.assigned_seen) for row in taken)

    async def release(self, assignee: Assignee, since: datetime, seen: Seen) -> None:
        """Record up to when a user's assignments are handled, unless they linked or turned it on again."""
        same = and_(LinkRow.of(assignee.owner), LinkRow.assigned_since.is_not_distinct_from(assignee.since))
        read = {"assigned_since": since, "assigned_seen": seen}
        await self.database.execute(update(LinkRow).where(same).values(read))

    async def _count(self, which: ColumnElement[bool]) -> int:
        statement = select(func.count()).select_from(LinkRow).where(which)
        return await self.database.read(lambda connection: connection.execute(statement).scalar_one())


def _wanted() -> ColumnElement[bool]:
    """Match the users who didn't turn the messages off."""
    same = (getattr(AssignmentMessagesOffRow, name) == getattr(LinkRow, name) for name in OWNER)
    return ~exists().where(*same)
