"""Delivering digests: one owner's runs are looked up, read and posted, and each is settled in the database.

Before a message goes out, its run says so there, with what the message covers; a run that is found there
without its outcome is looked up in the channel before anything is posted again (`store.digest_runs`).
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import structlog

from bot.errors import BotError, NotLinked, StoredSecretError, TooManyRequests
from bot.features.accounts.accounts import Accounts
from bot.features.digests import periods
from bot.features.digests.clock import Clock
from bot.features.digests.posts import (
    Absent,
    Hidden,
    Outcome,
    Posted,
    Poster,
    Refused,
    Standing,
    Unfinished,
    Unsure,
)
from bot.features.digests.reading import OVERLAP, Opened, read
from bot.service.client import Client
from bot.service.models import Issue
from bot.store.digest_runs import Run, RunState
from bot.store.digests import Covered, Digest, Pause
from bot.store.store import Store
from bot.timings import Timings

FIRST_PAUSE, LONGEST_PAUSE = 15.0, 900.0
"""Seconds until what failed is tried again: twice as long each time."""
AT_FIRST = 3
"""How often it is tried again as soon as is said, before the waits grow."""
READERS = 4
"""How many owners' projects are read at once."""
TRIES = 5
"""How often a message that Slack puts off is kept in hand."""
TOLD_AFTER = 100
"""After how many failures, in about a day, the owner of a digest that can't be posted is told."""

log = structlog.get_logger(__name__)
K = TypeVar("K")
T = TypeVar("T")
OnFinished = Callable[[RunState, timedelta], None]
Key = tuple[int, datetime]


