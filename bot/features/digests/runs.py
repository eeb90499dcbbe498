"""Runs digests: each due time once, even if processes crash, and each new issue in exactly one message.

One process claims a due time in the database (`store/digest_runs.py`). `delivery` reads an owner's due
digests together and posts them.
"""

import asyncio
import secrets
import time
from collections import defaultdict
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

import structlog

from bot.errors import NotLinked, ServiceError
from bot.features.digests import periods
from bot.features.digests.delivery import LONGEST_BACKOFF, Delivery
from bot.features.digests.notice_sender import NoticeSender
from bot.features.digests.reading import Content
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.store.digest_runs import Claim, Run, RunState
from bot.store.digests import Digest, Pause
from bot.store.owner import Owner

MAX_IN_FLIGHT = 2000
"""How many runs one process may have claimed at a time."""
BATCH = 200
"""How many digests are claimed or rescheduled at a time."""

log = structlog.get_logger(__name__)
T = TypeVar("T")


class DigestRuns:
    """Runs digests in one process.

    A user waits `now_seconds` for a digest that they asked for; after that it is posted in the background.
    """

    def __init__(self, delivery: Delivery, now_seconds: float) -> None:
        self._delivery = delivery
        self._now_seconds = now_seconds
        self._store = delivery.store
        self._clock = delivery.clock
        self._in_flight = delivery.in_flight
        self._tasks: set[asyncio.Task[Any]] = set()
        self._notices = NoticeSender(delivery.store.digests, delivery.poster)
        self._sending: asyncio.Task[None] | None = None
        self._stopping = False

    async def run_due(self, now: datetime) -> None:
        """Claim and start the digests due at `now`, by the database's clock; `idle` waits for them."""
        self._clock.set(now)
        if self._clock.suspect:
            await self._realign(now)
            self._clock.suspect = False
        self._send_notices()
        held = {digest for digest, _ in self._in_flight}
        abandoned = await self._store.digest_runs.abandoned(now, MAX_IN_FLIGHT, excluding=held)
        by_owner: dict[Owner, list[Run]] = defaultdict(list)
        for run in abandoned:
            by_owner[run.digest.owner].append(run)
        for runs in by_owner.values():
            self._start_runs(await self._store.digest_runs.take_over(runs, now, self._delivery.lease_until()))
        while len(self._in_flight) < MAX_IN_FLIGHT:
            digests = await self._store.digest_runs.due(now, BATCH)
            if not digests or not await self._start_due(digests, now):
                return  # nothing is left, or another process claimed it

    async def _start_due(self, digests: Sequence[Digest], now: datetime) -> bool:
        """Claim and start one owner's due digests; whether any were claimed or stopped."""
        readable = [digest for digest in digests if periods.readable(digest)]
        unreadable = {digest.id for digest in digests} - {digest.id for digest in readable}
        if unreadable:
            log.warning("digest schedule can't be read", action="digest.no_times", digests=sorted(unreadable))
            await self._store.digests.stop(digests[0].owner, unreadable, Pause.SCHEDULE)
        claims = [periods.due_period(digest, now) for digest in readable]
        runs = await self._store.digest_runs.claim(claims, self._delivery.lease_until())
        self._start_runs(runs)
        return bool(runs or unreadable)

    async def _realign(self, now: datetime) -> None:
        """Recalculate due times and leases that were set while the clock was ahead."""
        await self._store.digest_runs.expire_future_leases(now, now + 2 * timedelta(seconds=LONGEST_BACKOFF))
        after = 0
        while digests := await self._store.digests.scheduled(after, BATCH):
            after = digests[-1].id
            for digest in digests:
                await asyncio.sleep(0)
                if (sooner := periods.sooner(digest, now)) is not None:
                    await self._store.digests.reschedule(digest, sooner)

    async def run_now(self, digest: Digest) -> RunState | None:
        """Run a digest between two due times; its final state, None if another run is in flight or this one
        continues in the background.

        Raises NotLinked and ServiceError if the owner's key can't read the project; nothing is posted then.
        """
        now = await self._store.digest_runs.now()
        self._clock.set(now)
        claim = Claim(digest=digest, due_at=now, missed=0, next_due=None)
        claimed = await self._store.digest_runs.claim([claim], self._delivery.lease_until())
        if not claimed:
            return None
        return await self._start(self._run_asked(claimed[0]))

    async def idle(self) -> None:
        """Wait until all runs in flight are done."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def stop(self, seconds: float) -> None:
        """Give runs in flight `seconds` to finish, then release those not yet sent to other processes."""
        self._stopping = True
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        for task in (left := set(self._tasks)):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._store.digest_runs.release(self._clock.now())

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _start_runs(self, runs: Sequence[Run]) -> None:
        if runs:
            self._in_flight |= dict.fromkeys((run.key for run in runs), time.monotonic())
            self._start(self._run_logged(runs))

    async def _run_logged(self, runs: Sequence[Run]) -> None:
        """Carry out runs of one owner; all their log lines share one reference."""
        owner = runs[0].digest.owner
        who = {"reference": secrets.token_hex(4), "team": owner.team_id, "user": owner.user_id}
        try:
            with structlog.contextvars.bound_contextvars(**who):
                await self._run(runs)
        finally:
            for run in runs:
                self._in_flight.pop(run.key, None)
            self._send_notices()

    async def _run(self, runs: Sequence[Run]) -> None:
        try:
            ready = await self._delivery.ready(runs)
            contents = await self._delivery.read(ready) if ready else None
            if contents is not None:
                work = (self._delivered(run, contents[run.digest.id]) for run in ready)
                await asyncio.gather(*work)
        except Exception:
            log.exception("digest runs failed", action="digests.failed", runs=len(runs))
            await asyncio.gather(*(self._delivery.postpone(run) for run in runs), return_exceptions=True)

    async def _delivered(self, run: Run, content: Content | Pause) -> RunState | None:
        """Deliver a run, or postpone it on an error."""
        try:
            return await self._delivery.deliver(run, content)
        except Exception:
            log.exception("digest run failed", action="digest.failed", digest=run.digest.id)
            with suppress(Exception):  # this process takes it over once its lease has ended
                await self._delivery.postpone(run)
            return None
        finally:
            self._in_flight.pop(run.key, None)

    async def _run_asked(self, run: Run) -> RunState | None:
        self._in_flight[run.key] = time.monotonic()
        delivering = None
        try:
            channel_status = await self._delivery.channel_status(run.digest)
            if channel_status is not ChannelStatus.OPEN:
                return await self._delivery.settle_closed(run, channel_status)
            contents = await self._delivery.contents([run], background=False)
            delivering = self._start(self._delivered(run, contents[run.digest.id]))
        except (NotLinked, ServiceError):
            await self._store.digest_runs.drop(run)
            raise
        finally:
            if delivering is None:
                self._in_flight.pop(run.key, None)
        done, _ = await asyncio.wait({delivering}, timeout=self._now_seconds)
        return delivering.result() if done else None

    def _send_notices(self) -> None:
        if not self._stopping and (self._sending is None or self._sending.done()):
            self._sending = self._start(self._notices.send())
