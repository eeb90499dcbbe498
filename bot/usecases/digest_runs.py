"""Running digests: each due time once, whoever dies when, and each new issue in one message.

A due time is claimed in the database by one process, with a lease. The owner's due digests are read together.
Before a message goes out, the run says so in the database, with what the message covers; a run that is found
there without its outcome is looked up in the channel before anything is posted again (`store.digest_runs`).
"""

import asyncio
import secrets
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import structlog

from bot.errors import BotError, NotLinked, ServiceError, StoredSecretError, TooManyRequests
from bot.service.client import Client
from bot.service.models import Issue
from bot.store.digest_runs import Claim, Run, RunState
from bot.store.digests import Covered, Digest, Pause
from bot.store.store import Store
from bot.usecases import digest_periods as periods
from bot.usecases.accounts import Accounts
from bot.usecases.digest_news import News
from bot.usecases.digest_posts import (
    Absent,
    Delayed,
    Hidden,
    Outcome,
    Posted,
    Poster,
    Refused,
    Standing,
    Unsure,
)
from bot.usecases.digest_reading import OVERLAP, Opened, read

LEASE = timedelta(seconds=90)
"""How long a process holds a run that it doesn't hear of; each tick renews it."""
LONGEST_POST = 35.0
"""Seconds that a post may be under way, with the wait that Slack may ask for."""
SLOWEST_STEP = 20.0
"""Seconds after which a post that was announced in the database is not begun any more."""
LOOK_AFTER = timedelta(seconds=10)
"""How soon a message whose outcome is unknown is looked up."""
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 900.0
"""Seconds until what failed is tried again: twice as long each time."""
AT_FIRST = 3
"""How often it is tried again as soon as is said, before the waits grow."""
AT_HAND = 2000
"""How many runs one process has claimed at once."""
OF_ONE_OWNER = 200
PATIENCE = 1.5
"""Seconds that whoever asked for a digest waits for its message; after that it comes without them."""
READERS = 4
"""How many owners' projects are read at once."""
TRIES = 5
"""How often a message that Slack puts off is kept in hand."""
TOLD_AFTER = 100
"""After how many failures, in about a day, the owner of a digest that can't be posted is told."""
JUMP = timedelta(minutes=1)
"""How far the database's clock may fall behind before due times are looked at anew."""

log = structlog.get_logger(__name__)
T = TypeVar("T")
OnFinished = Callable[[RunState, timedelta], None]


