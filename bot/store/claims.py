"""Claims on work that must be done once, however often it is requested and by whichever process.

A claim's lease is its holder's heartbeat, by the database's clock (`store/processes.py`): a live process
keeps what it holds, however long the work takes. A dead process's claim can be taken; whether the work was
done is unknown then, as it is when a write wasn't answered, so look it up before you do it again.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

import structlog
from sqlalchemy import Connection, and_, delete, select, update

from bot.errors import OutcomeUnknown
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import ClaimRow

log = structlog.get_logger(__name__)


class State(StrEnum):
    HELD = "held"
    DONE = "done"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Claim:
    """The result of taking a claim.

    Not `won` means that another request does the work now, or has `done` it. `tried_at` is when an earlier
    attempt began that may have done the work: look it up before you do it again, as `tried_by`, whose attempt
    that was, if people share the work.
    """

    key: str
    won: bool
    done: bool = False
    tried_at: datetime | None = None
    tried_by: Owner | None = None


@dataclass(frozen=True)
class Claims:
    database: Database
    processes: Processes
    _in_use: Counter[str] = field(default_factory=Counter, init=False)
    """How many requests of this process hold a claim or are taking it; one that is stored but not in use was
    lost in a database error or a cancellation.
    """

    @asynccontextmanager
    async def hold(
        self,
        key: str,
        *,
        kept: timedelta | None = None,
        by: Owner | None = None,
        unknown: tuple[type[Exception], ...] = (),
    ) -> AsyncIterator[Claim]:
        """Take a claim for the block: done if that ends, free if it fails. The block checks whether it won.

        After a cancellation, OutcomeUnknown, or an error in `unknown` the next attempt looks first. `kept`
        and `by` are those of `take`.
        """
        claim, state = await self.take(key, kept, by=by), None
        outcome_unknown = (asyncio.CancelledError, OutcomeUnknown, *unknown)
        try:
            yield claim
            state = State.DONE
        except BaseException as error:
            state = State.UNKNOWN if isinstance(error, outcome_unknown) else None
            raise
        finally:
            await self.settle(claim, state)

    async def take(self, key: str, kept: timedelta | None = None, *, by: Owner | None = None) -> Claim:
        """Take a claim, and `settle` it later. What was done longer than `kept` ago may be done again.

        `by` is who asks for work that others may ask for, too.
        """
        self._in_use[key] += 1
        claim = None
        try:
            claim = await self.database.write(partial(self._take, key, kept, by))
        finally:
            if not (claim and claim.won):
                self._let_go(key)
        return claim

    async def settle(self, claim: Claim, state: State | None) -> None:
        """Record what became of the work: None frees the claim, unless an earlier attempt may have done it.

        Does nothing for a claim that wasn't won. Never fails, since the work is over.
        """
        if not claim.won:
            return
        if state is None and claim.tried_at:
            state = State.UNKNOWN
        mine = and_(ClaimRow.key == claim.key, ClaimRow.holder == self.processes.name)
        settled = update(ClaimRow).where(mine).values(state=state)
        if state is State.DONE:
            settled = settled.values(claimed_at=self.processes.clock.scalar_subquery())
        try:
            await self.database.execute(settled if state else delete(ClaimRow).where(mine))
        except Exception:
            log.exception("claim not settled", action="claim.not_settled")
        finally:
            self._let_go(claim.key)

    async def begin_anew(self, claim: Claim, by: Owner) -> None:
        """Record that this attempt is `by`'s, after a look at what `tried_by` did found nothing."""
        mine = and_(ClaimRow.key == claim.key, ClaimRow.holder == self.processes.name)
        now = self.processes.clock.scalar_subquery()
        await self.database.execute(update(ClaimRow).where(mine).values(by=by.name, claimed_at=now))

    async def pass_on(self, key: str, to: str) -> None:
        """Let `to` stand for the same work: it is done, or looked up first, if that is so for `key`."""
        row = await self.database.one(select(ClaimRow).where(ClaimRow.key == key))
        if row is None:
            return
        state = State.DONE if row.state == State.DONE else State.UNKNOWN
        passed = {"key": to, "state": state, "holder": row.holder, "claimed_at": row.claimed_at, "by": row.by}
        await self.database.execute(self.database.insert(ClaimRow).values(passed).on_conflict_do_nothing())

    async def claim_for(self, key: str, age: timedelta) -> bool:
        """Whether nobody has claimed this within `age`; True for one caller."""
        claim = await self.take(key, age)
        await self.settle(claim, State.DONE)
        return claim.won

    def _take(self, key: str, kept: timedelta | None, by: Owner | None, connection: Connection) -> Claim:
        now, me = connection.execute(self.processes.clock).scalar_one(), self.processes.name
        mine = {"state": State.HELD, "holder": me, "by": by and by.name}
        added = self.database.insert(ClaimRow).values(key=key, claimed_at=now, **mine)
        if connection.scalar(added.on_conflict_do_nothing().returning(ClaimRow.key)):
            return Claim(key, won=True)
        dead = self.processes.dead(ClaimRow.holder, now).label("dead")
        found = select(ClaimRow, dead).where(ClaimRow.key == key).with_for_update()
        row = connection.execute(found).one_or_none()
        if row is None:  # it was freed in the meantime
            return self._take(key, kept, by, connection)
        held = row.state == State.HELD
        if held and not (row.dead or (row.holder == me and self._in_use[key] == 1)):  # this request's own
            return Claim(key, won=False)
        # A time in the future is from before the clock was set back.
        lapsed = kept is not None and not now - kept < row.claimed_at < now + kept
        if not (held or lapsed) and (kept is not None or row.state == State.DONE):
            return Claim(key, won=False, done=True)
        tried_at = row.claimed_at if held or not lapsed else None
        tried_by = Owner.named(row.by) if tried_at and row.by else None
        if tried_by:
            mine["by"] = row.by
        taken = update(ClaimRow).where(ClaimRow.key == key).values(claimed_at=tried_at or now, **mine)
        connection.execute(taken)
        return Claim(key, won=True, tried_at=tried_at, tried_by=tried_by)

    def _let_go(self, key: str) -> None:
        self._in_use[key] -= 1
        if not self._in_use[key]:
            del self._in_use[key]
