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
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import structlog

from bot.errors import BotError, NotLinked, ServiceError, StoredSecretError, TooManyRequests
from bot.service.client import Client
from bot.store.digest_runs import Claim, Run, RunState
from bot.store.digests import Covered, Digest, Notice, Pause
from bot.store.owner import Owner
from bot.store.store import Store
from bot.usecases import digest_periods as periods
from bot.usecases.accounts import Accounts
from bot.usecases.digest_posts import Delayed, Posted, Poster, Refused, Standing, Unsure
from bot.usecases.digest_reading import OVERLAP, Opened, read

LEASE = timedelta(seconds=90)
"""Longer than the longest post; it is renewed while the process lives."""
LOOK_AFTER = timedelta(seconds=10)
"""How soon a message whose outcome is unknown is looked up."""
LATE = timedelta(minutes=15)
"""From when on a digest says that it comes late."""
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 900.0
"""Seconds until what failed is tried again: twice as long each time."""
AT_HAND = 2000
"""How many runs one process has claimed at once."""
OF_ONE_OWNER = 200
READERS = 4
"""How many owners' projects are read at once."""
TRIES = 5
"""How often a message that Slack puts off is kept in hand."""
NOTICES = 100

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
        self._at_hand: set[tuple[int, datetime]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._set = (datetime.now(UTC), time.monotonic())

    async def run_due(self, now: datetime) -> None:
        """Claim whatever is due at `now` (the database's clock) and set it going; `idle` waits for it."""
        self._set = (now, time.monotonic())
        await self._tell()
        if self._at_hand:
            await self._store.digest_runs.renew(self._holder, now + LEASE)
        left = await self._store.digest_runs.expired(now, AT_HAND)
        left = tuple(run for run in left if _key(run) not in self._at_hand)
        for runs in _by_owner(left).values():
            taken = await self._store.digest_runs.take(runs, self._holder, now, now + LEASE)
            self._begin(taken)
        while len(self._at_hand) < AT_HAND:
            digests = await self._store.digest_runs.due(now, OF_ONE_OWNER)
            if not digests:
                return
            claims = [periods.claim(digest, now) for digest in digests]
            claimed = await self._store.digest_runs.claim(claims, self._holder, now + LEASE)
            if not claimed:  # another process was faster; what is left comes at the next tick
                return
            self._begin(claimed)

    async def run_now(self, digest: Digest) -> RunState | None:
        """Run a digest that somebody asked for between two due times; None while another run is at work.

        Raises NotLinked and ServiceError where its owner's key can't read, with nothing done.
        """
        now = await self._store.digest_runs.now()
        self._set = (now, time.monotonic())
        claim = Claim(digest=digest, due_at=now, missed=0, next_due=None)
        claimed = await self._store.digest_runs.claim([claim], self._holder, now + LEASE)
        if not claimed:
            return None
        return await self._go(self._asked(claimed[0]))

    async def idle(self) -> None:
        """Wait until everything that was set going is done."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def stop(self, seconds: float) -> None:
        """Let what is at hand finish for so long; what isn't being sent then is left to other processes."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        for task in (left := set(self._tasks)):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._store.digest_runs.release(self._holder, self._now())

    def _now(self) -> datetime:
        then, at = self._set
        return then + timedelta(seconds=time.monotonic() - at)

    def _go(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin(self, runs: Sequence[Run]) -> None:
        if runs:
            self._at_hand.update(map(_key, runs))
            self._go(self._work(runs))

    async def _work(self, runs: Sequence[Run]) -> None:
        """Runs of one owner, from being claimed to their end."""
        try:
            ready = await self._standing(await self._looked_up(runs))
            opened = await self._read(ready) if ready else None
            if opened is not None:
                await asyncio.gather(*(self._guarded(run, self._deliver(run, opened)) for run in ready))
        except Exception:
            log.exception("digests failed", action="digests.failed", runs=len(runs))
            await asyncio.gather(*(self._later(run) for run in runs), return_exceptions=True)
        finally:
            self._at_hand.difference_update(map(_key, runs))
        await self._tell()

    async def _guarded(self, run: Run, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except Exception:
            log.exception("digest failed", action="digest.failed", digest=run.digest.id)
            await self._later(run)
            return None
        finally:
            self._at_hand.discard(_key(run))

    async def _looked_up(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs that are to be posted, after each that may have been is looked up."""
        return [run for run in runs if run.state is not RunState.SENDING or await self._absent(run)]

    async def _absent(self, run: Run) -> bool:
        found = await self._poster.find(run.digest, run.due_at, run.sending_at or run.due_at)
        log.info("looked up", action="digest.looked_up", digest=run.digest.id, found=str(found))
        match found:
            case Posted(ts):
                await self._finish(run, RunState.SENT, ts=ts)
            case Unsure.ABSENT:
                await self._store.digest_runs.unsend(run)
                return True
            case Unsure.HIDDEN | Refused():
                await self._finish(run, RunState.UNKNOWN)
                await self._store.digests.unsure(run.digest)
            case Delayed(seconds):
                await self._later(run, seconds)
            case Unsure.UNSURE:
                await self._later(run)
        return False

    async def _standing(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs whose channels take a message."""
        ready = []
        for team_id, there in _grouped(runs, lambda run: run.digest.owner.team_id).items():
            channels = {run.digest.channel_id for run in there}
            standings = await self._poster.standings(team_id, channels)
            for run in there:
                match standings[run.digest.channel_id]:
                    case Standing.OPEN:
                        ready.append(run)
                    case Standing.GONE:
                        await self._stop([run], Pause.CHANNEL)
                    case Standing.SHARED:
                        await self._stop([run], Pause.OUTSIDERS)
                    case Standing.UNKNOWN:
                        await self._later(run)
        return ready

    async def _read(self, runs: Sequence[Run]) -> Opened | None:
        """What is new for all of them; None when that can't be read."""
        try:
            return await self._opened(runs)
        except NotLinked as error:
            if isinstance(error.__cause__, StoredSecretError):  # the right encryption key may come back
                log.warning("a key can't be opened", action="digest.key_unreadable")
                await asyncio.gather(*(self._later(run) for run in runs))
            else:
                await self._stop(runs, Pause.KEY, await self._store.digests.of_owner(runs[0].digest.owner))
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
        run = await self._folded(run)
        issues = opened.issues[digest.id]
        moments = [moment for moment in (digest.covered_to, opened.covered_to) if moment]
        covered_to = max(moments, default=None)
        covered = [Covered(issue.id, issue.created_on) for issue in issues if issue.created_on]
        if not issues and not digest.plan.empty:
            await self._finish(run, RunState.EMPTY, covered_to=covered_to)
            return RunState.EMPTY
        for _ in range(TRIES):
            async with self._poster.turn(digest, run.due_at):
                now = self._now()
                begun = await self._store.digest_runs.begin_sending(
                    run, covered, covered_to=covered_to, now=now, lease_until=now + LEASE
                )
                if not begun:
                    await self._store.digest_runs.drop(run)
                    return RunState.DROPPED
                outcome = await self._poster.post(periods.edition(run, issues, now))
            match outcome:
                case Posted(ts):
                    await self._finish(run, RunState.SENT, ts=ts, covered_to=covered_to, covered=covered)
                    return RunState.SENT
                case Refused(why):
                    await self._store.digest_runs.unsend(run)
                    await self._stop([run], why)
                    return RunState.DROPPED
                case Delayed():
                    await self._store.digest_runs.unsend(run)
                case _:
                    await self._store.digest_runs.later(run, self._now() + LOOK_AFTER)
                    return None
        await self._later(run)
        return None

    async def _asked(self, run: Run) -> RunState | None:
        self._at_hand.add(_key(run))
        try:
            for ready in await self._standing([run]):
                return await self._deliver(ready, await self._opened([ready]))
        except (NotLinked, ServiceError):
            await self._store.digest_runs.drop(run)
            raise
        finally:
            self._at_hand.discard(_key(run))
        return RunState.DROPPED

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
            log.info(
                "digest",
                action="digest.run",
                digest=run.digest.id,
                team=run.digest.owner.team_id,
                outcome=state.value,
                issues=len(covered),
                late_s=round(late.total_seconds(), 1),
            )
            self._on_finished(state, late)

    async def _later(self, run: Run, seconds: float | None = None) -> None:
        wait = seconds or min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(run.attempts, 10))
        await self._store.digest_runs.later(run, self._now() + timedelta(seconds=wait))

    async def _stop(self, runs: Sequence[Run], why: Pause, others: Sequence[Digest] = ()) -> None:
        """Ends runs of digests that can't go on; `others` stop with them, so that it is said once."""
        stopping = {run.digest.id for run in runs} | {digest.id for digest in others}
        await self._store.digests.stop(stopping, why)
        for run in runs:
            await self._store.digest_runs.drop(run)
            log.info("digest stopped", action="digest.stopped", digest=run.digest.id, why=why.value)
            self._on_finished(RunState.DROPPED, self._now() - run.due_at)

    async def _tell(self) -> None:
        """Have people told what became of their digests, once."""
        to_owners = await self._store.digests.owners_to_tell(NOTICES)
        for (_, notice), those in _grouped(to_owners, lambda one: (one[0].owner, one[1])).items():
            self._go(self._tell_owner([digest for digest, _ in those], notice))
        to_channels = await self._store.digests.channels_to_tell(NOTICES)
        for told in _grouped(to_channels, lambda one: (one.owner.team_id, one.channel_id)).values():
            self._go(self._tell_channel(told))

    async def _tell_owner(self, digests: Sequence[Digest], notice: Notice) -> None:
        if not await self._poster.tell_owner(digests, notice):
            await self._store.digests.tell_owners_later([digest.id for digest in digests], notice)

    async def _tell_channel(self, digests: Sequence[Digest]) -> None:
        if not await self._poster.tell_channel(digests):
            await self._store.digests.tell_channels_later([digest.id for digest in digests])


def _key(run: Run) -> tuple[int, datetime]:
    return run.digest.id, run.due_at


K = TypeVar("K")


def _grouped(these: Iterable[T], by: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = defaultdict(list)
    for one in these:
        groups[by(one)].append(one)
    return groups


def _by_owner(runs: Iterable[Run]) -> dict[Owner, list[Run]]:
    return _grouped(runs, lambda run: run.digest.owner)
