"""The issues that threads and direct messages follow.

A follower's issues are read together, by one process at a time: the one that claimed the follower until its
lease ends. Every write to Slack renews that lease first. If the process crashes, another one takes over.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import NO_HOLDER, Processes
from bot.store.tables import FollowedIssueRow, FollowerRow, from_row

LINE = ("telling", "telling_at", "searched_to", "told", "quoting")


@dataclass(frozen=True)
class Follower:
    """A user who follows issues, claimed by this process.

    `covered_to`: by the service's clock, up to when changes of their issues are handled. `reads` counts how
    often they were read. `followed` is what they follow, once that is read.
    """

    owner: Owner
    covered_to: datetime | None
    reads: int
    followed: tuple["Followed", ...] = ()

    @property
    def key(self) -> Owner:
        return self.owner


@dataclass(frozen=True, kw_only=True)
class Followed:
    """A followed issue; see `FollowedIssueRow`."""

    owner: Owner
    issue_id: int
    channel_id: str
    thread_ts: str
    ts: str
    posted_by: str
    created: bool
    agreed_project: int | None = None
    seen_on: datetime | None = None
    shown: str = ""
    closed: bool = False
    id: int = 0
    telling: bool | None = None
    telling_at: datetime | None = None
    searched_to: str | None = None
    told: int = 0
    direct: bool = False
    quoted_to: int | None = None
    quoting: int | None = None
    changed_at: datetime | None = None


@dataclass(frozen=True)
class StoredFollowed:
    """The stored followers and what they follow. All times are from the database's clock."""

    database: Database
    processes: Processes

    async def add(self, followed: Followed) -> bool:
        """Follow an issue; returns False if the thread already follows it."""
        now = await self.processes.now()
        columns = {name: value for name, value in vars(followed).items() if name not in ("id", "owner")}
        owner = followed.owner.columns
        follower = (
            self.database.insert(FollowerRow)
            .values(**owner, next_at=now, holder=NO_HOLDER, reads=0)
            # An update, so that the row isn't pruned before this transaction ends.
            .on_conflict_do_update(index_elements=list(owner), set_={"next_at": FollowerRow.next_at})
        )
        issue = (
            self.database.insert(FollowedIssueRow)
            .values(**owner, **columns | {"changed_at": now})
            .on_conflict_do_nothing()
            .returning(FollowedIssueRow.id)
        )

        def work(connection: sa.Connection) -> bool:
            connection.execute(follower)
            return connection.scalar(issue) is not None

        return await self.database.write(work)

    async def in_thread(self, channel_id: str, thread_ts: str, issue_id: int) -> Followed | None:
        row = FollowedIssueRow
        there = sa.and_(row.channel_id == channel_id, row.thread_ts == thread_ts, row.issue_id == issue_id)
        return next(iter(await self._found(there)), None)

    async def of(self, owner: Owner, issue_id: int | None = None) -> tuple[Followed, ...]:
        """What a user follows, or only one issue."""
        about = FollowedIssueRow.issue_id == issue_id if issue_id is not None else sa.true()
        return await self._found(sa.and_(FollowedIssueRow.of(owner), about))

    async def count(self, owner: Owner) -> int:
        statement = sa.select(sa.func.count()).where(FollowedIssueRow.of(owner))
        return await self.database.read(lambda connection: connection.execute(statement).scalar_one())

    async def include_comments(self, followed: Followed, after: int | None) -> None:
        """Quote the comments after that journal, unless some are quoted already; with None, no more."""
        changed = sa.update(FollowedIssueRow).where(FollowedIssueRow.id == followed.id)
        if after is not None:
            changed = changed.where(FollowedIssueRow.quoted_to.is_(None))
        await self.database.execute(changed.values(quoted_to=after))

    async def end(self, followed: Collection[Followed]) -> None:
        ids = [one.id for one in followed]
        await self.database.execute(sa.delete(FollowedIssueRow).where(FollowedIssueRow.id.in_(ids)))

    async def claim(
        self,
        now: datetime,
        limit: int,
        *,
        lease_until: datetime,
        next_at: datetime,
        excluding: Collection[Owner],
    ) -> tuple[Follower, ...]:
        """Claim followers whose issues are due to be read, the longest overdue first.

        Leaves out those in `excluding`. They are due again at `next_at`, even if this process crashes.
        """
        key = sa.tuple_(*sa.inspect(FollowerRow).primary_key)
        others = key.not_in([tuple(owner.columns.values()) for owner in excluding])
        due = sa.and_(
            FollowerRow.next_at <= now, self._unheld(now), sa.exists().where(_of_follower()), others
        )
        mine = {"holder": self.processes.name, "lease_until": lease_until, "next_at": next_at}
        rows = await self.database.take(FollowerRow, due, limit, FollowerRow.next_at, **mine)
        return tuple(from_row(Follower, row, owner=Owner.of(row)) for row in rows)

    async def realign(self, now: datetime, *, lease_until: datetime, next_at: datetime) -> None:
        await self.database.realign(FollowerRow.lease_until, now, lease_until)
        await self.database.realign(FollowerRow.next_at, now, next_at)

    async def release(self, follower: Follower, covered_to: datetime | None) -> None:
        """Release a follower whose changes up to `covered_to` are handled."""
        read = {"covered_to": covered_to, "reads": FollowerRow.reads + 1}
        held = sa.update(FollowerRow).where(self._held(follower.owner))
        await self.database.execute(held.values(holder=NO_HOLDER, lease_until=None, **read))

    async def begin_writing(self, followed: Followed, lease_until: datetime) -> bool:
        """Renew the lease, and record the line that is about to be sent, if any.

        Returns False if this process lost the lease, the issue isn't followed anymore, or its comments aren't
        quoted anymore.
        """
        renews = sa.update(FollowerRow).where(self._held(followed.owner)).values(lease_until=lease_until)
        line = {name: getattr(followed, name) for name in LINE}
        tells = sa.update(FollowedIssueRow).where(FollowedIssueRow.id == followed.id).values(line)
        if followed.quoting is not None:
            tells = tells.where(FollowedIssueRow.quoted_to < followed.quoting)

        def work(connection: sa.Connection) -> bool:
            return all(connection.execute(each).rowcount for each in (renews, tells))

        return await self.database.write(work)

    async def record(self, followed: Followed, **values: object) -> None:
        """Record what the post shows and what the thread was told, unless this process lost its lease.

        `quoted_to` is recorded only where comments are still included, and never goes back.
        """
        held = sa.and_(FollowedIssueRow.id == followed.id, sa.exists().where(self._held(followed.owner)))
        if (to := values.get("quoted_to")) is not None:
            before = FollowedIssueRow.quoted_to
            values["quoted_to"] = sa.case((before < to, to), else_=before)
        await self.database.execute(sa.update(FollowedIssueRow).where(held).values(values))

    async def prune(self, older_than: datetime) -> None:
        """Delete the followers who follow nothing anymore."""
        idle = sa.and_(FollowerRow.next_at < older_than, ~sa.exists().where(_of_follower()))
        await self.database.delete_in_batches(FollowerRow, idle)

    def _held(self, owner: Owner) -> sa.ColumnElement[bool]:
        return sa.and_(FollowerRow.of(owner), FollowerRow.holder == self.processes.name)

    def _unheld(self, now: datetime) -> sa.ColumnElement[bool]:
        ended = self.processes.may_take(FollowerRow.holder, FollowerRow.lease_until, now)
        return sa.or_(FollowerRow.lease_until.is_(None), ended)

    async def _found(self, which: sa.ColumnElement[bool]) -> tuple[Followed, ...]:
        rows = await self.database.rows(
            sa.select(FollowedIssueRow).where(which).order_by(FollowedIssueRow.id)
        )
        return tuple(from_row(Followed, row, owner=Owner.of(row)) for row in rows)


def _of_follower() -> sa.ColumnElement[bool]:
    return sa.and_(
        FollowedIssueRow.enterprise_id == FollowerRow.enterprise_id,
        FollowedIssueRow.team_id == FollowerRow.team_id,
        FollowedIssueRow.user_id == FollowerRow.user_id,
    )