class DigestRuns:
    """The digests' engine, one in each process. `on_finished` is told each run's state and its lateness."""

    def __init__(
        self,
        client: Client,
        store: Store,
        accounts: Accounts,
        *,
        poster: Poster,
        on_finished: OnFinished,
    ) -> None:
        self._client = client
        self._store = store
        self._accounts = accounts
        self._poster = poster
        self._on_finished = on_finished
        self._holder = secrets.token_hex(8)
        self._readers = asyncio.Semaphore(READERS)
        self._at_hand: dict[tuple[int, datetime], float] = {}  # since when
        self._tasks: set[asyncio.Task[Any]] = set()
        self._news = News(store.digests, poster)
        self._telling: asyncio.Task[None] | None = None
        self._stopping = False
        self._set: tuple[datetime, float] | None = None
        self._aligned = False

    async def run_due(self, now: datetime) -> None:
        """Claim whatever is due at `now` (the database's clock) and set it going; `idle` waits for it."""
        self._set_clock(now)
        if not self._aligned:
            await self._realign(now)
            self._aligned = True
        self._tell_soon()
        if self._at_hand:
            held = {digest for digest, _ in self._at_hand}
            await self._store.digest_runs.renew(self._holder, held, self._lease())
        left = await self._store.digest_runs.expired(now, AT_HAND)
        left = tuple(run for run in left if _key(run) not in self._at_hand)
        for runs in _grouped(left, lambda run: run.digest.owner).values():
            self._begin(await self._store.digest_runs.take(runs, self._holder, now, self._lease()))
        while len(self._at_hand) < AT_HAND:
            digests = await self._store.digest_runs.due(now, OF_ONE_OWNER)
            if not digests or not await self._claim(digests, now):
                return  # nothing is left, or another process is faster

    async def _claim(self, digests: Sequence[Digest], now: datetime) -> bool:
        """Claim due digests of one owner and set them going; whether that brought anything forward."""
        readable = [digest for digest in digests if periods.readable(digest)]
        unreadable = {digest.id for digest in digests} - {digest.id for digest in readable}
        if unreadable:
            log.warning("no due times", action="digest.no_times", digests=sorted(unreadable))
            await self._store.digests.stop(digests[0].owner, unreadable, Pause.SCHEDULE)
        claims = [periods.claim(digest, now) for digest in readable]
        runs = await self._store.digest_runs.claim(claims, self._holder, self._lease())
        self._begin(runs)
        return bool(runs or unreadable)

    async def _realign(self, now: datetime) -> None:
        """Bring back due times and leases that were set while the clock was wrong."""
        await self._store.digest_runs.realign(now, now + 2 * timedelta(seconds=LONGEST_PAUSE))
        after = 0
        while digests := await self._store.digests.scheduled(after, OF_ONE_OWNER):
            after = digests[-1].id
            for digest in digests:
                await asyncio.sleep(0)
                if (sooner := periods.sooner(digest, now)) is not None:
                    await self._store.digests.reschedule(digest, sooner)

    async def run_now(self, digest: Digest) -> RunState | None:
        """Run a digest that somebody asked for between two due times; None while another run is at work, and
        where its message has to wait: it comes by itself then.

        Raises NotLinked and ServiceError where its owner's key can't read, with nothing done.
        """
        now = await self._store.digest_runs.now()
        self._set_clock(now)
        claim = Claim(digest=digest, due_at=now, missed=0, next_due=None)
        claimed = await self._store.digest_runs.claim([claim], self._holder, self._lease())
        if not claimed:
            return None
        return await self._go(self._asked(claimed[0]))

    async def idle(self) -> None:
        """Wait until everything that was set going is done."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def stop(self, seconds: float) -> None:
        """Let what is at hand finish for so long; what isn't being sent then is left to other processes."""
        self._stopping = True
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        for task in (left := set(self._tasks)):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._store.digest_runs.release(self._holder, self._now())

    def _set_clock(self, now: datetime) -> None:
        if self._set is not None and now < self._now() - JUMP:
            self._aligned = False
        self._set = (now, time.monotonic())

    def _now(self) -> datetime:
        then, at = self._set or (datetime.now(UTC), time.monotonic())
        return then + timedelta(seconds=time.monotonic() - at)

    def _lease(self) -> datetime:
        return self._now() + LEASE

    def _go(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin(self, runs: Sequence[Run]) -> None:
        if runs:
            self._at_hand |= dict.fromkeys(map(_key, runs), time.monotonic())
            self._go(self._work(runs))

    async def _work(self, runs: Sequence[Run]) -> None:
        """Runs of one owner, from being claimed to their end; what is logged on the way has one reference."""
        owner = runs[0].digest.owner
        who = {"reference": secrets.token_hex(4), "team": owner.team_id, "user": owner.user_id}
        try:
            with structlog.contextvars.bound_contextvars(**who):
                await self._carried_out(runs)
        finally:
            for run in runs:
                self._at_hand.pop(_key(run), None)
            self._tell_soon()

    async def _carried_out(self, runs: Sequence[Run]) -> None:
        try:
            ready = await self._standing(await self._looked_up(await self._readable(runs)))
            opened = await self._read(ready) if ready else None
            if opened is not None:
                await asyncio.gather(*(self._guarded(run, self._deliver(run, opened)) for run in ready))
        except Exception:
            log.exception("digests failed", action="digests.failed", runs=len(runs))
            await asyncio.gather(*(self._later(run) for run in runs), return_exceptions=True)

    async def _guarded(self, run: Run, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except Exception:
            log.exception("digest failed", action="digest.failed", digest=run.digest.id)
            with suppress(Exception):  # its lease ends by itself
                await self._later(run)
            return None
        finally:
            self._at_hand.pop(_key(run), None)

    async def _readable(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs whose schedule and time zone can still be read."""
        unreadable = [
            run for run in runs if run.state is RunState.CLAIMED and not periods.readable(run.digest)
        ]
        if unreadable:
            await self._stop(unreadable, Pause.SCHEDULE)
        return [run for run in runs if run not in unreadable]

    async def _looked_up(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs that are to be posted, after each that may have been is looked up."""
        sending = [run for run in runs if run.state is RunState.SENDING]
        if any(run.dead for run in sending):  # who held one may not be dead, and its post still under way
            await asyncio.sleep(LONGEST_POST)
        posted = {_key(run) for run in sending if not await self._absent(run)}
        return [run for run in runs if _key(run) not in posted]

    async def _absent(self, run: Run) -> bool:
        found = await self._poster.find(run.digest, run.due_at, run.sending_at or run.due_at)
        log.info("looked up", action="digest.looked_up", digest=run.digest.id, found=type(found).__name__)
        match found:
            case Posted(ts):
                await self._finish(run, RunState.SENT, ts=ts)
            case Absent():
                await self._store.digest_runs.unsend(run)
                return True
            case Hidden():
                await self._finish(run, RunState.UNKNOWN)
                await self._store.digests.notify(run.digest, "unsure")
            case Delayed(seconds):
                await self._later(run, seconds)
        return False

    async def _standing(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs whose channels take a message."""
        ready = []
        for owner, there in _grouped(runs, lambda run: run.digest.owner).items():
            channels = {run.digest.channel_id for run in there}
            standings = await self._poster.standings(owner, channels)
            for run in there:
                if (standing := standings[run.digest.channel_id]) is Standing.OPEN:
                    ready.append(run)
                else:
                    await self._turned_away(run, standing)
        return ready

    async def _stand(self, digest: Digest) -> Standing:
        standings = await self._poster.standings(digest.owner, {digest.channel_id})
        return standings[digest.channel_id]

    async def _turned_away(self, run: Run, standing: Standing) -> RunState | None:
        if standing is Standing.UNKNOWN:
            await self._later(run)
            return None
        await self._stop([run], Pause.OUTSIDERS if standing is Standing.SHARED else Pause.CHANNEL)
        return RunState.DROPPED

    async def _read(self, runs: Sequence[Run]) -> Opened | None:
        """What is new for all of them; None when that can't be read."""
        try:
            return await self._opened(runs)
        except NotLinked as error:
            if isinstance(error.__cause__, StoredSecretError):  # the right encryption key may come back
                log.warning("a key can't be opened", action="digest.key_unreadable")
                await asyncio.gather(*(self._later(run) for run in runs))
            else:
                # All their digests, so that it is said once.
                others = await self._store.digests.of_owner(runs[0].digest.owner)
                await self._stop(runs, Pause.KEY, others)
        except BotError as error:
            log.warning("not read", action="digest.not_read", error=str(error))
            wait = error.retry_after if isinstance(error, TooManyRequests) else None
            await asyncio.gather(*(self._later(run, wait) for run in runs))
        return None

    async def _opened(self, runs: Sequence[Run]) -> Opened:
        digests = [run.digest for run in runs]
        covered = await self._store.digest_runs.covered([digest.id for digest in digests])
        async with self._readers, self._accounts.reading(digests[0].owner) as session:
            now = self._now()
            return await read(self._client, session, digests, covered=covered, now=now)

    async def _deliver(self, run: Run, opened: Opened) -> RunState | None:
        """One run, once it is known what is new; how it ended, None when that is left for later."""
        digest = run.digest
        if why := opened.stopped.get(digest.id):
            await self._stop([run], why)
            return RunState.DROPPED
        if (name := opened.names[digest.id]) != digest.plan.project:
            await self._store.digests.rename(digest, name)
            digest = replace(digest, plan=replace(digest.plan, project=name))
            run = replace(run, digest=digest)
        if not run.asked:
            run = await self._folded(run)
        issues = opened.issues[digest.id]
        moments = [moment for moment in (digest.covered_to, opened.covered_to) if moment]
        covered_to = max(moments, default=None)
        covered = [Covered(issue.id, issue.created_on) for issue in issues if issue.created_on]
        if not issues and (run.asked or not digest.plan.empty):
            await self._finish(run, RunState.EMPTY, covered_to=covered_to)
            return RunState.EMPTY
        for _ in range(TRIES):
            async with self._poster.turn(digest, run.due_at):
                # People may have come in while it waited.
                if (standing := await self._stand(digest)) is not Standing.OPEN:
                    return await self._turned_away(run, standing)
                outcome = await self._send(run, issues, covered, covered_to)
            match outcome:
                case Posted(ts):
                    await self._finish(run, RunState.SENT, ts=ts, covered_to=covered_to, covered=covered)
                    return RunState.SENT
                case Refused(why):
                    await self._store.digest_runs.unsend(run)
                    await self._stop([run], why)
                    return RunState.DROPPED
                case Unsure():
                    await self._later(run, LOOK_AFTER.total_seconds())
                    return None
                case None:
                    await self._store.digest_runs.drop(run)
                    return RunState.DROPPED
            await self._store.digest_runs.unsend(run)
        await self._later(run)
        return None

    async def _send(
        self, run: Run, issues: tuple[Issue, ...], covered: Sequence[Covered], covered_to: datetime | None
    ) -> Outcome | None:
        """Post a run's message, having written down that it goes out; None when it must not any more."""
        now, began = self._now(), time.monotonic()
        post = self._poster.prepared(periods.edition(run, issues, now))
        begun = await self._store.digest_runs.begin_sending(
            run, covered, covered_to=covered_to, now=now, lease_until=self._lease()
        )
        if not begun:
            return None
        if time.monotonic() - began > SLOWEST_STEP:  # it stood still, and its lease may have ended
            return Delayed(0)
        return await post()

    async def _asked(self, run: Run) -> RunState | None:
        with ExitStack() as held:
            self._at_hand[_key(run)] = time.monotonic()
            held.callback(self._at_hand.pop, _key(run), None)
            try:
                if (standing := await self._stand(run.digest)) is not Standing.OPEN:
                    return await self._turned_away(run, standing)
                opened = await self._opened([run])
            except (NotLinked, ServiceError):
                await self._store.digest_runs.drop(run)
                raise
            held.pop_all()
        delivering = self._go(self._guarded(run, self._deliver(run, opened)))
        done, _ = await asyncio.wait({delivering}, timeout=PATIENCE)
        return delivering.result() if done else None

    async def _folded(self, run: Run) -> Run:
        """The run, standing for the due times too that passed while it could not be posted."""
        digest, now = run.digest, self._now()
        if digest.next_due is None or digest.next_due > now:
            return run
        later = periods.claim(digest, now)
        return await self._store.digest_runs.fold(run, later)

    async def _finish(
        self,
        run: Run,
        state: RunState,
        *,
        ts: str | None = None,
        covered_to: datetime | None = None,
        covered: Sequence[Covered] | None = None,
    ) -> None:
        """Ends a run; what isn't given is as the run wrote it down before it was sent."""
        if covered is None:
            covered = () if state is RunState.EMPTY else await self._store.digest_runs.sent(run)
        covered_to = covered_to or run.covered_to or run.digest.covered_to
        now = self._now()
        late = now - run.due_at
        on_time = late < timedelta(minutes=1) and not run.missed
        ended = await self._store.digest_runs.finish(
            run,
            state,
            ts=ts,
            covered_to=covered_to,
            forget_before=covered_to - OVERLAP if covered_to else None,
            period_from=run.due_at if on_time else now,
            history=periods.history(run.digest, [one.created_on for one in covered], now),
        )
        if ended:
            self._ended(run, state, issues=len(covered))

    def _ended(self, run: Run, state: RunState, **more: object) -> None:
        """Logs a run's end, and has it counted."""
        late = self._now() - run.due_at
        ms = round((time.monotonic() - self._at_hand.get(_key(run), time.monotonic())) * 1000)
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "ms": ms, **more}
        late_s = round(late.total_seconds(), 1)
        log.info("digest", action="digest.run", outcome=state.value, late_s=late_s, **about)
        self._on_finished(state, late)

    async def _later(self, run: Run, seconds: float | None = None) -> None:
        growing = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(run.attempts, 10))
        patient = seconds is None or run.attempts > AT_FIRST
        wait = min(LONGEST_PAUSE, max(growing if patient else 0, seconds or 0))
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "attempts": run.attempts}
        log.info("digest put off", action="digest.put_off", seconds=round(wait), **about)
        await self._store.digest_runs.later(run, self._now() + timedelta(seconds=wait))
        if run.attempts == TOLD_AFTER:
            await self._store.digests.notify(run.digest, "delayed")

    async def _stop(self, runs: Sequence[Run], why: Pause, others: Sequence[Digest] = ()) -> None:
        """End runs of one owner's digests that can't go on; `others` of theirs stop too."""
        stopping = {run.digest.id for run in runs} | {digest.id for digest in others}
        await self._store.digests.stop(runs[0].digest.owner, stopping, why)
        for run in runs:
            await self._store.digest_runs.drop(run)
            self._ended(run, RunState.DROPPED, why=why.value)

    def _tell_soon(self) -> None:
        if not self._stopping and (self._telling is None or self._telling.done()):
            self._telling = self._go(self._news.tell())


def _key(run: Run) -> tuple[int, datetime]:
    return run.digest.id, run.due_at


K = TypeVar("K")


def _grouped(these: Iterable[T], by: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = defaultdict(list)
    for one in these:
        groups[by(one)].append(one)
    return groups
