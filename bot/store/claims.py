"""Work that a request does once, however often and in whichever process it is requested.

A request claims the work's key, does the work, and settles the claim:

    free     claim                                → held
    held     settle(DONE)                         → done
             settle(UNKNOWN), or the bot stops    → unknown
             settle(None): the work failed        → free, or unknown as an earlier attempt left it
             its process crashes                  → held, until the next claim, which takes it over, or
                                                    unknown, once another process takes jobs
    unknown  claim                                → held; `tried_at` says to look for the work first
    done     claim                                → done: not won
             claim(repeats_after), and that is over → held; until then, unknown counts as done

A live process keeps what it holds, however long the work takes: its heartbeat is the lease, by the database's
clock (`store/processes.py`).
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property, partial
from typing import TypeVar

import structlog
from sqlalchemy import ColumnElement, Connection, Executable, Insert, and_, delete, select, update

from bot.errors import OutcomeUnknown
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import ClaimRow

log = structlog.get_logger(__name__)


class State(StrEnum):
    HELD = "held"
    DONE = "done"
    UNKNOWN = "unknown"  # nobody holds it; an earlier attempt may have done it


@dataclass(frozen=True)
class Claim:
    """`won` if this request holds the key now. If not, another one does the work, or has `done` it.

    `tried_at` is when an earlier attempt began whose outcome is unknown, by this machine's clock: look up
    what it did before you repeat it. If users share the work, `tried_by` made that attempt.
    """

    key: str
    won: bool
    done: bool = False
    tried_at: datetime | None = None
    tried_by: Owner | None = None


C = TypeVar("C", Claim, Claim | None)


@dataclass
class Claims:
    database: Database
    processes: Processes
    _in_use: Counter[str] = field(default_factory=Counter, init=False)
    """How many requests of this process hold a key or are claiming it; one that is stored but not in use was
    lost in a database error or a cancellation.
    """

    @asynccontextmanager
    async def hold(
        self,
        key: str,
        *,
        repeats_after: timedelta | None = None,
        by: Owner | None = None,
        unknown_after: tuple[type[Exception], ...] = (),
    ) -> AsyncIterator[Claim]:
        """Hold a key for the block: done if that ends, free if it fails. The block checks whether it won.

        The outcome is unknown after a cancellation, OutcomeUnknown, and the errors in `unknown_after`. The
        others are the arguments of `claim`.
        """
        claim, state = await self.claim(key, repeats_after, by=by), None
        outcome_unknown = (asyncio.CancelledError, OutcomeUnknown, *unknown_after)
        try:
            yield claim
            state = State.DONE
        except BaseException as error:
            state = State.UNKNOWN if isinstance(error, outcome_unknown) else None
            raise
        finally:
            await self.settle(claim, state)

    async def claim(
        self, key: str, repeats_after: timedelta | None = None, *, by: Owner | None = None
    ) -> Claim:
        """Claim a key, and `settle` it later. What was done longer than `repeats_after` ago is done again.

        `by` is who asks for work that others may ask for, too.
        """
        return await self._counted(key, partial(self._claim, key, repeats_after, by))

    async def claim_in(self, transaction: Callable[[Connection], bool], key: str) -> Claim | None:
        """Claim a key at the end of a transaction, if that returns True."""

        def work(connection: Connection) -> Claim | None:
            return self._claim(key, None, None, connection) if transaction(connection) else None

        return await self._counted(key, work)

    async def claim_once(self, key: str, within: timedelta) -> bool:
        """Whether nobody has claimed this `within` that time; True for one caller, which settles nothing."""
        claim = await self.claim(key, within)
        await self.settle(claim, State.DONE)
        return claim.won

    async def settle(self, claim: Claim, state: State | None) -> None:
        """Record what became of the work: None if it failed, so that the next request does it.

        Does nothing for a claim that wasn't won. Never fails, because the work is over.
        """
        if not claim.won:
            return
        if state is None and claim.tried_at:
            state = State.UNKNOWN
        settled = update(ClaimRow).where(self._held_here(claim.key)).values(state=state, holder=None)
        if state is State.DONE:
            settled = settled.values(at=self.processes.clock.scalar_subquery())
        freed = delete(ClaimRow).where(self._held_here(claim.key))
        try:
            await self.database.execute(settled if state else freed)
        except Exception:
            log.exception("claim not settled", action="job.not_settled")
        finally:
            self._let_go(claim.key)

    async def attempt_as(self, claim: Claim, by: Owner) -> None:
        """Record that this attempt is `by`'s, after a look at what `tried_by` did found nothing."""
        mine = update(ClaimRow).where(self._held_here(claim.key))
        await self.database.execute(mine.values(by=by.name, at=self.processes.clock.scalar_subquery()))

    async def pass_on(self, key: str, to: str) -> None:
        """Let `to` stand for the same work: it is done, or looked up first, if that is so for `key`."""
        if row := await self.database.one(select(ClaimRow).where(ClaimRow.key == key)):
            state = State.DONE if row.state == State.DONE else State.UNKNOWN
            passed = {"key": to, "state": state, "at": row.at, "by": row.by}
            added = self.database.insert(ClaimRow).values(passed)
            await self.database.execute(added.on_conflict_do_nothing())

    async def record_done(self, key: str) -> bool:
        """Record a key as done. Returns False if it exists."""
        return await self.database.changes(self._adding, key=key, state=State.DONE)

    def recording_done(self, key: str) -> Executable:
        """The statement that records a key as done, unless it exists."""
        return self._adding.values(key=key, state=State.DONE)

    def leaving_crashed(self, now: datetime) -> Executable:
        """The statement that makes unknown what crashed processes hold.

        Who takes a crashed process's job runs it in the same transaction: a moment later that process may
        look alive (`Processes.dead`), and its job would end as done by somebody else.
        """
        return _leaving(self.processes.dead(ClaimRow.holder, now))

    def leaving_own(self) -> Executable:
        """The statement that makes unknown what this process holds, because it stops."""
        return _leaving(ClaimRow.holder == self.processes.name)

    async def is_done(self, key: str) -> bool:
        done = select(ClaimRow.key).where(ClaimRow.key == key, ClaimRow.state == State.DONE)
        return await self.database.one(done) is not None

    @cached_property
    def _adding(self) -> Insert:
        """The statement that adds a row of the values it is run with, and returns its key if that is new."""
        added = self.database.insert(ClaimRow).values(at=self.processes.clock.scalar_subquery())
        return added.on_conflict_do_nothing().returning(ClaimRow.key)

    async def _counted(self, key: str, claiming: Callable[[Connection], C]) -> C:
        """Count a request that uses a key, if it won the claim."""
        self._in_use[key] += 1
        claim = None
        try:
            claim = await self.database.write(claiming)
        finally:
            if not (claim and claim.won):
                self._let_go(key)
        return claim

    def _let_go(self, key: str) -> None:
        self._in_use[key] -= 1
        if not self._in_use[key]:
            del self._in_use[key]

    def _claim(
        self, key: str, repeats_after: timedelta | None, by: Owner | None, connection: Connection
    ) -> Claim:
        holding = {"state": State.HELD, "holder": self.processes.name, "by": by and by.name}
        if connection.scalar(self._adding, {"key": key, **holding}):
            return Claim(key, won=True)

        now = connection.execute(self.processes.clock).scalar_one()
        crashed = self.processes.dead(ClaimRow.holder, now).label("crashed")
        statement = select(ClaimRow, crashed).where(ClaimRow.key == key).with_for_update()
        row = connection.execute(statement).one_or_none()
        if row is None:  # it was freed in the meantime
            return self._claim(key, repeats_after, by, connection)

        lost_here = row.holder == self.processes.name and self._in_use[key] == 1  # only this request uses it
        age, taking = now - row.at, update(ClaimRow).where(ClaimRow.key == key).values(holding)
        match _state_for_next(row.state, age, repeats_after, holder_lost=row.crashed or lost_here):
            case State.HELD:
                return Claim(key, won=False)
            case State.DONE:
                return Claim(key, won=False, done=True)
            case State.UNKNOWN:
                tried_by = Owner.named(row.by) if row.by else None
                connection.execute(taking.values(by=row.by or holding["by"]))
                return Claim(key, won=True, tried_at=datetime.now(UTC) - age, tried_by=tried_by)
            case _:
                connection.execute(taking.values(at=now))
                return Claim(key, won=True)

    def _held_here(self, key: str) -> ColumnElement[bool]:
        return and_(ClaimRow.key == key, ClaimRow.holder == self.processes.name)


def _leaving(held: ColumnElement[bool]) -> Executable:
    return update(ClaimRow).where(held).values(state=State.UNKNOWN, holder=None)


def _state_for_next(
    state: str, age: timedelta, repeats_after: timedelta | None, *, holder_lost: bool
) -> State | None:
    """The state of a stored key to the next request; None if it's free. `age` is that of `ClaimRow.at`."""
    if state == State.HELD:
        return State.UNKNOWN if holder_lost else State.HELD
    if repeats_after is None:
        return State.DONE if state == State.DONE else State.UNKNOWN
    return None if age >= repeats_after else State.DONE
