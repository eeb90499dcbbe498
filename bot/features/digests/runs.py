"""Runs digests: each due time once, even if processes crash, and each new issue in exactly one message.

One process claims a due time in the database (`store/digest_runs.py`); an owner's are read together. Before a
message is posted, its run is marked as sending, with the issues that the message covers. A run still marked
so is looked up in the channel before anything is posted again.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.access.access import Access
from bot.access.accounts import Session
from bot.errors import KeySuspended, KeyUnreadable, NotLinked, ServiceError, TooManyRequests
from bot.features.background import Background
from bot.features.digests import reading
from bot.features.digests.channels import DigestPoster
from bot.features.digests.reading import (
    OVERLAP,
    Content,
    Edition,
    Reader,
    due_period,
    readable,
    sooner,
)
from bot.features.digests.saved_queries import too_large
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.store.digest_runs import Run, RunClaim, RunState
from bot.store.digests import Digest, Pause
from bot.store.owner import Owner

MAX_IN_FLIGHT = 2000  # how many runs one process may have claimed at a time
BATCH = 200  # how many digests are claimed or rescheduled at a time
FIRST_BACKOFF, LONGEST_BACKOFF = 15.0, 900.0
"""Seconds until a failed run is retried; the wait doubles each time."""
QUICK_RETRIES = 3
"""How many retries may come as soon as Slack or the service asks for, before the backoff applies."""
NOTIFY_AFTER = 100  # after how many failed attempts, about a day's worth, the owner is notified

CLOSED = {ChannelStatus.GONE: Pause.CHANNEL, ChannelStatus.SHARED: Pause.OUTSIDERS, None: Pause.REFUSED}
"""Why digests stop whose channel has become so, or whose post Slack refuses for another reason."""

log = structlog.get_logger(__name__)
OnFinished = Callable[[str, timedelta], None]


class DigestRuns(Background[Run, Content | Pause]):
    """Runs digests in one process. `on_finished` gets each run's outcome and how late it was.

    A user waits `Delays.digest_now` for a digest that they asked for; after that it is posted in the
    background.
    """

    name = "digest"
    readers = 4

    def __init__(self, access: Access, poster: DigestPoster, on_finished: OnFinished) -> None:
        super().__init__(access)
        self.poster, self.on_finished = poster, on_finished
        self._runs, self._digests = access.store.digest_runs, access.store.digests

    async def due(self, now: datetime) -> AsyncIterator[Sequence[Run]]:
        """Claim the runs that no live process holds, then due times."""
        held = {run.digest.id for run in self.in_flight.values()}
        by_owner: dict[Owner, list[Run]] = defaultdict(list)
        for run in await self._runs.abandoned(now, MAX_IN_FLIGHT, excluding=held):
            by_owner[run.owner].append(run)
        for runs in by_owner.values():
            if taken := await self._runs.take_over(runs, now, self.lease_until()):
                yield taken
        while len(self.in_flight) < MAX_IN_FLIGHT and (digests := await self._runs.due(now, BATCH)):
            stopped = await self._stop_unreadable(digests)
            claims = [due_period(digest, now) for digest in digests if digest.id not in stopped]
            if claimed := await self._runs.claim(claims, self.lease_until()):
                yield claimed
            elif not stopped:
                return  # another process claimed what is left

    async def _stop_unreadable(self, digests: Sequence[Digest]) -> set[int]:
        """Stop those of one owner's digests whose schedule can't be read; returns their IDs."""
        found = {digest.id for digest in digests if not readable(digest)}
        if found:
            log.warning("digest schedule can't be read", action="digest.no_times", digests=sorted(found))
            await self._digests.stop(digests[0].owner, found, Pause.SCHEDULE)
        return found

    async def realign(self, now: datetime) -> None:
        await self._runs.realign(now, now + 2 * timedelta(seconds=LONGEST_BACKOFF))
        after = 0
        while digests := await self._digests.scheduled(after, BATCH):
            after = digests[-1].id
            for digest in digests:
                await asyncio.sleep(0)
                if (coming := sooner(digest, now)) is not None:
                    await self._digests.reschedule(digest, coming)

    async def run_now(self, digest: Digest) -> RunState | None:
        """Run a digest between two due times; its final state, None if another run is in flight or this one
        continues in the background.

        Raises NotLinked and ServiceError if the owner's key can't read the project; nothing is posted then.
        """
        now = await self.access.store.processes.now()
        self.clock.set(now)
        claim = RunClaim(digest=digest, due_at=now, missed=0, next_due=None)
        claimed = await self._runs.claim([claim], self.lease_until())
        if not claimed:
            return None
        return await self.start(self._run_asked(claimed[0]))

    async def _run_asked(self, run: Run) -> RunState | None:
        self.in_flight[run.key] = run
        delivering = None
        try:
            channel_status = await self.poster.channel_status(run.owner, run.digest.channel_id)
            if channel_status is not ChannelStatus.OPEN:
                return await self._settle_closed(run, channel_status)
            async with self.reading:
                ((_, content),) = await self.read([run], background=False)
            delivering = self.start(self.posted(run, content))
        except (NotLinked, ServiceError):
            await self._runs.drop(run)
            raise
        finally:
            if delivering is None:
                self.in_flight.pop(run.key, None)
        done, _ = await asyncio.wait({delivering}, timeout=self.access.delays.digest_now)
        state = delivering.result() if done else None
        return state if isinstance(state, RunState) else None

    async def release(self) -> None:
        await self._runs.release(self.clock.now())

    async def failed(self, items: Sequence[Run], error: Exception) -> None:
        """Postpone runs; without a key, stop all of the owner's digests, so that they get one notice."""
        match error:
            case KeySuspended(retry_after=seconds):  # the owner isn't told of any delay
                until = self.clock.now() + timedelta(seconds=min(LONGEST_BACKOFF, seconds))
                await asyncio.gather(*(self._runs.retry_later(run, until) for run in items))
            case NotLinked() if not isinstance(error, KeyUnreadable):
                await self._stop(items, Pause.KEY, await self._digests.of_owner(items[0].owner))
            case _:  # for a key that can't be decrypted, the operator may restore the right encryption key
                wait = error.retry_after if isinstance(error, TooManyRequests) else None
                await asyncio.gather(*(self._postpone(run, wait) for run in items))

    async def ready(self, items: Sequence[Run]) -> Sequence[Run]:
        """The runs to post; the others are finished or postponed."""
        channels: dict[str, ChannelStatus] = {}  # of one owner
        return [run for run in items if await self._is_ready(run, channels)]

    async def _is_ready(self, run: Run, channels: dict[str, ChannelStatus]) -> bool:
        if run.state is RunState.SENDING and not await self._is_absent(run):
            return False
        if not readable(run.digest):
            await self._stop([run], Pause.SCHEDULE)
            return False
        channel = run.digest.channel_id
        if channel not in channels:
            channels[channel] = await self.poster.channel_status(run.owner, channel)
        if channels[channel] is not ChannelStatus.OPEN:
            await self._settle_closed(run, channels[channel])
        return channels[channel] is ChannelStatus.OPEN

    async def _is_absent(self, run: Run) -> bool:
        """Whether a run that may have been posted isn't in its channel; if it is, the run is settled."""
        sending_at = run.sending_at or run.due_at
        within = (sending_at, sending_at + timedelta(seconds=self.access.timings.longest_post))
        found = await self.poster.find(run.digest, run.due_at, within, run.searched_to)
        log.info(
            "digest post looked up",
            action="digest.looked_up",
            digest=run.digest.id,
            found=type(found).__name__,
        )
        match found:
            case outcomes.Posted(ts):
                await self._finish(run, RunState.SENT, ts=ts)
            case outcomes.Absent():
                await self._runs.undo_sending(run)
                return True
            case outcomes.Hidden():
                await self._finish(run, RunState.UNKNOWN)
                await self._digests.notify(run.digest, "unsure")
            case outcomes.Unfinished(seconds, searched_to):
                await self._postpone(run, seconds, searched_to)
        return False

    async def _settle_closed(self, run: Run, channel_status: ChannelStatus) -> RunState | None:
        """Settle a run whose channel doesn't accept digests; its final state, None if postponed."""
        if channel_status is ChannelStatus.UNKNOWN:
            await self._postpone(run)
            return None
        await self._stop([run], CLOSED[channel_status])
        return RunState.DROPPED

    async def read(
        self, items: Sequence[Run], *, background: bool = True
    ) -> Sequence[tuple[Run, Content | Pause]]:
        """What one owner's runs list. Raises NotLinked, ServiceError."""
        digests = [run.digest for run in items]
        covered = await self._runs.covered([digest.id for digest in digests])
        async with self.access.accounts.reading(digests[0].owner, background=background) as session:
            found = await (await self._reader(session)).read(digests, covered)
        return [(run, found[run.digest.id]) for run in items]

    async def _reader(self, session: Session) -> Reader:
        hidden = await self.access.store.created_issues.refused_privacy()
        return Reader(self.access.client, session, self.clock.now(), hidden)

    async def post(self, item: Run, content: Content | Pause) -> RunState | None:
        """Post what one run lists; its final state, None if postponed."""
        run = await self._current(item, content) if isinstance(content, Content) else item
        latest: list[Content | RunState | None] = [await self._listed(run, content)]

        async def ready() -> Edition | None:
            known = latest[-1]
            if isinstance(known, Content) and time.monotonic() - known.read_at > self.access.timings.fresh:
                latest.append(known := await self._listed_again(run, known))
            return await self._ready(run, known) if isinstance(known, Content) else None

        outcome = None
        if isinstance(latest[-1], Content):
            outcome = await self.poster.post(run.digest, run.due_at, ready)
        if not isinstance(listed := latest[-1], Content):
            return listed
        match outcome:
            case outcomes.Posted(ts):
                await self._finish(run, RunState.SENT, listed, ts=ts)
                return RunState.SENT
            case outcomes.PostRefused(status):
                await self._runs.undo_sending(run)
                await self._stop([run], CLOSED[status])
                return RunState.DROPPED
            case outcomes.Unsure():
                await self._postpone(run, self.access.timings.look_up_after)
            case None:
                await self._runs.undo_sending(run)
                await self._runs.drop(run)
                return RunState.DROPPED
            case _:
                await self._runs.undo_sending(run)
                await self._postpone(run)
        return None

    async def _listed(self, run: Run, content: Content | Pause) -> Content | RunState:
        """What a run posts; its final state if that's nothing."""
        digest = run.digest
        if isinstance(content, Pause):
            await self._stop([run], content)
            return RunState.DROPPED
        moments = [moment for moment in (digest.covered_to, content.covered_to) if moment]
        content = replace(content, covered_to=max(moments, default=None))
        nothing = not content.issues and not too_large(content)
        if nothing and (run.asked or not digest.plan.empty):
            await self._finish(run, RunState.EMPTY, content)
            return RunState.EMPTY
        return content

    async def _listed_again(self, run: Run, content: Content) -> Content | RunState | None:
        """As `_listed`, of what of it is still public. None if the run is postponed or stopped.

        Reads little, since the channel's turn has come: the key isn't verified, and shows what everyone can
        see if it no longer works.
        """
        await self._runs.undo_sending(run)
        now = await self.read_or_put_off([run], self._as_public(run.digest, content))
        if now is Pause.PROJECT:  # or the key no longer works, which the next read tells
            await self._postpone(run)
            return None
        return None if now is None else await self._listed(run, now)

    async def _as_public(self, digest: Digest, content: Content) -> Content | Pause:
        link = await self.access.store.links.required(digest.owner)
        session = Session(digest.owner, link.key, link.user_id, link.name)
        return await (await self._reader(session)).as_public(digest, content)

    async def _ready(self, run: Run, content: Content) -> Edition | None:
        """What a run posts, marked as sending; None if the run is no longer this process's to post."""
        now = self.clock.now()
        begun = await self._runs.begin_sending(
            run,
            content.covered,
            covered_to=content.covered_to,
            seen=content.seen,
            sending_at=self.poster.slack_time() or now,
            lease_until=self.lease_until(),
        )
        return reading.edition(run, content, now) if begun else None

    async def _current(self, run: Run, content: Content) -> Run:
        """The run with the project's current name, merged with the due times that passed meanwhile."""
        if content.project != run.digest.plan.project:
            await self._digests.rename(run.digest, content.project)
            plan = replace(run.digest.plan, project=content.project)
            run = replace(run, digest=replace(run.digest, plan=plan))
        digest, now = run.digest, self.clock.now()
        if run.asked or digest.next_due is None or digest.next_due > now:
            return run
        claim = due_period(digest, now)
        return await self._runs.merge_missed(run, claim)

    async def _finish(
        self, run: Run, state: RunState, content: Content | None = None, *, ts: str | None = None
    ) -> None:
        """Finish a run; `content` defaults to what was recorded before it was sent."""
        if content is None:
            content = Content(
                project=run.digest.plan.project,
                covered=await self._runs.sent(run),
                covered_to=run.covered_to,
                seen=run.seen,
            )
        covered_to = content.covered_to or run.digest.covered_to
        now = self.clock.now()
        late = now - run.due_at
        on_time = late < timedelta(minutes=1) and not run.missed
        ended = await self._runs.finish(
            run,
            state,
            ts=ts,
            covered_to=covered_to,
            seen=content.seen,
            forget_before=covered_to - OVERLAP if covered_to else None,
            period_from=run.due_at if on_time else now,
            history=reading.history(run.digest, [one.at for one in content.covered], now),
        )
        if ended:
            outcome = "too_large" if too_large(content) else state.value
            self._record(run, outcome, issues=len(content.issues or content.covered))

    def _record(self, run: Run, outcome: str, **more: object) -> None:
        late = self.clock.now() - run.due_at
        ms = round((time.monotonic() - run.claimed_at) * 1000)
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "ms": ms, **more}
        late_s = round(late.total_seconds(), 1)
        log.info("digest finished", action="digest.run", outcome=outcome, late_s=late_s, **about)
        self.on_finished(outcome, late)

    async def _postpone(self, run: Run, seconds: float | None = None, searched_to: str | None = None) -> None:
        """Postpone a run: for `seconds` at first, for longer with each retry."""
        backoff = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** min(run.attempts, 10))
        backs_off = seconds is None or run.attempts > QUICK_RETRIES
        wait = min(LONGEST_BACKOFF, max(backoff if backs_off else 0, seconds or 0))
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "attempts": run.attempts}
        log.info("digest postponed", action="digest.put_off", seconds=round(wait), **about)
        await self._runs.retry_later(run, self.clock.now() + timedelta(seconds=wait), searched_to)
        if run.attempts == NOTIFY_AFTER:
            await self._digests.notify(run.digest, "delayed")

    async def _stop(self, runs: Sequence[Run], why: Pause, others: Sequence[Digest] = ()) -> None:
        """Stop one owner's digests and drop their `runs`; `others` of theirs are stopped, too."""
        stopping = {run.digest.id for run in runs} | {digest.id for digest in others}
        await self._digests.stop(runs[0].digest.owner, stopping, why)
        for run in runs:
            await self._runs.drop(run)
            self._record(run, RunState.DROPPED.value, why=why.value)