class Delivery:
    """Takes runs that this process has claimed to their end, or puts them off.

    `since` has when each was claimed, on the monotonic clock; `on_finished` is told each run's state and its
    lateness.
    """

    def __init__(
        self,
        client: Client,
        store: Store,
        accounts: Accounts,
        *,
        poster: Poster,
        on_finished: OnFinished,
        clock: Clock,
        since: Mapping[Key, float],
        timings: Timings,
    ) -> None:
        self._client = client
        self._store = store
        self._accounts = accounts
        self._poster = poster
        self._on_finished = on_finished
        self._clock = clock
        self._since = since
        self._timings = timings
        self._readers = asyncio.Semaphore(READERS)

    def lease(self) -> datetime:
        """Until when a message that is announced now may be on its way, by the database's clock."""
        return self._clock.now() + timedelta(seconds=self._timings.longest_post)

    async def ready(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs that are to be posted; the others are ended or put off."""
        return await self._standing(await self._looked_up(await self._readable(runs)))

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
        posted = {key(run) for run in sending if not await self._absent(run)}
        return [run for run in runs if key(run) not in posted]

    async def _absent(self, run: Run) -> bool:
        sending_at = run.sending_at or run.due_at
        within = (sending_at, sending_at + timedelta(seconds=self._timings.longest_post))
        found = await self._poster.find(run.digest, run.due_at, within, run.searched_to)
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
            case Unfinished(seconds, searched_to):
                await self.later(run, seconds, searched_to)
        return False

    async def _standing(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs whose channels take a message."""
        ready = []
        for owner, there in grouped(runs, lambda run: run.digest.owner).items():
            channels = {run.digest.channel_id for run in there}
            standings = await self._poster.standings(owner, channels)
            for run in there:
                if (standing := standings[run.digest.channel_id]) is Standing.OPEN:
                    ready.append(run)
                else:
                    await self.turned_away(run, standing)
        return ready

    async def stand(self, digest: Digest) -> Standing:
        """Whether a digest's channel takes a message."""
        standings = await self._poster.standings(digest.owner, {digest.channel_id})
        return standings[digest.channel_id]

    async def turned_away(self, run: Run, standing: Standing) -> RunState | None:
        """Settle a run whose channel takes no message; how it ended, None when it is left for later."""
        if standing is Standing.UNKNOWN:
            await self.later(run)
            return None
        await self._stop([run], Pause.OUTSIDERS if standing is Standing.SHARED else Pause.CHANNEL)
        return RunState.DROPPED

    async def read(self, runs: Sequence[Run]) -> Opened | None:
        """What is new for all of them; None when that can't be read, and they are ended or put off."""
        try:
            return await self.opened(runs)
        except NotLinked as error:
            if isinstance(error.__cause__, StoredSecretError):  # the right encryption key may come back
                log.warning("a key can't be opened", action="digest.key_unreadable")
                await asyncio.gather(*(self.later(run) for run in runs))
            else:
                # All their digests, so that it is said once.
                others = await self._store.digests.of_owner(runs[0].digest.owner)
                await self._stop(runs, Pause.KEY, others)
        except BotError as error:
            log.warning("not read", action="digest.not_read", error=str(error))
            wait = error.retry_after if isinstance(error, TooManyRequests) else None
            await asyncio.gather(*(self.later(run, wait) for run in runs))
        return None

    async def opened(self, runs: Sequence[Run]) -> Opened:
        """What is new for runs of one owner. Raises NotLinked and ServiceError."""
        digests = [run.digest for run in runs]
        covered = await self._store.digest_runs.covered([digest.id for digest in digests])
        async with self._readers, self._accounts.reading(digests[0].owner) as session:
            now = self._clock.now()
            found = await read(self._client, session, digests, covered=covered, now=now)
        return found.without(await self._store.created_issues.refused_privacy())

    async def deliver(self, run: Run, opened: Opened) -> RunState | None:
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
                if (standing := await self.stand(digest)) is not Standing.OPEN:
                    return await self.turned_away(run, standing)
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
                    await self.later(run, self._timings.look_up_after)
                    return None
                case None:
                    await self._store.digest_runs.drop(run)
                    return RunState.DROPPED
            await self._store.digest_runs.unsend(run)
        await self.later(run)
        return None

    async def _send(
        self, run: Run, issues: tuple[Issue, ...], covered: Sequence[Covered], covered_to: datetime | None
    ) -> Outcome | None:
        """Post a run's message, having written down that it goes out; None when it must not any more."""
        now, began = self._clock.now(), time.monotonic()
        post = self._poster.prepared(periods.edition(run, issues, now))
        begun = await self._store.digest_runs.begin_sending(
            run,
            covered,
            covered_to=covered_to,
            sending_at=self._poster.slack_time() or now,
            lease_until=self.lease(),
        )
        if not begun:
            return None
        # Another process may look for the message once the lease has ended: by then the post is over.
        longest = self._timings.longest_post
        try:
            async with asyncio.timeout_at(began + longest):
                return await post(began + longest / 2)
        except TimeoutError:
            return Unsure()

    async def _folded(self, run: Run) -> Run:
        """The run, standing for the due times too that passed while it could not be posted."""
        digest, now = run.digest, self._clock.now()
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
        now = self._clock.now()
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
        late = self._clock.now() - run.due_at
        ms = round((time.monotonic() - self._since.get(key(run), time.monotonic())) * 1000)
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "ms": ms, **more}
        late_s = round(late.total_seconds(), 1)
        log.info("digest", action="digest.run", outcome=state.value, late_s=late_s, **about)
        self._on_finished(state, late)

    async def later(self, run: Run, seconds: float | None = None, searched_to: str | None = None) -> None:
        """Put a run off: for so many seconds at first, longer each time."""
        growing = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(run.attempts, 10))
        patient = seconds is None or run.attempts > AT_FIRST
        wait = min(LONGEST_PAUSE, max(growing if patient else 0, seconds or 0))
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "attempts": run.attempts}
        log.info("digest put off", action="digest.put_off", seconds=round(wait), **about)
        await self._store.digest_runs.later(run, self._clock.now() + timedelta(seconds=wait), searched_to)
        if run.attempts == TOLD_AFTER:
            await self._store.digests.notify(run.digest, "delayed")

    async def _stop(self, runs: Sequence[Run], why: Pause, others: Sequence[Digest] = ()) -> None:
        """End runs of one owner's digests that can't go on; `others` of theirs stop too."""
        stopping = {run.digest.id for run in runs} | {digest.id for digest in others}
        await self._store.digests.stop(runs[0].digest.owner, stopping, why)
        for run in runs:
            await self._store.digest_runs.drop(run)
            self._ended(run, RunState.DROPPED, why=why.value)


def key(run: Run) -> Key:
    """What tells a run from all others."""
    return run.digest.id, run.due_at


def grouped(these: Iterable[T], by: Callable[[T], K]) -> dict[K, list[T]]:
    """The same by what `by` says of each, in their order."""
    groups: dict[K, list[T]] = defaultdict(list)
    for one in these:
        groups[by(one)].append(one)
    return groups
