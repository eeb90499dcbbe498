"""Delivers digests: reads and posts one owner's runs, and records the outcome of each in the database.

Before a message is posted, its run is marked as sending, with the issues that the message covers. A run still
marked so is looked up in the channel before anything is posted again (`store.digest_runs`).
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from bot.errors import BotError, KeySuspended, KeyUnreadable, NotLinked, TooManyRequests
from bot.features.accounts.accounts import Accounts
from bot.features.digests import periods
from bot.features.digests.posts import Edition, Poster
from bot.features.digests.reading import OVERLAP, Content, read
from bot.service.client import Client
from bot.slack.outgoing.outcomes import (
    Absent,
    ChannelStatus,
    Hidden,
    Posted,
    Refused,
    Unfinished,
    Unsure,
)
from bot.store.clock import Clock
from bot.store.digest_runs import Run, RunState
from bot.store.digests import Digest, Pause
from bot.store.store import Store
from bot.timings import DEFAULT, Timings

FIRST_BACKOFF, LONGEST_BACKOFF = 15.0, 900.0
"""Seconds until a failed run is retried; the wait doubles each time."""
QUICK_RETRIES = 3
"""How many retries may come as soon as Slack or the service asks for, before the backoff applies."""
READERS = 4
"""How many owners' digests are read from the service at once."""
NOTIFY_AFTER = 100
"""After how many failed attempts, about a day's worth, the owner is notified."""

CLOSED = {
    ChannelStatus.GONE: Pause.CHANNEL,
    ChannelStatus.SHARED: Pause.OUTSIDERS,
    None: Pause.REFUSED,
}
"""Why digests stop whose channel has become so, or whose post Slack refuses for another reason."""

log = structlog.get_logger(__name__)
OnFinished = Callable[[RunState, timedelta], None]
Contents = Mapping[int, Content | Pause]
"""What digests list, by digest ID, or why they stop."""


