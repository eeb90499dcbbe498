"""Work that is done once and never lost, however often and in whichever process it is requested.

A job is a row; its key identifies the work. A person's request holds it (`hold`) while it does the work.
`put` stores work that any process can do later, and the worker takes it. A job's lease is its holder's
heartbeat, by the database's clock (`store/processes.py`): a live process keeps its jobs, however long the
work takes. Other processes can take a dead process's job. If it was held for a request, or about to send
(`keep`), it may already be done, as after a write without a response: look it up before doing it again.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from typing import Any, TypeVar

import structlog
from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Row,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from bot.errors import OutcomeUnknown, StoredSecretError
from bot.store.database import Database
from bot.store.job import FURTHEST, Again, Done, Job, JobOutcome, Later, State, Statement, Taker
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import JobRow, UtcDateTime
from bot.store.vault import Vault

RETENTION = timedelta(days=1)
"""How long completed work is remembered: Slack repeats deliveries for minutes, not hours."""
LAST_ARRIVES = timedelta(seconds=5)  # until a request arrives that a process cut off when it stopped
OVER: Mapping[str, Any] = {"state": State.DONE, "holder": None, "encrypted": None, "due_at": None}
FINISH = update(JobRow).where(JobRow.key.in_(bindparam("keys"))).values(OVER)
NOTHING_TRIED: Mapping[str, Any] = dict.fromkeys(("tried_at", "unknown_since", "searched_to", "sending"))

log = structlog.get_logger(__name__)

J = TypeVar("J", Job, Job | None)


@dataclass
class Jobs:
    database: Database
    vault: Vault
    processes: Processes
    taker: Taker | None = None
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
            await self.release(job, state)

    async def claim(self, key: str, kept: timedelta | None = None, *, by: Owner | None = None) -> Job:
        """Hold a job, and `release` it later. What was done longer than `kept` ago may be done again.

        `by` is who asks for work that others may ask for, too.
        """
        return await self._counted(key, partial(self._claim, key, kept, by))

    async def _counted(self, key: str, claiming: Callable[[Connection], J]) -> J:
        """Count a request that uses a job, if it won the claim."""
        self._in_use[key] += 1
        job = None
        try:
            job = await self.database.write(claiming)
        finally:
            if not (job and job.won):
                self._let_go(key)
        return job

    async def release(self, job: Job, state: State | None) -> None:
        """Record what became of the work: None frees the job, unless an earlier attempt may have done it.

        Does nothing for a job that wasn't won. Never fails, because the work is over.
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

    async def begin_as(self, job: Job, by: Owner) -> None:
        """Record that this attempt is `by`'s, after a look at what `tried_by` did found nothing."""
        now = self.processes.clock.scalar_subquery()
        await self.database.execute(update(JobRow).where(self._mine(job.key)).values(by=by.name, at=now))

    async def pass_on(self, key: str, to: str) -> None:
        """Let `to` stand for the same work: it is done, or looked up first, if that is so for `key`."""
        if row := await self.database.one(select(JobRow).where(JobRow.key == key)):
            state = State.DONE if row.state == State.DONE else State.UNKNOWN
            passed = {"key": to, "state": state, "at": row.at, "by": row.by}
            await self.database.execute(self.database.insert(JobRow).values(passed).on_conflict_do_nothing())

    async def claim_for(self, key: str, age: timedelta) -> bool:
        """Whether nobody has claimed this within `age`; True for one caller."""
        job = await self.claim(key, age)
        await self.release(job, State.DONE)
        return job.won

    # What the worker does

    async def put(self, kind: str, key: str, content: object, *, replaces: bool = True) -> None:
        """Add a job that any process may do, due now; see `putting`."""
        await self.database.execute(self.putting(kind, key, content, replaces=replaces))
        self.wake()

    def putting(
        self, kind: str, key: str, content: object, *, at: datetime | None = None, replaces: bool = True
    ) -> Statement:
        """The statement that adds a job that any process may do, due at a time or now.

        A job that a process holds is due again afterwards. `content` is any JSON value, stored encrypted. It
        replaces that of an unfinished job only if it `replaces`. The worker takes the job at the next
        interval, or when `wake` is called.
        """
        sealed = self._seal(key, content)
        when = self.processes.clock.scalar_subquery() if at is None else literal(at, UtcDateTime())
        unfinished = JobRow.state != State.DONE
        waits = JobRow.tried_at.is_not(None) if replaces else unfinished
        encrypted = sealed if replaces else case((unfinished, JobRow.encrypted), else_=sealed)
        changed = {
            "kind": kind,
            "state": case((JobRow.state == State.DONE, State.DUE), else_=JobRow.state),
            "at": case((waits, JobRow.at), else_=when),
            "due_at": case((and_(waits, JobRow.due_at.is_not(None)), JobRow.due_at), else_=when),
            "encrypted": encrypted,
        }
        fresh = {"kind": kind, "state": State.DUE, "at": when, "due_at": when, "encrypted": sealed}
        added = self.database.insert(JobRow).values(key=key, **fresh)
        return added.on_conflict_do_update(index_elements=[JobRow.key], set_=changed)

    def canceling(self, *keys: str) -> Statement:
        """The statement that ends jobs, held or not, except those whose outcome is unknown."""
        return self._canceling(and_(JobRow.key.in_(keys), JobRow.kind.is_not(None)))

    def canceling_all(self, kind: str, prefix: str) -> Statement:
        """As `canceling`, for the jobs of a kind whose keys start with `prefix`."""
        return self._canceling(and_(JobRow.kind == kind, JobRow.key.startswith(prefix, autoescape=True)))

    def _canceling(self, which: ColumnElement[bool]) -> Statement:
        return update(JobRow).where(which, JobRow.tried_at.is_(None)).values(OVER)

    async def put_held(self, kind: str, key: str, content: object) -> bool:
        """Add a job that this process does itself; if it crashes, another process's worker takes the job.
        Returns False if the key exists.
        """
        return await self.database.changes(self._adding, **self._own(kind, key, content))

    async def put_claiming(self, kind: str, key: str, content: object, claimed: str) -> Job | None:
        """`put_held` and `claim` the other job, in one transaction. Returns None if the key exists."""

        def work(connection: Connection) -> Job | None:
            added = connection.scalar(self._adding, row)
            return self._claim(claimed, None, None, connection) if added else None

        row = self._own(kind, key, content)
        return await self._counted(claimed, work)

    async def put_done(self, key: str) -> bool:
        """Add a key as done. Returns False if it exists."""
        return await self.database.changes(self._adding, key=key, state=State.DONE)

    def putting_done(self, key: str) -> Statement:
        """The statement that adds a key as done, unless it exists."""
        row = {"key": key, "state": State.DONE, "at": self.processes.clock.scalar_subquery()}
        return self.database.insert(JobRow).values(row).on_conflict_do_nothing()

    async def is_done(self, key: str) -> bool:
        done = select(JobRow.key).where(JobRow.key == key, JobRow.state == State.DONE)
        return await self.database.one(done) is not None

    async def content(self, key: str) -> Any:  # noqa: ANN401 - JSON
        """The content of a job that isn't done; None without one."""
        row = await self.database.one(select(JobRow).where(JobRow.key == key, JobRow.encrypted.is_not(None)))
        return self._opened(row, row.encrypted) if row else None

    def wake(self) -> None:
        """Take due jobs now; called after the transaction that added them."""
        if self.taker:
            self.taker.wake()

    async def peek(self, key: str) -> Job | None:
        """Return a due job that no process holds and no attempt can have done."""
        return await self.database.write(partial(self.waiting, JobRow.key == key))

    def waiting(self, which: ColumnElement[bool], connection: Connection) -> Job | None:
        """Return one of the jobs that `peek` returns; no process takes it until the transaction ends."""
        free = and_(which, JobRow.state == State.DUE, JobRow.tried_at.is_(None))
        row = connection.execute(select(JobRow).where(free).limit(1).with_for_update()).one_or_none()
        return row and self._taken(row, connection.execute(self.processes.clock).scalar_one())

    async def start(self, job: Job, content: object) -> bool:
        """Do a job that `peek` returned in this process now, with other content; False if another process
        took it.
        """
        free = and_(JobRow.key == job.key, JobRow.state == State.DUE, JobRow.attempts == job.attempts)
        now = self.processes.clock.scalar_subquery()
        mine = self._held() | {"at": now, "encrypted": self._seal(job.key, content)}
        taken = self.database.taking(JobRow, free, 1, JobRow.at, **mine)
        rows = await self.database.write(lambda connection: connection.execute(taken).all())
        for row in rows:
            if self.taker:
                self.taker.start(row.kind, [replace(job, content=content, attempts=row.attempts)])
        return bool(rows)

    async def due(self) -> Sequence[str]:
        """The kinds of jobs that are due or whose process crashed."""

        def work(connection: Connection) -> Sequence[str]:
            now = connection.execute(self.processes.clock).scalar_one()
            return [*connection.scalars(select(JobRow.kind).where(self._free(now)).distinct())]

        return await self.database.read(work)

    async def take(self, kind: str, limit: int) -> Sequence[Job]:
        """Take up to `limit` jobs of a kind that are due or whose process crashed, longest overdue first.

        Each job goes to one caller, which ends it with `settle` or `finish`.
        """

        def work(connection: Connection) -> tuple[datetime, Sequence[Row[Any]]]:
            now = connection.execute(self.processes.clock).scalar_one()
            free, order = and_(JobRow.kind == kind, self._free(now)), (JobRow.due_at, JobRow.at)
            taken = self.database.taking(JobRow, free, limit, *order, **self._held())
            return now, connection.execute(taken).all()

        now, rows = await self.database.write(work)
        return sorted((self._taken(row, now) for row in rows), key=lambda job: job.age, reverse=True)

    async def keep(self, job: Job, began: datetime, lease: timedelta, sending: object = None) -> bool:
        """Record that a request begins that must not be repeated.

        It `began` by the clock of the system that receives it; `sending` describes it where the job's content
        doesn't. Until the `lease` ends no other process takes the job, because the request may still arrive.
        Returns False if this process no longer holds the job.
        """

        def work(connection: Connection) -> bool:
            now = connection.execute(self.processes.clock).scalar_one()
            kept: dict[str, Any] = {"tried_at": began, "keep_until": now + lease}
            kept["unknown_since"] = func.coalesce(JobRow.unknown_since, literal(now, UtcDateTime()))
            kept["sending"] = None if sending is None else self._seal(job.key, sending)
            return connection.execute(update(JobRow).where(self._taken_as(job)).values(kept)).rowcount > 0

        return await self.database.write(work)

    async def go_on(self, job: Job, also: Sequence[Statement] = ()) -> bool:
        """Record that the request that `keep` recorded did nothing, or `also` records what it did, in one
        transaction. Returns False if this process no longer holds the job.
        """
        return await self._change(job, {**NOTHING_TRIED, "keep_until": None}, also)

    async def holds(self, job: Job) -> bool:
        return await self.database.one(select(JobRow.key).where(self._taken_as(job))) is not None

    async def settle(self, job: Job, outcome: JobOutcome) -> None:
        """Record the outcome of a job that this process took. A job that was added again is due.

        The outcome's statements are dropped if the rows that they refer to were deleted in the meantime.
        """
        try:
            await self._settle(job, outcome)
        except IntegrityError:
            log.warning("what a job was about is gone", action="job.gone", job=job.key.partition(":")[0])
            await self._settle(job, Done())

    async def _settle(self, job: Job, outcome: JobOutcome) -> None:
        again = JobRow.due_at.is_not(None)
        free: dict[str, Any] = {"holder": None, "keep_until": None}
        over = {**NOTHING_TRIED, "failures": 0}
        match outcome:
            case Later(seconds, unknown, searched_to, content):
                at = await self.processes.now() + min(timedelta(seconds=seconds), FURTHEST)
                free |= {"due_at": func.coalesce(JobRow.due_at, at), "searched_to": searched_to}
                free["failures"] = JobRow.failures + 1
                free["state"] = case((JobRow.tried_at.is_not(None), State.UNKNOWN), else_=State.DUE)
                if not unknown:
                    free |= {"state": State.DUE, **NOTHING_TRIED}
                if content is not None:
                    free["encrypted"] = case((again, JobRow.encrypted), else_=self._seal(job.key, content))
                await self._change(job, free, ())
            case Again(at, content, also):
                sealed = self._seal(job.key, content)
                free |= {"state": State.DUE, "due_at": func.coalesce(JobRow.due_at, at), **over}
                free |= {"at": func.coalesce(JobRow.due_at, literal(at, UtcDateTime()))}
                free |= {"encrypted": case((again, JobRow.encrypted), else_=sealed)}
                await self._change(job, free, also)
            case Done(also):
                free |= {"state": case((again, State.DUE), else_=State.DONE), **over}
                free |= {"encrypted": case((again, JobRow.encrypted), else_=None)}
                free |= {"at": func.coalesce(JobRow.due_at, JobRow.at)}
                await self._change(job, free, also)

    async def finish(self, keys: Collection[str]) -> None:
        """Record as done jobs whose keys are never added again."""
        await self.database.execute(FINISH, keys=list(keys))

    async def leave(self) -> None:
        """Release this process's jobs, with a short delay where its last request may still arrive."""
        now = await self.processes.now()
        free = {"state": State.UNKNOWN, "holder": None, "due_at": case((JobRow.kind.is_not(None), now))}
        free["keep_until"] = case((JobRow.keep_until.is_not(None), now + LAST_ARRIVES))
        await self.database.execute(update(JobRow).where(JobRow.holder == self.processes.name).values(free))

    async def prune(self, now: datetime) -> None:
        """Delete old jobs and claims, except jobs that are still to be done."""
        to_do = and_(JobRow.kind.is_not(None), JobRow.state != State.DONE)
        await self.database.delete_in_batches(JobRow, and_(~to_do, JobRow.at < now - RETENTION))

    def _claim(self, key: str, kept: timedelta | None, by: Owner | None, connection: Connection) -> Job:
        me = self.processes.name
        mine = {"state": State.HELD, "holder": me, "by": by and by.name}
        if connection.scalar(self._adding, {"key": key, **mine}):
            return Job(key, won=True)

        now = connection.execute(self.processes.clock).scalar_one()
        dead = self.processes.dead(JobRow.holder, now).label("dead")
        statement = select(JobRow, dead).where(JobRow.key == key).with_for_update()
        row = connection.execute(statement).one_or_none()
        if row is None:  # it was freed in the meantime
            return self._claim(key, kept, by, connection)

        is_held, is_done = row.state == State.HELD, row.state == State.DONE
        abandoned = row.holder == me and self._in_use[key] == 1  # only this request uses it
        if is_held and not (row.dead or abandoned):
            return Job(key, won=False)

        lapsed = kept is not None and row.at <= now - kept
        repeatable = lapsed or (kept is None and not is_done)
        if not (is_held or repeatable):
            return Job(key, won=False, done=True)

        tried_at = row.at if is_held or not lapsed else None
        tried_by = Owner.named(row.by) if tried_at and row.by else None
        if tried_by:
            mine["by"] = row.by
        connection.execute(update(JobRow).where(JobRow.key == key).values(at=tried_at or now, **mine))
        tried = tried_at and datetime.now(UTC) - (now - tried_at)  # by this machine's clock
        return Job(key, won=True, tried_at=tried, tried_by=tried_by)

    def _let_go(self, key: str) -> None:
        self._in_use[key] -= 1
        if not self._in_use[key]:
            del self._in_use[key]

    def _mine(self, key: str) -> ColumnElement[bool]:
        return and_(JobRow.key == key, JobRow.holder == self.processes.name)

    def _taken_as(self, job: Job) -> ColumnElement[bool]:
        """Match a job until it is taken again, by this process or another."""
        return and_(self._mine(job.key), JobRow.state == State.HELD, JobRow.attempts == job.attempts)

    def _free(self, now: datetime) -> ColumnElement[bool]:
        due = and_(JobRow.holder.is_(None), JobRow.due_at <= now)
        left = and_(JobRow.holder.is_not(None), self.processes.dead(JobRow.holder, now))
        arrived = or_(JobRow.keep_until.is_(None), JobRow.keep_until <= now)
        return and_(JobRow.kind.is_not(None), or_(due, left), arrived)

    def _held(self) -> dict[str, Any]:
        mine = {"state": State.HELD, "holder": self.processes.name, "attempts": JobRow.attempts + 1}
        return mine | {"due_at": None, "keep_until": None}

    async def _change(self, job: Job, values: Mapping[str, Any], also: Sequence[Statement]) -> bool:
        changed = update(JobRow).where(self._taken_as(job)).values(values).returning(JobRow.key)
        return await self.database.changes(changed, *also)

    def _own(self, kind: str, key: str, content: object) -> dict[str, Any]:
        lease = {"state": State.HELD, "holder": self.processes.name}
        return {"key": key, "kind": kind, **lease, "encrypted": self._seal(key, content)}

    @cached_property
    def _adding(self) -> Executable:
        """Adds a row of some values, unless its key exists, and returns the key if it was added."""
        added = self.database.insert(JobRow).values(at=self.processes.clock.scalar_subquery())
        return added.on_conflict_do_nothing().returning(JobRow.key)

    def _seal(self, key: str, content: object) -> str:
        """The content, encrypted for the job's key in place of a user ID."""
        return self.vault.encrypt_json(Owner(None, "", key), content)

    def _taken(self, row: Row[Any], now: datetime) -> Job:
        return Job(
            row.key,
            won=True,
            tried_at=row.tried_at,
            searched_to=row.searched_to,
            age=max(now - row.at, timedelta(0)),
            unknown_for=now - row.unknown_since if row.unknown_since else timedelta(0),
            content=self._opened(row, row.encrypted),
            sending=self._opened(row, row.sending) if row.sending else None,
            attempts=row.attempts,
            failures=row.failures,
        )

    def _opened(self, row: Row[Any], encrypted: str | None) -> Any:  # noqa: ANN401 - JSON
        try:
            return self.vault.decrypt_json(Owner(None, "", row.key), encrypted or "")
        except StoredSecretError:
            log.warning("a job's content can't be decrypted", action="job.unreadable", kind=row.kind)
        return None
