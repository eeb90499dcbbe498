"""The runs of digests: one for each digest and due time, held by one process at a time.

The database decides who runs what. A run is `claimed`, then `sending` from before its message goes out until
that is known to be posted; what its message covers is written down in the same step. When a process dies,
another one takes its runs over and sees how far each came, but not before `lease_until`: until then the
message of a run may still be on its way.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Update,
    and_,
    delete,
    exists,
    or_,
    select,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute

from bot.store.database import Database
from bot.store.digests import Covered, Digest, digest_of, history_kept, issues_covered
from bot.store.processes import Processes
from bot.store.tables import DigestIssueRow, DigestRow, DigestRunRow
from bot.store.upsert import insert

NOBODY = ""
_OF_A_RUN = (
    DigestRunRow.due_at,
    DigestRunRow.state,
    DigestRunRow.holder,
    DigestRunRow.missed,
    DigestRunRow.asked,
    DigestRunRow.attempts,
    DigestRunRow.sending_at,
    DigestRunRow.searched_to,
    DigestRunRow.covered_to.label("run_covered_to"),  # beside the digest's own
)


class RunState(StrEnum):
    """How far a run is. The first two are unfinished: such a run has a lease."""

    CLAIMED = "claimed"
    SENDING = "sending"
    SENT = "sent"
    EMPTY = "empty"
    """There was nothing new, so nothing was posted."""
    UNKNOWN = "unknown"
    """It may have been posted and nobody can tell; it isn't repeated."""
    DROPPED = "dropped"
    """Nothing was posted, and nothing is covered: the digest stands still, or could not be asked for."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One due time of a digest. `missed` is how many due times before it this run stands for, too; `asked`
    whether somebody asked for it between two due times. `sending_at` and `searched_to` are as in its table.
    """

    digest: Digest
    due_at: datetime
    state: RunState
    holder: str
    missed: int = 0
    asked: bool = False
    attempts: int = 0
    sending_at: datetime | None = None
    searched_to: str | None = None
    covered_to: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A due time to be claimed, and the one that comes after it."""

    digest: Digest
    due_at: datetime
    missed: int
    next_due: datetime | None


class DigestRuns:
    """What is due, claimed, sent and covered. Moments are the database's: replicas share no other clock."""

    def __init__(self, database: Database, processes: Processes) -> None:
        self._database = database
        self._processes = processes

    async def now(self) -> datetime:
        """What time it is for all processes."""
        return await self._processes.now()

    async def due(self, now: datetime, limit: int) -> tuple[Digest, ...]:
        """The digests of one owner that are due, the longest due first: the owner of the one that is due the
        longest. A digest whose last run isn't finished isn't among them.
        """
        due = and_(DigestRow.next_due <= now, DigestRow.paused.is_(None), ~_unfinished_of(DigestRow.id))
        in_order = select(DigestRow).where(due).order_by(DigestRow.next_due, DigestRow.id)

        def work(connection: Connection) -> tuple[Digest, ...]:
            first = connection.execute(in_order.limit(1)).one_or_none()
            if first is None:
                return ()
            rows = connection.execute(
                in_order.where(
                    DigestRow.enterprise_id == first.enterprise_id,
                    DigestRow.team_id == first.team_id,
                    DigestRow.user_id == first.user_id,
                ).limit(limit)
            )
            return tuple(digest_of(row) for row in rows)

        return await self._database.read(work)

    async def claim(self, claims: Sequence[Claim], lease_until: datetime) -> tuple[Run, ...]:
        """Takes due times; those that this caller got. Of several that claim one, one gets it.

        A claim with `next_due` None leaves the schedule as it is: for a run that somebody asked for.
        """

        def work(connection: Connection) -> tuple[Run, ...]:
            claimed = [self._claim(connection, claim, lease_until) for claim in claims]
            return tuple(run for run in claimed if run is not None)

        return await self._database.write(work)

    def _claim(self, connection: Connection, claim: Claim, lease_until: datetime) -> Run | None:
        scheduled = claim.next_due is not None
        still = DigestRow.next_due == claim.digest.next_due if scheduled else DigestRow.paused.is_(None)
        locked = select(DigestRow).where(DigestRow.id == claim.digest.id, still).with_for_update()
        row = connection.execute(locked).one_or_none()
        # A statement of its own: only after the row is locked does it see what others have claimed.
        if row is None or connection.scalar(select(_unfinished_of(row.id))):
            return None
        # As it is now: another run may have brought it forward since the caller read it.
        digest = digest_of(row)
        if scheduled:
            connection.execute(
                update(DigestRow).where(DigestRow.id == digest.id).values(next_due=claim.next_due)
            )
            digest = replace(digest, next_due=claim.next_due)
        statement = (
            insert(self._database.dialect, DigestRunRow)
            .values(
                digest_id=digest.id,
                due_at=claim.due_at,
                state=RunState.CLAIMED,
                holder=self._processes.name,
                lease_until=lease_until,
                attempts=0,
                missed=claim.missed,
                asked=not scheduled,
            )
            .on_conflict_do_nothing()
            .returning(DigestRunRow.digest_id)
        )
        if connection.scalar(statement) is None:
            return None
        return Run(
            digest=digest,
            due_at=claim.due_at,
            state=RunState.CLAIMED,
            holder=self._processes.name,
            missed=claim.missed,
            asked=not scheduled,
        )

    async def abandoned(self, now: datetime, limit: int, *, besides: Collection[int]) -> tuple[Run, ...]:
        """Unfinished runs that no living process holds, besides those of some digests, the longest due first.

        A run that this process holds and forgot, as when the database was away, is one of them.
        """
        statement = (
            select(DigestRow, *_OF_A_RUN)
            .join(DigestRunRow, DigestRow.id == DigestRunRow.digest_id)
            .where(self._unheld(now), DigestRunRow.digest_id.not_in(besides))
            .order_by(DigestRunRow.due_at, DigestRunRow.digest_id)
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: tuple(_run_of(row) for row in connection.execute(statement))
        )

    async def take(self, runs: Sequence[Run], now: datetime, lease_until: datetime) -> tuple[Run, ...]:
        """Takes abandoned runs over that are as they were seen; those that it got."""
        unheld = self._unheld(now)

        def work(connection: Connection) -> tuple[Run, ...]:
            taken = []
            for run in runs:
                statement = (
                    _update(run)
                    .where(DigestRunRow.state == run.state, unheld)
                    .values(holder=self._processes.name, lease_until=lease_until)
                    .returning(DigestRunRow.digest_id)
                )
                if connection.scalar(statement) is not None:
                    taken.append(replace(run, holder=self._processes.name))
            return tuple(taken)

        return await self._database.write(work)

    async def release(self, now: datetime) -> None:
        """Lets go of what this process has claimed and not begun to send."""
        statement = (
            update(DigestRunRow)
            .where(DigestRunRow.holder == self._processes.name, DigestRunRow.state == RunState.CLAIMED)
            .values(lease_until=now, holder=NOBODY)
        )
        await self._write(statement)

    async def begin_sending(
        self,
        run: Run,
        covered: Sequence[Covered],
        *,
        covered_to: datetime | None,
        sending_at: datetime,
        lease_until: datetime,
    ) -> bool:
        """Notes that the message goes out now, and what it covers.

        False when it must not: the run is another process's by now, or the digest was paused or removed.
        """
        begins = (
            _update(run)
            .where(
                DigestRunRow.state == RunState.CLAIMED,
                exists().where(DigestRow.id == DigestRunRow.digest_id, DigestRow.paused.is_(None)),
            )
            .values(
                state=RunState.SENDING,
                sending_at=sending_at,
                searched_to=None,
                lease_until=lease_until,
                covered_to=covered_to,
            )
            .returning(DigestRunRow.digest_id)
        )

        def work(connection: Connection) -> bool:
            if connection.scalar(begins) is None:
                return False
            if covered:
                rows = issues_covered(run.digest.id, run.due_at, covered)
                connection.execute(insert(self._database.dialect, DigestIssueRow), rows)
            return True

        return await self._database.write(work)

    async def unsend(self, run: Run) -> None:
        """Notes that the message was not posted: nothing is covered, and the run is as it was claimed."""
        sending = and_(
            DigestIssueRow.digest_id == run.digest.id,
            DigestIssueRow.due_at == run.due_at,
            exists().where(_is(run), DigestRunRow.state == RunState.SENDING),
        )

        def work(connection: Connection) -> None:
            connection.execute(delete(DigestIssueRow).where(sending))
            connection.execute(_update(run).values(state=RunState.CLAIMED, sending_at=None))

        await self._database.write(work)

    async def later(self, run: Run, until: datetime, searched_to: str | None = None) -> None:
        """Leaves the run, as far as it is, to whichever process comes first after that."""
        statement = _update(run).values(
            lease_until=until,
            holder=NOBODY,
            attempts=DigestRunRow.attempts + 1,
            searched_to=searched_to or run.searched_to,
        )
        await self._write(statement)

    async def drop(self, run: Run) -> None:
        """Ends a run of which nothing was posted."""
        await self._write(_update(run).values(state=RunState.DROPPED, lease_until=None))

    async def sent(self, run: Run) -> tuple[Covered, ...]:
        """What the run's message covers, in the order of opening."""
        statement = (
            select(DigestIssueRow)
            .where(DigestIssueRow.digest_id == run.digest.id, DigestIssueRow.due_at == run.due_at)
            .order_by(DigestIssueRow.created_on, DigestIssueRow.issue_id)
        )

        def work(connection: Connection) -> tuple[Covered, ...]:
            return tuple(Covered(row.issue_id, row.created_on) for row in connection.execute(statement))

        return await self._database.read(work)

    async def finish(
        self,
        run: Run,
        state: RunState,
        *,
        ts: str | None = None,
        covered_to: datetime | None,
        forget_before: datetime | None,
        period_from: datetime,
        history: Sequence[tuple[datetime, int]],
    ) -> bool:
        """Ends a run and brings its digest forward; False when it was another process's by then.

        Covered issues from before `forget_before` can't come up any more and are forgotten.
        """
        ended = _update(run).values(state=state, ts=ts, lease_until=None).returning(DigestRunRow.digest_id)
        forward = {"covered_to": covered_to, "period_from": period_from}
        plan = run.digest.plan
        as_planned = and_(DigestRow.schedule == plan.schedule, DigestRow.zone == plan.zone)

        def work(connection: Connection) -> bool:
            if connection.scalar(ended) is None:
                return False
            digest = update(DigestRow).where(DigestRow.id == run.digest.id)
            connection.execute(digest.values(**forward))
            # Where its schedule was changed meanwhile, its periods are others.
            connection.execute(digest.where(as_planned).values(history=history_kept(history)))
            if forget_before is not None:
                old = and_(
                    DigestIssueRow.digest_id == run.digest.id, DigestIssueRow.created_on < forget_before
                )
                connection.execute(delete(DigestIssueRow).where(old))
            return True

        return await self._database.write(work)

    async def covered(self, digests: Collection[int]) -> Mapping[int, frozenset[int]]:
        """The issues that these digests cover, by the digest's number."""
        statement = select(DigestIssueRow.digest_id, DigestIssueRow.issue_id).where(
            DigestIssueRow.digest_id.in_(digests)
        )
        found: dict[int, set[int]] = {digest: set() for digest in digests}
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        for digest_id, issue_id in rows:
            found[digest_id].add(issue_id)
        return {digest: frozenset(issues) for digest, issues in found.items()}

    async def fold(self, run: Run, later: Claim) -> Run:
        """Has a run that comes late stand for the due times too that passed meanwhile."""
        missed = run.missed + later.missed + 1
        counts = _update(run).values(missed=missed).returning(DigestRunRow.digest_id)
        moves = update(DigestRow).where(
            DigestRow.id == run.digest.id, DigestRow.next_due == run.digest.next_due
        )

        def work(connection: Connection) -> Run:
            if connection.scalar(counts) is None:  # another process's by now: its due times are, too
                return run
            connection.execute(moves.values(next_due=later.next_due))
            return replace(run, digest=replace(run.digest, next_due=later.next_due), missed=missed)

        return await self._database.write(work)

    async def realign(self, now: datetime, latest: datetime) -> None:
        """Ends leases that go on until after `latest`: they were given while the clock was wrong."""
        await self._write(
            update(DigestRunRow).where(DigestRunRow.lease_until > latest).values(lease_until=now)
        )

    async def prune(self, older_than: datetime) -> None:
        """Forgets finished runs of due times before then."""
        old = and_(DigestRunRow.due_at < older_than, DigestRunRow.lease_until.is_(None))
        await self._database.forget(DigestRunRow, old)

    def _unheld(self, now: datetime) -> ColumnElement[bool]:
        mine = (NOBODY, self._processes.name)
        dead = self._processes.dead(DigestRunRow.holder, now)
        return and_(DigestRunRow.lease_until <= now, or_(DigestRunRow.holder.in_(mine), dead))

    async def _write(self, statement: Update) -> None:
        await self._database.write(lambda connection: connection.execute(statement))


def _is(run: Run) -> ColumnElement[bool]:
    """The run, while the process that has it in hand holds it."""
    return and_(
        DigestRunRow.digest_id == run.digest.id,
        DigestRunRow.due_at == run.due_at,
        DigestRunRow.holder == run.holder,
        DigestRunRow.lease_until.is_not(None),
    )


def _update(run: Run) -> Update:
    return update(DigestRunRow).where(_is(run))


def _unfinished_of(digest_id: int | InstrumentedAttribute[int]) -> ColumnElement[bool]:
    return exists().where(DigestRunRow.digest_id == digest_id, DigestRunRow.lease_until.is_not(None))


def _run_of(row: Row[*tuple[Any, ...]]) -> Run:
    return Run(
        digest=digest_of(row),
        due_at=row.due_at,
        state=RunState(row.state),
        holder=row.holder,
        missed=row.missed,
        asked=row.asked,
        attempts=row.attempts,
        sending_at=row.sending_at,
        searched_to=row.searched_to,
        covered_to=row.run_covered_to,
    )