@dataclass
class Delivery:
    """Delivers runs that this process has claimed, or postpones them.

    `on_finished` gets each run's final state and how late it was. `in_flight` has when each run was claimed,
    on the monotonic clock.
    """

    client: Client
    store: Store
    accounts: Accounts
    poster: Poster
    on_finished: OnFinished
    timings: Timings = DEFAULT
    clock: Clock = field(default_factory=Clock)
    in_flight: dict[tuple[int, datetime], float] = field(default_factory=dict)
    _readers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(READERS), init=False)

    def lease_until(self) -> datetime:
        """The latest time, by the database's clock, when a message sent now may still arrive."""
        return self.clock.now() + timedelta(seconds=self.timings.longest_post)

    async def ready(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs to post; the others are finished or postponed."""
        channels: dict[str, ChannelStatus] = {}  # of one owner
        return [run for run in runs if await self._is_ready(run, channels)]

    async def _is_ready(self, run: Run, channels: dict[str, ChannelStatus]) -> bool:
        if run.state is RunState.SENDING and not await self._is_absent(run):
            return False
        if not periods.readable(run.digest):
            await self._stop([run], Pause.SCHEDULE)
            return False
        channel = run.digest.channel_id
        if channel not in channels:
            channels[channel] = await self.channel_status(run.digest)
        if channels[channel] is not ChannelStatus.OPEN:
            await self.settle_closed(run, channels[channel])
        return channels[channel] is ChannelStatus.OPEN

    async def _is_absent(self, run: Run) -> bool:
        """Whether a run that may have been posted isn't in its channel; if it is, the run is settled."""
        sending_at = run.sending_at or run.due_at
        within = (sending_at, sending_at + timedelta(seconds=self.timings.longest_post))
        found = await self.poster.find(run.digest, run.due_at, within, run.searched_to)
        log.info(
            "digest post looked up",
            action="digest.looked_up",
            digest=run.digest.id,
            found=type(found).__name__,
        )
        match found:
            case Posted(ts):
                await self._finish(run, RunState.SENT, ts=ts)
            case Absent():
                await self.store.digest_runs.undo_sending(run)
                return True
            case Hidden():
                await self._finish(run, RunState.UNKNOWN)
                await self.store.digests.notify(run.digest, "unsure")
            case Unfinished(seconds, searched_to):
                await self.postpone(run, seconds, searched_to)
        return False

    async def channel_status(self, digest: Digest) -> ChannelStatus:
        """Whether a digest's channel accepts digests."""
        return await self.poster.channel_status(digest.owner, digest.channel_id)

    async def settle_closed(self, run: Run, channel_status: ChannelStatus) -> RunState | None:
        """Settle a run whose channel doesn't accept digests; its final state, None if postponed."""
        if channel_status is ChannelStatus.UNKNOWN:
            await self.postpone(run)
            return None
        await self._stop([run], CLOSED[channel_status])
        return RunState.DROPPED

    async def read(self, runs: Sequence[Run]) -> Contents | None:
        """What one owner's runs list; None if unreadable, and the runs are finished or postponed."""
        try:
            return await self.contents(runs)
        except KeyUnreadable:  # the operator may restore the right encryption key
            log.warning("stored key can't be decrypted", action="digest.key_unreadable")
            await asyncio.gather(*(self.postpone(run) for run in runs))
        except KeySuspended as error:  # the owner isn't told of any delay
            log.info("key suspended", action="digest.key_suspended", seconds=round(error.retry_after))
            until = self.clock.now() + timedelta(seconds=min(LONGEST_BACKOFF, error.retry_after))
            await asyncio.gather(*(self.store.digest_runs.retry_later(run, until) for run in runs))
        except NotLinked:
            # Stop all of the owner's digests, so that they get one notice.
            others = await self.store.digests.of_owner(runs[0].digest.owner)
            await self._stop(runs, Pause.KEY, others)
        except BotError as error:
            log.warning(
                "digest issues not read", action="digest.not_read", error=str(error) or type(error).__name__
            )
            wait = error.retry_after if isinstance(error, TooManyRequests) else None
            await asyncio.gather(*(self.postpone(run, wait) for run in runs))
        return None

    async def contents(self, runs: Sequence[Run], *, background: bool = True) -> Contents:
        """What one owner's runs list. Raises NotLinked and ServiceError."""
        digests = [run.digest for run in runs]
        covered = await self.store.digest_runs.covered([digest.id for digest in digests])
        hidden = await self.store.created_issues.refused_privacy()
        reading = self.accounts.reading(digests[0].owner, background=background)
        async with self._readers, reading as session:
            now = self.clock.now()
            return await read(self.client, session, digests, covered=covered, hidden=hidden, now=now)

    async def deliver(self, run: Run, content: Content | Pause) -> RunState | None:
        """Post what one run lists; its final state, None if postponed."""
        if isinstance(content, Content):
            run = await self._current(run, content)
        latest: list[Content | RunState | None] = [await self._listed(run, content)]

        async def ready() -> Edition | None:
            known = latest[-1]
            if isinstance(known, Content) and time.monotonic() - known.read_at > self.timings.fresh:
                latest.append(known := await self._listed_again(run))
            return await self._ready(run, known) if isinstance(known, Content) else None

        outcome = None
        if isinstance(latest[-1], Content):
            outcome = await self.poster.post(run.digest, run.due_at, ready)
        if not isinstance(listed := latest[-1], Content):
            return listed
        match outcome:
            case Posted(ts):
                await self._finish(run, RunState.SENT, listed, ts=ts)
                return RunState.SENT
            case Refused(status):
                await self.store.digest_runs.undo_sending(run)
                await self._stop([run], CLOSED[status])
                return RunState.DROPPED
            case Unsure():
                await self.postpone(run, self.timings.look_up_after)
            case None:
                await self.store.digest_runs.undo_sending(run)
                await self.store.digest_runs.drop(run)
                return RunState.DROPPED
            case _:
                await self.store.digest_runs.undo_sending(run)
                await self.postpone(run)
        return None

    async def _listed(self, run: Run, content: Content | Pause) -> Content | RunState:
        """What a run posts; its final state if that's nothing."""
        digest = run.digest
        if isinstance(content, Pause):
            await self._stop([run], content)
            return RunState.DROPPED
        moments = [moment for moment in (digest.covered_to, content.covered_to) if moment]
        content = replace(content, covered_to=max(moments, default=None))
        if not content.issues and (run.asked or not digest.plan.empty):
            await self._finish(run, RunState.EMPTY, content)
            return RunState.EMPTY
        return content

    async def _listed_again(self, run: Run) -> Content | RunState | None:
        """As `_listed`, read again: it may not be public anymore. None if the run is postponed or stopped."""
        await self.store.digest_runs.undo_sending(run)
        contents = await self.read([run])
        return await self._listed(run, contents[run.digest.id]) if contents else None

    async def _ready(self, run: Run, content: Content) -> Edition | None:
        """What a run posts, marked as sending; None if the run is no longer this process's to post."""
        now = self.clock.now()
        begun = await self.store.digest_runs.begin_sending(
            run,
            content.covered,
            covered_to=content.covered_to,
            seen=content.seen,
            sending_at=self.poster.slack_time() or now,
            lease_until=self.lease_until(),
        )
        return periods.edition(run, content.issues, now, more=content.more) if begun else None

    async def _current(self, run: Run, content: Content) -> Run:
        """The run with the project's current name, merged with the due times that passed meanwhile."""
        if content.project != run.digest.plan.project:
            await self.store.digests.rename(run.digest, content.project)
            plan = replace(run.digest.plan, project=content.project)
            run = replace(run, digest=replace(run.digest, plan=plan))
        digest, now = run.digest, self.clock.now()
        if run.asked or digest.next_due is None or digest.next_due > now:
            return run
        claim = periods.due_period(digest, now)
        return await self.store.digest_runs.merge_missed(run, claim)

    async def _finish(
        self, run: Run, state: RunState, content: Content | None = None, *, ts: str | None = None
    ) -> None:
        """Finish a run; `content` defaults to what was recorded before it was sent."""
        if content is None:
            content = Content(
                project=run.digest.plan.project,
                covered=await self.store.digest_runs.sent(run),
                covered_to=run.covered_to,
                seen=run.seen,
            )
        covered_to = content.covered_to or run.digest.covered_to
        now = self.clock.now()
        late = now - run.due_at
        on_time = late < timedelta(minutes=1) and not run.missed
        ended = await self.store.digest_runs.finish(
            run,
            state,
            ts=ts,
            covered_to=covered_to,
            seen=content.seen,
            forget_before=covered_to - OVERLAP if covered_to else None,
            period_from=run.due_at if on_time else now,
            history=periods.history(run.digest, [one.at for one in content.covered], now),
        )
        if ended:
            self._record(run, state, issues=len(content.issues or content.covered))

    def _record(self, run: Run, state: RunState, **more: object) -> None:
        """Log and count a finished run."""
        late = self.clock.now() - run.due_at
        ms = round((time.monotonic() - self.in_flight.get(run.key, time.monotonic())) * 1000)
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "ms": ms, **more}
        late_s = round(late.total_seconds(), 1)
        log.info("digest finished", action="digest.run", outcome=state.value, late_s=late_s, **about)
        self.on_finished(state, late)

    async def postpone(self, run: Run, seconds: float | None = None, searched_to: str | None = None) -> None:
        """Postpone a run: for `seconds` at first, for longer with each retry."""
        backoff = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** min(run.attempts, 10))
        backs_off = seconds is None or run.attempts > QUICK_RETRIES
        wait = min(LONGEST_BACKOFF, max(backoff if backs_off else 0, seconds or 0))
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "attempts": run.attempts}
        log.info("digest postponed", action="digest.put_off", seconds=round(wait), **about)
        await self.store.digest_runs.retry_later(run, self.clock.now() + timedelta(seconds=wait), searched_to)
        if run.attempts == NOTIFY_AFTER:
            await self.store.digests.notify(run.digest, "delayed")

    async def _stop(self, runs: Sequence[Run], why: Pause, others: Sequence[Digest] = ()) -> None:
        """Stop one owner's digests and drop their `runs`; `others` of theirs are stopped, too."""
        stopping = {run.digest.id for run in runs} | {digest.id for digest in others}
        await self.store.digests.stop(runs[0].digest.owner, stopping, why)
        for run in runs:
            await self.store.digest_runs.drop(run)
            self._record(run, RunState.DROPPED, why=why.value)
