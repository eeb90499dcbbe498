"""Work that any process can do later: it is put once, done once, and never lost.

A job is a row of the table `jobs`. Its key identifies the work, and its kind the code that does it
(`worker.py`). It has a `due_at`, or a holder, or both, until it is done:

    none, done  put                         → due, at its time
    due         take, once its time came    → held
    held        settle(Done)                → done
                settle(Again, Later)        → due, at its next time
                put                         → held; once it is settled, due again
                the bot stops (hand_over)   → due, now
                its process crashes         → held, until another one takes it
    due, held   canceling                   → done, unless a request has begun

A live process keeps what it holds, however long the work takes: its heartbeat is the lease, by the
database's clock (`store/processes.py`). Right before the one request that must not be repeated,
`begin_request` records it. Until `end_request` or `settle` records what it did, its outcome is unknown: no
other process takes the job before the request must have arrived, and the one that takes it looks for its
effect first.

The methods in *-ing* return what a transaction runs that does more.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Connection, Executable, Row, and_, case, func, literal, select, update
from sqlalchemy.exc import IntegrityError

from bot.errors import StoredSecretError
from bot.store.claims import Claims
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.processes import Processes
from bot.store.tables import JobRow, UtcDateTime
from bot.store.vault import Vault

RETENTION = timedelta(days=1)
"""How long completed work is remembered: Slack repeats deliveries for minutes, not hours."""
LAST_ARRIVES = timedelta(seconds=5)  # until a request arrives that a process cut off when it stopped
LONGEST_DELAY = timedelta(hours=1)  # the longest time for which a job is postponed
RETRIED_FOR = timedelta(days=1)  # how long a failing job is retried
LONGEST_RETRY = 300.0  # seconds between two attempts of a job that fails

DUE = and_(JobRow.due_at.is_not(None), JobRow.holder.is_(None))
UNFINISHED = JobRow.due_at.is_not(None) | JobRow.holder.is_not(None)
OUTCOME_UNKNOWN = JobRow.request_began.is_not(None)
"""Matches jobs whose request has begun, and nobody has recorded what it did."""

NO_REQUEST: Mapping[str, Any] = dict.fromkeys(("request_began", "unknown_since", "searched_to", "sending"))
OVER: Mapping[str, Any] = dict.fromkeys(("holder", "due_at", "encrypted"))

log = structlog.get_logger(__name__)

Statement = Executable


@dataclass(frozen=True)
class Job:
    """A job that this process holds.

    `content` is None if no encryption key decrypts it, and `age` the time since it was first due. `attempts`
    counts how often a process took the job, `failures` how often in a row it was postponed.

    `request_began` is when a request of an earlier attempt began whose outcome is unknown, by the clock of
    the system that receives it; `sending` describes that request, and `unknown_for` is how long that has been
    so. `searched_to` is where an unfinished look-up of it continues.
    """

    key: str
    content: Any = None
    age: timedelta = timedelta(0)
    request_began: datetime | None = None
    sending: Any = None
    unknown_for: timedelta = timedelta(0)
    searched_to: str | None = None
    attempts: int = 0
    failures: int = 0

    def later(self, least: float, *, unknown: bool = True) -> "Later":
        """Retry after `least` seconds, doubled for each earlier failure, up to LONGEST_RETRY."""
        seconds = max(least, min(least * 2 ** min(self.failures, 20), LONGEST_RETRY))
        return Later(seconds, unknown=unknown)


@dataclass(frozen=True)
class Later:
    """The job is due again after `seconds`, with this content if there is any. If it isn't `unknown`, no
    attempt so far has done the work.
    """

    seconds: float
    unknown: bool = True
    searched_to: str | None = None
    content: object = None


@dataclass(frozen=True)
class Again:
    """The job is done, and due again `at` a time with this content. The statements in `also` run in the same
    transaction, and only if this process still holds the job.
    """

    at: datetime
    content: object
    also: Sequence[Statement] = ()


@dataclass(frozen=True)
class Done:
    """The job is done. For `also`, see `Again`."""

    also: Sequence[Statement] = ()


JobOutcome = Later | Again | Done


@dataclass
class Jobs:
    database: Database
    vault: Vault
    claims: Claims
    processes: Processes
    wake: Callable[[], None] = lambda: None
    """Takes due jobs now; called after the transaction that put them. Until there is a worker, nothing."""
    start: Callable[[str, Sequence[Job]], None] = lambda _kind, _jobs: None
    """Starts jobs of a kind that this process took, and settles them."""

    async def put(self, kind: str, key: str, content: object, *, replaces: bool = True) -> None:
        """Add a job that any process may do, due now; see `putting`."""
        await self.database.execute(self.putting(kind, key, content, replaces=replaces))
        self.wake()

    def putting(
        self, kind: str, key: str, content: object, *, at: datetime | None = None, replaces: bool = True
    ) -> Statement:
        """The statement that adds a job that any process may do, due at a time or now.

        `content` is any JSON value, stored encrypted. An unfinished job of this key keeps its content unless
        this `replaces` it. It keeps its time, too, unless this replaces it before a request has begun. The
        worker takes the job at the next interval, or when `wake` is called.
        """
        sealed = self._seal(key, content)
        when = self.processes.clock.scalar_subquery() if at is None else literal(at, UtcDateTime())
        keeps_time = OUTCOME_UNKNOWN if replaces else UNFINISHED
        changed = {
            "kind": kind,
            "due_since": case((keeps_time, JobRow.due_since), else_=when),
            "due_at": case((and_(keeps_time, JobRow.due_at.is_not(None)), JobRow.due_at), else_=when),
            "encrypted": sealed if replaces else case((UNFINISHED, JobRow.encrypted), else_=sealed),
        }
        fresh = {"kind": kind, "due_since": when, "due_at": when, "encrypted": sealed}
        added = self.database.insert(JobRow).values(key=key, **fresh)
        return added.on_conflict_do_update(index_elements=[JobRow.key], set_=changed)

    async def put_held(self, kind: str, key: str, content: object) -> bool:
        """Add a job that this process does itself; if it crashes, another process's worker takes the job.
        Returns False if the key exists.
        """
        return await self.database.write(self.putting_held(kind, key, content))

    def putting_held(self, kind: str, key: str, content: object) -> Callable[[Connection], bool]:
        """What `put_held` runs."""
        row = {"key": key, "kind": kind, "holder": self.processes.name, "encrypted": self._seal(key, content)}
        return lambda connection: connection.scalar(self._adding, row) is not None

    def canceling(self, *keys: str) -> Statement:
        """The statement that ends jobs, held or not, except those whose outcome is unknown."""
        return update(JobRow).where(JobRow.key.in_(keys), ~OUTCOME_UNKNOWN).values(OVER)

    def canceling_all(self, kind: str, prefix: str) -> Statement:
        """As `canceling`, for the jobs of a kind whose keys start with `prefix`."""
        its = and_(JobRow.kind == kind, JobRow.key.startswith(prefix, autoescape=True))
        return update(JobRow).where(its, ~OUTCOME_UNKNOWN).values(OVER)

    async def content(self, key: str) -> Any:  # noqa: ANN401 - JSON
        """The content of a job that isn't done; None without one."""
        row = await self.database.one(select(JobRow).where(JobRow.key == key, JobRow.encrypted.is_not(None)))
        return self._opened(row, row.encrypted) if row else None

    async def peek(self, key: str) -> Job | None:
        """Return a due job that no process holds and no attempt can have done; `do_now` takes it."""
        return await self.database.write(lambda connection: self.peek_in(connection, JobRow.key == key))

    def peek_in(self, connection: Connection, which: ColumnElement[bool]) -> Job | None:
        """Return one of the jobs that `peek` returns; no process takes it until the transaction ends."""
        untouched = and_(which, DUE, ~OUTCOME_UNKNOWN)
        row = connection.execute(select(JobRow).where(untouched).limit(1).with_for_update()).one_or_none()
        return row and self._job_of(row, connection.execute(self.processes.clock).scalar_one())

    async def do_now(self, job: Job, content: object) -> bool:
        """Do a job that `peek` returned in this process now, with other content; False if another process
        took it.
        """
        as_peeked = and_(JobRow.key == job.key, DUE, JobRow.attempts == job.attempts)
        now = self.processes.clock.scalar_subquery()
        mine = self._held() | {"due_since": now, "encrypted": self._seal(job.key, content)}
        taken = self.database.taking(JobRow, as_peeked, 1, JobRow.due_since, **mine)
        row = await self.database.write(lambda connection: connection.execute(taken).one_or_none())
        if row:
            self.start(row.kind, [replace(job, content=content, attempts=row.attempts)])
        return row is not None

    async def due_kinds(self) -> Sequence[str]:
        """The kinds of jobs that `take` returns."""

        def work(connection: Connection) -> Sequence[str]:
            now = connection.execute(self.processes.clock).scalar_one()
            return [*connection.scalars(select(JobRow.kind).where(self._takeable(now)).distinct())]

        return await self.database.read(work)

    async def take(self, kind: str, limit: int) -> Sequence[Job]:
        """Take up to `limit` jobs of a kind that are due or whose process crashed, longest overdue first.

        Each job goes to one caller, which settles it. What a crashed process claimed for its jobs is unknown
        from then on.
        """

        def work(connection: Connection) -> tuple[datetime, Sequence[Row[Any]]]:
            now = connection.execute(self.processes.clock).scalar_one()
            which, order = and_(JobRow.kind == kind, self._takeable(now)), (JobRow.due_at, JobRow.due_since)
            connection.execute(self.claims.leaving_crashed(now))
            taken = self.database.taking(JobRow, which, limit, *order, **self._held())
            return now, connection.execute(taken).all()

        now, rows = await self.database.write(work)
        return sorted((self._job_of(row, now) for row in rows), key=lambda job: job.age, reverse=True)

    async def still_holds(self, job: Job) -> bool:
        return await self.database.one(select(JobRow.key).where(self._still_held(job))) is not None

    async def begin_request(
        self, job: Job, began: datetime, lease: timedelta, sending: object = None
    ) -> bool:
        """Record that a request begins that must not be repeated.

        It `began` by the clock of the system that receives it; `sending` describes it where the job's content
        doesn't. Until the `lease` ends no other process takes the job, because the request may still arrive.
        Returns False if this process no longer holds the job.
        """

        def work(connection: Connection) -> bool:
            now = connection.execute(self.processes.clock).scalar_one()
            begun: dict[str, Any] = {"request_began": began, "keep_until": now + lease}
            begun["unknown_since"] = func.coalesce(JobRow.unknown_since, literal(now, UtcDateTime()))
            begun["sending"] = None if sending is None else self._seal(job.key, sending)
            return connection.execute(update(JobRow).where(self._still_held(job)).values(begun)).rowcount > 0

        return await self.database.write(work)

    async def end_request(self, job: Job, also: Sequence[Statement] = ()) -> bool:
        """Record that the request that began did nothing, or `also` what it did, in one transaction. Returns
        False if this process no longer holds the job.
        """
        return await self._change(job, {**NO_REQUEST, "keep_until": None}, also)

    async def settle(self, job: Job, outcome: JobOutcome) -> None:
        """Record the outcome of a job that this process took. A job that was put again is due.

        The outcome's statements are dropped if the rows that they refer to were deleted in the meantime.
        """
        try:
            await self._settle(job, outcome)
        except IntegrityError:
            log.warning("a job's rows were deleted", action="job.gone", job=job.key.partition(":")[0])
            await self._settle(job, Done())

    async def _settle(self, job: Job, outcome: JobOutcome) -> None:
        values: dict[str, Any] = {"holder": None, "keep_until": None}
        also: Sequence[Statement] = ()
        match outcome:
            case Later(seconds, unknown, searched_to, content):
                at = await self.processes.now() + min(timedelta(seconds=seconds), LONGEST_DELAY)
                values |= {"searched_to": searched_to, "failures": JobRow.failures + 1}
                values |= {"due_at": _unless_put(literal(at, UtcDateTime()), JobRow.due_at)}
                if not unknown:
                    values |= NO_REQUEST
                if content is not None:
                    values |= {"encrypted": _unless_put(self._seal(job.key, content), JobRow.encrypted)}

            case Again(at, content, also):
                due_at = _unless_put(literal(at, UtcDateTime()), JobRow.due_at)
                values |= {"due_since": due_at, "due_at": due_at, **NO_REQUEST, "failures": 0}
                values |= {"encrypted": _unless_put(self._seal(job.key, content), JobRow.encrypted)}

            case Done(also):
                values |= {"due_since": _unless_put(JobRow.due_since, JobRow.due_at), "failures": 0}
                values |= {"encrypted": _unless_put(None, JobRow.encrypted), **NO_REQUEST}
        await self._change(job, values, also)

    async def settle_as_done(self, keys: Collection[str]) -> None:
        """Record as done jobs that this process put held and whose keys are never put again."""
        await self.database.execute(update(JobRow).where(JobRow.key.in_(keys)).values(OVER))

    async def hand_over(self) -> None:
        """Release this process's jobs and claims, some after a delay in which its last request arrives."""
        now = await self.processes.now()
        arrived = case((JobRow.keep_until.is_not(None), now + LAST_ARRIVES))
        held = update(JobRow).where(JobRow.holder == self.processes.name)
        released = held.values(holder=None, due_at=now, keep_until=arrived)
        await self.database.execute(self.claims.leaving_own(), released)

    async def prune(self, now: datetime) -> None:
        """Delete old jobs, except those that are still to be done."""
        await self.database.delete_in_batches(JobRow, and_(~UNFINISHED, JobRow.due_since < now - RETENTION))

    @cached_property
    def _adding(self) -> Statement:
        """The statement that adds a job of the values it is run with, and returns its key if that is new."""
        added = self.database.insert(JobRow).values(due_since=self.processes.clock.scalar_subquery())
        return added.on_conflict_do_nothing().returning(JobRow.key)

    def _takeable(self, now: datetime) -> ColumnElement[bool]:
        """Match jobs that are due or whose process crashed, once their last request must have arrived."""
        due = and_(JobRow.holder.is_(None), JobRow.due_at <= now)
        crashed = self.processes.dead(JobRow.holder, now)
        arrived = JobRow.keep_until.is_(None) | (JobRow.keep_until <= now)
        return and_(due | crashed, arrived)

    def _still_held(self, job: Job) -> ColumnElement[bool]:
        """Match a job until it is taken again, by this process or another."""
        mine = JobRow.holder == self.processes.name
        return and_(JobRow.key == job.key, mine, JobRow.attempts == job.attempts)

    def _held(self) -> dict[str, Any]:
        """The values of a job that this process takes."""
        mine = {"holder": self.processes.name, "attempts": JobRow.attempts + 1}
        return mine | {"due_at": None, "keep_until": None}

    async def _change(self, job: Job, values: Mapping[str, Any], also: Sequence[Statement]) -> bool:
        changed = update(JobRow).where(self._still_held(job)).values(values).returning(JobRow.key)
        return await self.database.changes(changed, *also)

    def _seal(self, key: str, content: object) -> str:
        """The content, encrypted for the job's key in place of a user ID."""
        return self.vault.encrypt_json(Owner(None, "", key), content)

    def _job_of(self, row: Row[Any], now: datetime) -> Job:
        return Job(
            row.key,
            content=self._opened(row, row.encrypted),
            age=max(now - row.due_since, timedelta(0)),
            request_began=row.request_began,
            sending=self._opened(row, row.sending) if row.sending else None,
            unknown_for=now - row.unknown_since if row.unknown_since else timedelta(0),
            searched_to=row.searched_to,
            attempts=row.attempts,
            failures=row.failures,
        )

    def _opened(self, row: Row[Any], encrypted: str | None) -> Any:  # noqa: ANN401 - JSON
        try:
            return self.vault.decrypt_json(Owner(None, "", row.key), encrypted or "")
        except StoredSecretError:
            log.warning("a job's content can't be decrypted", action="job.unreadable", kind=row.kind)
        return None


def _unless_put(value: object, put: object) -> ColumnElement[Any]:
    """The value, or `put` if the job was put again while it was held."""
    return case((JobRow.due_at.is_not(None), put), else_=value)
