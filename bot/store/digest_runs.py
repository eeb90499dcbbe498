"""The runs of digests: one for each digest and due time, held by one process at a time.

A run is `claimed`. It becomes `sending`, with the issues that its message covers, before the message is
posted, and ends when the post is confirmed. If a process crashes, another one takes over its runs once the
process counts as dead and `lease_until` has passed: until then a message may still be in flight.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Update, and_, delete, exists, select, update
from sqlalchemy.orm import InstrumentedAttribute

from bot.store.database import Database
from bot.store.digests import Covered, Digest, digest_of, issues_covered
from bot.store.owner import Owner
from bot.store.processes import NO_HOLDER, Processes
from bot.store.tables import DigestIssueRow, DigestRow, DigestRunRow

RUN_COLUMNS = {
    name: getattr(DigestRunRow, name).label(f"run_{name}")  # a digest has columns of the same names
    for name in (
        *("due_at", "holder", "missed", "asked", "attempts"),
        *("sending_at", "searched_to", "covered_to", "seen"),
    )
}


class RunState(StrEnum):
    """A run's progress. Runs in the first two states are unfinished and have a lease."""

    CLAIMED = "claimed"
    SENDING = "sending"
    SENT = "sent"
    EMPTY = "empty"  # nothing was posted, because there was nothing new
    UNKNOWN = "unknown"  # the message may have been posted; it isn't repeated
    DROPPED = "dropped"
    """Nothing was posted and no issue is covered, because the digest was paused or couldn't be read."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One due time of a digest.

    `missed` counts the earlier due times that this run includes. `asked`: a user requested the run, outside
    the schedule. `claimed_at` is by the monotonic clock. For the others see `DigestRunRow`.
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
    seen: Mapping[int, datetime] | None = None
    claimed_at: float = field(default_factory=time.monotonic, compare=False)

    @property
    def owner(self) -> Owner:
        return self.digest.owner

    @property
    def key(self) -> tuple[int, datetime]:
        return self.digest.id, self.due_at


@dataclass(frozen=True, kw_only=True)
class RunClaim:
    """A due time to claim, and the next one. `next_due` is None for a run that a user requested."""

    digest: Digest
    due_at: datetime
    missed: int
    next_due: datetime | None


class StoredRuns:
    """The runs of digests. All times are from the database's clock, which the replicas share."""

    def __init__(self, database: Database, processes: Processes) -> None:
        self.database = database
        self._processes = processes

    async def due(self, now: datetime, limit: int) -> tuple[Digest, ...]:
        """Return the due digests of one owner, whose digest is the longest overdue; that one comes first.

        Leaves out digests with an unfinished run.
        """
        due = and_(DigestRow.next_due <= now, DigestRow.paused.is_(None), ~_unfinished_of(DigestRow.id))
        in_order = select(DigestRow).where(due).order_by(DigestRow.next_due, DigestRow.id)

        def work(connection: Connection) -> tuple[Digest, ...]:
            first = connection.execute(in_order.limit(1)).one_or_none()
            if first is None:
                return ()
            rows = connection.execute(in_order.where(DigestRow.of(digest_of(first).owner)).limit(limit))
            return tuple(digest_of(row) for row in rows)

        return await self.database.read(work)

    async def claim(self, claims: Sequence[RunClaim], lease_until: datetime) -> tuple[Run, ...]:
        """Claim due times; returns the runs that this process won.

        A claim without `next_due` doesn't change the schedule.
        """

        def work(connection: Connection) -> tuple[Run, ...]:
            claimed = (self._claim_one(connection, claim, lease_until) for claim in claims)
            return tuple(filter(None, claimed))

        return await self.database.write(work)

    def _claim_one(self, connection: Connection, claim: RunClaim, lease_until: datetime) -> Run | None:
        scheduled = claim.next_due is not None
        still = DigestRow.next_due == claim.digest.next_due if scheduled else DigestRow.paused.is_(None)
        locked = select(DigestRow).where(DigestRow.id == claim.digest.id, still).with_for_update()
        row = connection.execute(locked).one_or_none()
        # A separate statement, to see claims of other processes from before the row was locked.
        if row is None or connection.scalar(select(_unfinished_of(row.id))):
            return None
        # Read again: another run may have advanced the digest since the caller read it.
        digest = digest_of(row)
        if scheduled:
            advanced = update(DigestRow).where(DigestRow.id == digest.id).values(next_due=claim.next_due)
            connection.execute(advanced)
            digest = replace(digest, next_due=claim.next_due)
        about: dict[str, Any] = {
            "due_at": claim.due_at,
            "state": RunState.CLAIMED,
            "holder": self._processes.name,
            "missed": claim.missed,
            "asked": not scheduled,
            "attempts": 0,
        }
        values = {"digest_id": digest.id, "lease_until": lease_until, **about}
        added = self.database.insert(DigestRunRow).values(values).on_conflict_do_nothing()
        won = connection.scalar(added.returning(DigestRunRow.digest_id)) is not None
        return Run(digest=digest, **about) if won else None

    async def abandoned(self, now: datetime, limit: int, *, excluding: Collection[int]) -> tuple[Run, ...]:
        """Return unfinished runs that no live process holds, the longest overdue first.

        Leaves out the digests in `excluding`. Includes runs that this process holds but lost track of, for
        example in a database outage.
        """
        statement = (
            select(DigestRow, DigestRunRow.state, *RUN_COLUMNS.values())
            .join(DigestRunRow, DigestRow.id == DigestRunRow.digest_id)
            .where(self._unheld(now), DigestRunRow.digest_id.not_in(excluding))
            .order_by(DigestRunRow.due_at, DigestRunRow.digest_id)
            .limit(limit)
        )
        return tuple(map(_run_of, await self.database.rows(statement)))

    async def take_over(self, runs: Sequence[Run], now: datetime, lease_until: datetime) -> tuple[Run, ...]:
        """Take over abandoned runs that haven't changed since they were read; returns those it won."""
        unheld, mine = self._unheld(now), {"holder": self._processes.name, "lease_until": lease_until}

        def work(connection: Connection) -> tuple[Run, ...]:
            taken = []
            for run in runs:
                its = _update(run).where(DigestRunRow.state == run.state, unheld)
                if _changes(connection, its.values(**mine)):
                    taken.append(replace(run, holder=self._processes.name))
            return tuple(taken)

        return await self.database.write(work)

    async def release(self, now: datetime) -> None:
        """Release the runs that this process has claimed but not begun to send."""
        mine = and_(DigestRunRow.holder == self._processes.name, DigestRunRow.state == RunState.CLAIMED)
        released = update(DigestRunRow).where(mine).values(lease_until=now, holder=NO_HOLDER)
        await self.database.execute(released)

    async def begin_sending(
        self,
        run: Run,
        covered: Sequence[Covered],
        *,
        covered_to: datetime | None,
        seen: Mapping[int, datetime] | None,
        sending_at: datetime,
        lease_until: datetime,
    ) -> bool:
        """Record that the message is about to be sent, and the issues it covers.

        Returns False if it must not be sent: another process took over the run, or the digest was paused or
        removed.
        """
        begins = (
            _update(run)
            .where(exists().where(DigestRow.id == DigestRunRow.digest_id, DigestRow.paused.is_(None)))
            .values(
                state=RunState.SENDING,
                sending_at=sending_at,
                searched_to=None,
                lease_until=lease_until,
                covered_to=covered_to,
                seen=seen,
            )
        )

        def work(connection: Connection) -> bool:
            if not _changes(connection, begins):
                return False
            if covered:  # one that was closed again replaces its earlier row
                rows = issues_covered(run.digest.id, run.due_at, covered)
                new = self.database.insert(DigestIssueRow)
                again = {"due_at": new.excluded.due_at, "created_on": new.excluded.created_on}
                connection.execute(
                    new.on_conflict_do_update(index_elements=["digest_id", "issue_id"], set_=again), rows
                )
            return True

        return await self.database.write(work)

    async def undo_sending(self, run: Run) -> None:
        """Record that the message wasn't posted: the run is claimed again and covers no issues."""
        sending = and_(
            DigestIssueRow.digest_id == run.digest.id,
            DigestIssueRow.due_at == run.due_at,
            exists().where(_is(run), DigestRunRow.state == RunState.SENDING),
        )

        def work(connection: Connection) -> None:
            connection.execute(delete(DigestIssueRow).where(sending))
            connection.execute(_update(run).values(state=RunState.CLAIMED, sending_at=None))

        await self.database.write(work)

    async def retry_later(self, run: Run, until: datetime, searched_to: str | None = None) -> None:
        """Release the run in its current state until `until`; then any process can take it over."""
        freed = {"lease_until": until, "holder": NO_HOLDER, "searched_to": searched_to or run.searched_to}
        await self.database.execute(_update(run).values(attempts=DigestRunRow.attempts + 1, **freed))

    async def drop(self, run: Run) -> None:
        await self.database.execute(_update(run).values(state=RunState.DROPPED, lease_until=None))

    async def sent(self, run: Run) -> tuple[Covered, ...]:
        """Return the issues that the run's message covers, oldest first."""
        its = and_(DigestIssueRow.digest_id == run.digest.id, DigestIssueRow.due_at == run.due_at)
        in_order = (DigestIssueRow.created_on, DigestIssueRow.issue_id)
        statement = select(DigestIssueRow).where(its).order_by(*in_order)
        return tuple(Covered(row.issue_id, row.created_on) for row in await self.database.rows(statement))

    async def finish(
        self,
        run: Run,
        state: RunState,
        *,
        ts: str | None = None,
        covered_to: datetime | None,
        seen: Mapping[int, datetime] | None,
        forget_before: datetime | None,
        period_from: datetime,
        history: Sequence[tuple[datetime, int]],
    ) -> bool:
        """Finish a run and advance its digest. Returns False if another process took over the run.

        Deletes covered issues created before `forget_before`, which can't appear again.
        """
        ended = _update(run).values(state=state, ts=ts, lease_until=None, seen=None)
        forward: dict[str, Any] = {"covered_to": covered_to, "period_from": period_from}
        if seen is not None:
            forward["seen"] = seen
        plan = run.digest.plan
        as_planned = and_(DigestRow.schedule == plan.schedule, DigestRow.zone == plan.zone)

        def work(connection: Connection) -> bool:
            if not _changes(connection, ended):
                return False
            digest = update(DigestRow).where(DigestRow.id == run.digest.id)
            connection.execute(digest.values(**forward))
            # If the schedule was changed meanwhile, its periods differ.
            connection.execute(digest.where(as_planned).values(history=history))
            if forget_before is not None:
                its = delete(DigestIssueRow).where(DigestIssueRow.digest_id == run.digest.id)
                connection.execute(its.where(DigestIssueRow.created_on < forget_before))
            return True

        return await self.database.write(work)

    async def covered(self, digests: Collection[int]) -> Mapping[int, Mapping[int, datetime]]:
        """Return the issues covered by these digests, and when each was opened or closed, by digest ID."""
        statement = select(DigestIssueRow).where(DigestIssueRow.digest_id.in_(digests))
        found: dict[int, dict[int, datetime]] = {digest: {} for digest in digests}
        for row in await self.database.rows(statement):
            found[row.digest_id][row.issue_id] = row.created_on
        return found

    async def merge_missed(self, run: Run, newer: RunClaim) -> Run:
        """Include the due times that have passed since the run was due; returns the updated run."""
        missed = run.missed + newer.missed + 1
        as_read = and_(DigestRow.id == run.digest.id, DigestRow.next_due == run.digest.next_due)

        def work(connection: Connection) -> Run:
            if not _changes(connection, _update(run).values(missed=missed)):  # another process took it over
                return run
            connection.execute(update(DigestRow).where(as_read).values(next_due=newer.next_due))
            return replace(run, digest=replace(run.digest, next_due=newer.next_due), missed=missed)

        return await self.database.write(work)

    async def realign(self, now: datetime, latest: datetime) -> None:
        await self.database.realign(DigestRunRow.lease_until, now, latest)

    async def prune(self, older_than: datetime) -> None:
        """Delete finished runs that were due before `older_than`."""
        old = and_(DigestRunRow.due_at < older_than, DigestRunRow.lease_until.is_(None))
        await self.database.delete_in_batches(DigestRunRow, old)

    def _unheld(self, now: datetime) -> ColumnElement[bool]:
        return self._processes.may_take(DigestRunRow.holder, DigestRunRow.lease_until, now)


def _is(run: Run) -> ColumnElement[bool]:
    """Match the run while its holder still holds it."""
    return and_(
        DigestRunRow.digest_id == run.digest.id,
        DigestRunRow.due_at == run.due_at,
        DigestRunRow.holder == run.holder,
        DigestRunRow.lease_until.is_not(None),
    )


def _update(run: Run) -> Update:
    return update(DigestRunRow).where(_is(run))


def _changes(connection: Connection, statement: Update) -> bool:
    return connection.scalar(statement.returning(DigestRunRow.digest_id)) is not None


def _unfinished_of(digest_id: int | InstrumentedAttribute[int]) -> ColumnElement[bool]:
    return exists().where(DigestRunRow.digest_id == digest_id, DigestRunRow.lease_until.is_not(None))


def _run_of(row: Row[Any]) -> Run:
    about = {name: getattr(row, column.name) for name, column in RUN_COLUMNS.items()}
    return Run(digest=digest_of(row), state=RunState(row.state), **about)
