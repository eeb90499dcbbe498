"""Running digests: each due time once, whoever dies when, and each new issue in one message.

A due time is claimed in the database by one process. The owner's due digests are read together and posted by
`digest_delivery`.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Coroutine, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

import structlog

from bot.errors import NotLinked, ServiceError
from bot.features.accounts.accounts import Accounts
from bot.features.digests import periods
from bot.features.digests.clock import Clock
from bot.features.digests.content import News
from bot.features.digests.delivery import LONGEST_PAUSE, Delivery, Key, OnFinished, grouped, key
from bot.features.digests.posts import Poster, Standing
from bot.service.client import Client
from bot.store.digest_runs import Claim, Run, RunState
from bot.store.digests import Digest, Pause
from bot.store.store import Store
from bot.timings import DEFAULT, Timings

AT_HAND = 2000
"""How many runs one process has claimed at once."""
OF_ONE_OWNER = 200
PATIENCE = 1.5
"""Seconds that whoever asked for a digest waits for its message; after that it comes without them."""

log = structlog.get_logger(__name__)
T = TypeVar("T")


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
        timings: Timings = DEFAULT,
    ) -> None:
        self._store = store
        self._clock = Clock()
        self._at_hand: dict[Key, float] = {}  # since when
        self._delivery = Delivery(
            client,
            store,
            accounts,
            poster=poster,
            on_finished=on_finished,
            clock=self._clock,
            since=self._at_hand,
            timings=timings,
        )
        self._tasks: set[asyncio.Task[Any]] = set()
        self._news = News(store.digests, poster)
        self._telling: asyncio.Task[None] | None = None
        self._stopping = False
        self._aligned = False

    async def run_due(self, now: datetime) -> None:
        """Claim whatever is due at `now` (the database's clock) and set it going; `idle` waits for it."""
        if self._clock.set(now):
            self._aligned = False
        if not self._aligned:
            await self._realign(now)
            self._aligned = True
        self._tell_soon()
        held = {digest for digest, _ in self._at_hand}
        abandoned = await self._store.digest_runs.abandoned(now, AT_HAND, besides=held)
        for runs in grouped(abandoned, lambda run: run.digest.owner).values():
            self._begin(await self._store.digest_runs.take(runs, now, self._delivery.lease()))
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
        runs = await self._store.digest_runs.claim(claims, self._delivery.lease())
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
        if self._clock.set(now):
            self._aligned = False
        claim = Claim(digest=digest, due_at=now, missed=0, next_due=None)
        claimed = await self._store.digest_runs.claim([claim], self._delivery.lease())
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
        await self._store.digest_runs.release(self._clock.now())

    def _go(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin(self, runs: Sequence[Run]) -> None:
        if runs:
            self._at_hand |= dict.fromkeys(map(key, runs), time.monotonic())
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
                self._at_hand.pop(key(run), None)
            self._tell_soon()

    async def _carried_out(self, runs: Sequence[Run]) -> None:
        try:
            ready = await self._delivery.ready(runs)
            opened = await self._delivery.read(ready) if ready else None
            if opened is not None:
                await asyncio.gather(
                    *(self._guarded(run, self._delivery.deliver(run, opened)) for run in ready)
                )
        except Exception:
            log.exception("digests failed", action="digests.failed", runs=len(runs))
            await asyncio.gather(*(self._delivery.later(run) for run in runs), return_exceptions=True)

    async def _guarded(self, run: Run, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except Exception:
            log.exception("digest failed", action="digest.failed", digest=run.digest.id)
            with suppress(Exception):  # this process takes it up again once its lease has ended
                await self._delivery.later(run)
            return None
        finally:
            self._at_hand.pop(key(run), None)

    async def _asked(self, run: Run) -> RunState | None:
        with ExitStack() as held:
            self._at_hand[key(run)] = time.monotonic()
            held.callback(self._at_hand.pop, key(run), None)
            try:
                if (standing := await self._delivery.stand(run.digest)) is not Standing.OPEN:
                    return await self._delivery.turned_away(run, standing)
                opened = await self._delivery.opened([run])
            except (NotLinked, ServiceError):
                await self._store.digest_runs.drop(run)
                raise
            held.pop_all()
        delivering = self._go(self._guarded(run, self._delivery.deliver(run, opened)))
        done, _ = await asyncio.wait({delivering}, timeout=PATIENCE)
        return delivering.result() if done else None

    def _tell_soon(self) -> None:
        if not self._stopping and (self._telling is None or self._telling.done()):
            self._telling = self._go(self._news.tell())
