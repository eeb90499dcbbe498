"""Work that is done once and never lost, however often it is asked for and by whichever process.

A job is a row; its key says which work it is. A person's request holds it (`hold`) while it does the work.
What any process may do later is `put`, and the worker takes it. The lease of a job is its holder's
heartbeat, by the database's clock (`store/processes.py`): a live process keeps what it holds, however long
the work takes. A dead process's job can be taken; what it held for a request, or was about to send (`keep`),
may have been done, as after a write that wasn't answered: look it up before it is done again.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any

import structlog
from pydantic import SecretStr
from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Row,
    and_,
    case,
    delete,
    func,
    not_,
    or_,
    select,
    update,
)

from bot.errors import OutcomeUnknown, StoredSecretError
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import JobRow
from bot.store.vault import Vault

RETENTION = timedelta(days=1)
"""How long what was done is remembered: Slack repeats deliveries for minutes, not hours."""
FURTHEST = timedelta(days=1)  # how far a job may be put off
LAST_ARRIVES = timedelta(seconds=5)  # until a request arrives that a process cut off when it stopped
LONGEST_RETRY = 1800.0  # seconds between two attempts of a job that fails

log = structlog.get_logger(__name__)


class State(StrEnum):
    DUE = "due"
    HELD = "held"
    DONE = "done"
    UNKNOWN = "unknown"  # free, and may be done


@dataclass(frozen=True)
class Job:
    """A job that was asked for; `won` if this process holds it now.

    Not `won` means that another request does the work now, or has `done` it. `tried_at` is when an earlier
    attempt began that may have done the work: look it up before you do it again, as `tried_by`, whose attempt
    that was, if people share the work. `searched_to` is where an unfinished look-up goes on.

    The worker's jobs have what was put: how long ago, and its content, None if no key decrypts it. `attempts`
    counts how often a job was taken.
    """

    key: str
    won: bool
    done: bool = False
    tried_at: datetime | None = None
    tried_by: Owner | None = None
    searched_to: str | None = None
    age: timedelta = timedelta(0)
    content: Any = None
    attempts: int = 0

    def later(self, least: float, *, unknown: bool = False) -> "Later":
        """Try again after at least that many seconds, and the longer, the older the job is."""
        return Later(max(least, min(self.age.total_seconds() / 4, LONGEST_RETRY)), unknown=unknown)


@dataclass(frozen=True)
class Later:
    """A job is done later, after `seconds`. `unknown`: this attempt or an earlier one may have done it."""

    seconds: float
    unknown: bool = False
    searched_to: str | None = None


@dataclass(frozen=True)
class Jobs:
    """`on_put` is called after a job was put that is due now."""

    database: Database
    vault: Vault
    processes: Processes
    on_put: list[Callable[[], object]] = field(default_factory=list)
    _in_use: Counter[str] = field(default_factory=Counter, init=False)
    """How many requests of this process hold a job or are claiming it; one that is stored but not in use was
    lost in a database error or a cancellation.
    """

    # What a person's request does

    @asynccontextmanager
    async def hold(
        self,
        key: str,
        *,
        kept: timedelta | None = None,
        by: Owner | None = None,
        unknown: tuple[type[Exception], ...] = (),
    ) -> AsyncIterator[Job]:
        """Hold a job for the block: done if that ends, free if it fails. The block checks whether it won.

        After a cancellation, OutcomeUnknown, or an error in `unknown` the next attempt looks first. `kept`
        and `by` are those of `claim`.
        """
        job, state = await self.claim(key, kept, by=by), None
        outcome_unknown = (asyncio.CancelledError, OutcomeUnknown, *unknown)
        try:
            yield job
            state = State.DONE
        except BaseException as error:
            state = State.UNKNOWN if isinstance(error, outcome_unknown) else None
            raise
        finally:
            await self.settle(job, state)

    async def claim(self, key: str, kept: timedelta | None = None, *, by: Owner | None = None) -> Job:
        """Hold a job, and `settle` it later. What was done longer than `kept` ago may be done again.

        `by` is who asks for work that others may ask for, too.
        """
        self._in_use[key] += 1
        job = None
        try:
            job = await self.database.write(partial(self._claim, key, kept, by))
        finally:
            if not (job and job.won):
                self._let_go(key)
        return job

    async def settle(self, job: Job, state: State | None) -> None:
        """Record what became of the work: None frees the job, unless an earlier attempt may have done it.

        Does nothing for a job that wasn't won. Never fails, since the work is over.
        """
        if not job.won:
            return
        if state is None and job.tried_at:
            state = State.UNKNOWN
        settled = update(JobRow).where(self._mine(job.key)).values(state=state, holder=None)
        if state is State.DONE:
            settled = settled.values(at=self.processes.clock.scalar_subquery())
        try:
            await self.database.execute(settled if state else delete(JobRow).where(self._mine(job.key)))
        except Exception:
            log.exception("job not settled", action="job.not_settled")
        finally:
            self._let_go(job.key)

    async def begin_anew(self, job: Job, by: Owner) -> None:
        """Record that this attempt is `by`'s, after a look at what `tried_by` did found nothing."""
        now = self.processes.clock.scalar_subquery()
        await self.database.execute(update(JobRow).where(self._mine(job.key)).values(by=by.name, at=now))

    async def pass_on(self, key: str, to: str) -> None:
        """Let `to` stand for the same work: it is done, or looked up first, if that is so for `key`."""
        row = await self.database.one(select(JobRow).where(JobRow.key == key))
        if row is None:
            return
        state = State.DONE if row.state == State.DONE else State.UNKNOWN
        passed = {"key": to, "state": state, "at": row.at, "by": row.by}
        await self.database.execute(self.database.insert(JobRow).values(passed).on_conflict_do_nothing())

    async def claim_for(self, key: str, age: timedelta) -> bool:
        """Whether nobody has claimed this within `age`; True for one caller."""
        job = await self.claim(key, age)
        await self.settle(job, State.DONE)
        return job.won

    # What the worker does

    async def put(self, kind: str, key: str, content: object) -> None:
        """Let any process do a job of this kind now. One that is held is done again afterwards.

        `content` is anything that JSON can hold. It is encrypted, and replaces what was put before, except in
        a job that may have been done: there the content says what that attempt did.
        """
        await self.database.execute(self.putting(kind, key, content))
        for call in self.on_put:
            call()

    def putting(self, kind: str, key: str, content: object) -> Executable:
        """The statement that puts a job, for a transaction; the worker takes it at the next interval."""
        now, sealed = self.processes.clock.scalar_subquery(), self._seal(key, content)
        fresh = {"kind": kind, "at": now, "due_at": now, "encrypted": sealed}
        changed = {
            **fresh,
            "state": case((JobRow.state == State.DONE, State.DUE), else_=JobRow.state),
            "encrypted": case((JobRow.tried_at.is_(None), sealed), else_=JobRow.encrypted),
        }
        added = self.database.insert(JobRow).values(key=key, state=State.DUE, **fresh)
        return added.on_conflict_do_update(index_elements=[JobRow.key], set_=changed)

    async def put_held(self, kind: str, key: str, content: object) -> bool:
        """Do a job in this process, unless somebody has put it before; if this process dies, the worker of
        another one gets it. Returns whether it is this caller's.
        """
        row = {"key": key, "state": State.HELD, "holder": self.processes.name, "kind": kind}
        return await self._add(row | {"encrypted": self._seal(key, content)})

    async def put_done(self, key: str) -> bool:
        """Whether this is the first time that the key is put."""
        return await self._add({"key": key, "state": State.DONE})

    async def due(self) -> Sequence[str]:
        """The kinds that have jobs which are due, or whose process died."""
        kinds = select(JobRow.kind).where(self._free(await self.processes.now())).distinct()
        return [row.kind for row in await self.database.rows(kinds)]

    async def take(self, kind: str, limit: int) -> Sequence[Job]:
        """Hold the jobs of a kind that are due, or whose process died, the longest overdue first.

        Only one caller gets each. The worker ends each with `end`, `later`, or `finish`.
        """
        free = and_(JobRow.kind == kind, self._free(now := await self.processes.now()))
        mine: dict[str, Any] = {"state": State.HELD, "holder": self.processes.name, "due_at": None}
        mine |= {"keep_until": None, "attempts": JobRow.attempts + 1}
        rows = await self.database.take(JobRow, free, limit, JobRow.due_at, JobRow.at, **mine)
        return sorted((self._taken(row, now) for row in rows), key=lambda job: job.age, reverse=True)

    async def keep(self, job: Job, began: datetime | None, lease: timedelta, content: object = None) -> bool:
        """Record that a request begins that must not be repeated, `began` by the clock that dates what it
        does, and what it does, if the job's content doesn't say that. Returns False if the job isn't this
        process's anymore. Until the `lease` ends nobody else gets it, even if this process dies: what was
        sent may still arrive.
        """
        now = self.processes.clock.scalar_subquery()
        until = await self.processes.now() + lease
        kept = update(JobRow).where(self._taken_as(job)).values(tried_at=began or now, keep_until=until)
        if content is not None:
            kept = kept.values(encrypted=self._seal(job.key, content))
        return await self.database.changes(kept.returning(JobRow.key))

    async def not_begun(self, job: Job) -> None:
        """Record that the request that `keep` recorded did nothing."""
        nothing = {"tried_at": None, "keep_until": None}
        await self.database.execute(update(JobRow).where(self._taken_as(job)).values(nothing))

    async def end(self, job: Job) -> None:
        """Record that a job is done, unless it was put again meanwhile."""
        again = JobRow.due_at.is_not(None)
        ended = {"state": case((again, State.DUE), else_=State.DONE), "holder": None, "keep_until": None}
        ended |= {"encrypted": case((again, JobRow.encrypted), else_=None)}
        ended |= {"tried_at": None, "searched_to": None}
        await self.database.execute(update(JobRow).where(self._taken_as(job)).values(ended))

    async def later(self, job: Job, later: Later) -> None:
        """Let any process do a job later, or now if it was put again meanwhile."""
        at = await self.processes.now() + min(timedelta(seconds=later.seconds), FURTHEST)
        put_off: dict[str, Any] = {"state": State.UNKNOWN if later.unknown else State.DUE, "holder": None}
        put_off |= {"due_at": func.coalesce(JobRow.due_at, at), "keep_until": None}
        put_off |= {"searched_to": later.searched_to}
        if not later.unknown:
            put_off["tried_at"] = None
        await self.database.execute(update(JobRow).where(self._taken_as(job)).values(put_off))

    async def finish(self, keys: Collection[str]) -> None:
        """Record that jobs are done whose keys are never put again."""
        done = {"state": State.DONE, "holder": None, "encrypted": None, "due_at": None}
        await self.database.execute(update(JobRow).where(JobRow.key.in_(keys)).values(done))

    async def leave(self) -> None:
        """Let other processes have at once what this one leaves undone, or soon if its request may arrive."""
        now = await self.processes.now()
        free = {"state": State.UNKNOWN, "holder": None, "due_at": case((JobRow.kind.is_not(None), now))}
        free["keep_until"] = case((JobRow.keep_until.is_not(None), now + LAST_ARRIVES))
        await self.database.execute(update(JobRow).where(JobRow.holder == self.processes.name).values(free))

    async def realign(self, now: datetime) -> None:
        """Make due what was put off by a clock that was ahead."""
        await self.database.realign(JobRow.due_at, now, now + FURTHEST)
        await self.database.realign(JobRow.keep_until, now, now + FURTHEST)

    async def prune(self, now: datetime) -> None:
        """Forget what was done, or asked for and never finished, but nothing that is still due."""
        # Those in the future are from before the clock was set back.
        kept = or_(JobRow.due_at.is_not(None), JobRow.at.between(now - RETENTION, now + RETENTION))
        await self.database.delete_in_batches(JobRow, not_(kept))

    def _claim(self, key: str, kept: timedelta | None, by: Owner | None, connection: Connection) -> Job:
        now, me = connection.execute(self.processes.clock).scalar_one(), self.processes.name
        mine = {"state": State.HELD, "holder": me, "by": by and by.name}
        added = self.database.insert(JobRow).values(key=key, at=now, **mine)
        if connection.scalar(added.on_conflict_do_nothing().returning(JobRow.key)):
            return Job(key, won=True)
        dead = self.processes.dead(JobRow.holder, now).label("dead")
        found = select(JobRow, dead).where(JobRow.key == key).with_for_update()
        row = connection.execute(found).one_or_none()
        if row is None:  # it was freed in the meantime
            return self._claim(key, kept, by, connection)
        held = row.state == State.HELD
        if held and not (row.dead or (row.holder == me and self._in_use[key] == 1)):  # this request's own
            return Job(key, won=False)
        # A time in the future is from before the clock was set back.
        lapsed = kept is not None and not now - kept < row.at < now + kept
        if not (held or lapsed) and (kept is not None or row.state == State.DONE):
            return Job(key, won=False, done=True)
        tried_at = row.at if held or not lapsed else None
        tried_by = Owner.named(row.by) if tried_at and row.by else None
        if tried_by:
            mine["by"] = row.by
        connection.execute(update(JobRow).where(JobRow.key == key).values(at=tried_at or now, **mine))
        return Job(key, won=True, tried_at=tried_at, tried_by=tried_by)

    def _let_go(self, key: str) -> None:
        self._in_use[key] -= 1
        if not self._in_use[key]:
            del self._in_use[key]

    def _mine(self, key: str) -> ColumnElement[bool]:
        return and_(JobRow.key == key, JobRow.holder == self.processes.name)

    def _taken_as(self, job: Job) -> ColumnElement[bool]:
        """Match a job until another process has taken it, or this one has taken it again."""
        return and_(self._mine(job.key), JobRow.state == State.HELD, JobRow.attempts == job.attempts)

    def _free(self, now: datetime) -> ColumnElement[bool]:
        due = and_(JobRow.holder.is_(None), JobRow.due_at <= now)
        left = and_(JobRow.holder.is_not(None), self.processes.dead(JobRow.holder, now))
        arrived = or_(JobRow.keep_until.is_(None), JobRow.keep_until <= now)
        return and_(JobRow.kind.is_not(None), or_(due, left), arrived)

    async def _add(self, row: dict[str, Any]) -> bool:
        added = self.database.insert(JobRow).values(row | {"at": self.processes.clock.scalar_subquery()})
        return await self.database.changes(added.on_conflict_do_nothing().returning(JobRow.key))

    def _seal(self, key: str, content: object) -> str:
        return self.vault.encrypt(_bound(key), SecretStr(json.dumps(content)))

    def _taken(self, row: Row[Any], now: datetime) -> Job:
        content = None
        try:
            content = json.loads(self.vault.decrypt(_bound(row.key), row.encrypted or "").get_secret_value())
        except (StoredSecretError, ValueError):
            log.warning("a job's content can't be decrypted", action="job.unreadable", kind=row.kind)
        return Job(
            row.key,
            won=True,
            tried_at=row.tried_at,
            searched_to=row.searched_to,
            age=now - row.at,
            content=content,
            attempts=row.attempts,
        )


def _bound(key: str) -> Owner:
    """Return the owner that a job's content is encrypted for, with the job's key as the user ID."""
    return Owner(None, "", key)
