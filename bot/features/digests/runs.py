"""Runs digests: each due time once, even if processes crash, and each new issue in exactly one message.

A digest's due time is a job. Right before a message is posted, the job records the issues that the message
covers. A message that may have been posted is looked up in the channel before anything is posted again.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from types import MappingProxyType

import structlog
from pydantic import BaseModel

from bot import telemetry
from bot.access.accounts import Session
from bot.errors import BotError, KeySuspended
from bot.features.digests import plans, schedules
from bot.features.digests.message import Edition, message
from bot.features.digests.reading import Content, DigestReader, with_changes
from bot.features.due_reads import DueReads
from bot.features.parts import Parts
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.slack.surfaces.blocks import Message
from bot.store.digests import Coverage, Digest, DigestProgress, Pause
from bot.store.jobs import Again, Done, Job, JobOutcome, Later
from bot.store.owner import Owner
from bot.store.processes import Clock
from bot.worker import Settle

MARK = "issuebot_digest"
NOTIFY_AFTER = timedelta(days=1)  # how late a post is when its owner is notified of that
FOREVER = timedelta(days=36_500)

CLOSED = {ChannelStatus.GONE: Pause.CHANNEL, ChannelStatus.SHARED: Pause.OUTSIDERS, None: Pause.REFUSED}
"""Why digests stop whose channel has become so, or whose post Slack refuses for another reason."""

log = structlog.get_logger(__name__)


class RunResult(StrEnum):
    """How a run ended."""

    SENT = "sent"
    EMPTY = "empty"  # nothing was posted, because there was nothing new
    UNKNOWN = "unknown"  # the message may have been posted; it isn't repeated
    DROPPED = "dropped"
    """Nothing was posted and no issue is covered, because the digest was paused or couldn't be read."""


class SentDigest(BaseModel):
    """What the message covers that may have been posted for `due_at`."""

    due_at: datetime
    missed: int
    coverage: Coverage


@dataclass(frozen=True, kw_only=True)
class DigestRun:
    """One due time of a digest. `missed` counts the earlier due times that this run includes. `began` is by
    the monotonic clock.
    """

    job: Job
    digest: Digest
    progress: DigestProgress
    due_at: datetime
    missed: int = 0
    began: float = field(default_factory=time.monotonic, compare=False)

    @property
    def owner(self) -> Owner:
        return self.digest.owner

    @property
    def post(self) -> Post:
        mark = f"{MARK}:{self.digest.id}:{self.due_at.isoformat()}"
        return Post(owner=self.owner, channel_id=self.digest.channel_id, mark=mark)

    def sending(self, content: Content) -> object:
        """The job's record of a message that is about to be posted."""
        sent = SentDigest(due_at=self.due_at, missed=self.missed, coverage=content.coverage)
        return sent.model_dump(mode="json")

    def edition(self, content: Content, now: datetime) -> Edition:
        plan, history = self.digest.plan, dict(_history(self.digest, content.coverage, now))
        schedule = schedules.parse(plan.schedule)
        before = schedules.previous_times(schedule, plan.zone, self.due_at, schedules.PERIODS - 1)
        ends = (*before, self.due_at)
        comparable = plans.charted(plan) and not self.missed and set(ends) <= history.keys()
        return Edition(
            digest=self.digest,
            content=content,
            due_at=self.due_at,
            now=now,
            missed=self.missed,
            periods=tuple(history[end] for end in ends) if comparable else (),
            asked=self.progress.asked is not None,
        )


@dataclass
class _Waiter:
    """A user who waits for the `result` of a run."""

    answer: asyncio.Future[RunResult | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    result: RunResult | None = None

    def end(self) -> None:
        if not self.answer.done():
            self.answer.set_result(self.result)


@dataclass
class _Posting:
    """What the latest attempt to post a run shows."""

    content: Content
    attempts: int = 0


class DigestRuns(DueReads[DigestRun, Content | Pause]):
    """Runs digests. A user waits `Delays.digest_now` for a digest that they asked for; after that it is
    posted in the background.
    """

    name = "digest"
    readers = 4
    at_once = 2000

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._posts, self._wording = parts.platform.posts, parts.platform.wording
        self._channel_status = parts.platform.conversations.status
        self._digests, self._clock = parts.store.digests, Clock()
        self._waiters: dict[str, _Waiter] = {}

    async def run_now(self, digest: Digest) -> RunResult | None:
        """Run a digest between two due times; the result, None if another run is in flight or this one
        continues in the background.

        Raises NotLinked and ServiceError if the owner's key can't read the project; nothing is posted then.
        """
        jobs = self.access.store.jobs
        if (job := await jobs.peek(digest.job_key)) is None or job.key in self._waiters:
            return None
        now = await self.access.store.processes.now()
        progress = _progress_of(job, digest, now)
        waiter = self._waiters[job.key] = _Waiter()
        try:
            progress = progress.model_copy(update={"asked": now})
            if not await jobs.do_now(job, progress.model_dump(mode="json")):
                return None
            return await waiter.answer
        finally:
            self._waiters.pop(job.key, None)

    async def do(self, jobs: Sequence[Job], settle: Settle) -> None:
        try:
            await super().do(jobs, settle)
        finally:
            for job in jobs:
                if waiter := self._waiters.get(job.key):
                    waiter.end()

    async def load(self, jobs: Sequence[Job]) -> Sequence[DigestRun]:
        self._clock.set(now := await self.access.store.processes.now())
        digests = await self._digests.of_jobs([job.key for job in jobs])
        pairs = [(job, digests[job.key]) for job in jobs if job.key in digests]
        return [
            DigestRun(job=job, digest=digest, progress=_progress_of(job, digest, now), due_at=now)
            for job, digest in pairs
        ]

    async def ready(self, item: DigestRun) -> DigestRun | JobOutcome:
        run, now = item, self._clock.now()
        if run.job.request_began and run.job.sending:
            if outcome := await self._look_up(run, SentDigest.model_validate(run.job.sending)):
                return outcome
            run = replace(run, job=replace(run.job, request_began=None))

        if run.digest.paused:
            return Done()
        if asked := run.progress.asked:
            run = replace(run, due_at=asked, missed=0)
        elif (due := min(run.progress.due, next_due(run.digest, now))) > now:
            return _again(due)
        else:
            run = due_run(run, now)

        status = await self._channel_status(run.owner, run.digest.channel_id)
        if status is ChannelStatus.OPEN:
            return run
        if status is ChannelStatus.UNREAD:
            return await self.put_off(run)
        return await self._stop(run, CLOSED[status])

    async def _look_up(self, run: DigestRun, sent: SentDigest) -> JobOutcome | None:
        """The outcome of a run whose message an earlier attempt may have posted; None if none did."""
        run = replace(run, due_at=sent.due_at, missed=sent.missed)
        lookup = await self._posts.look_up(run.job, run.post)
        about = {"digest": run.digest.id, "found": type(lookup).__name__}
        log.info("digest post looked up", action="digest.looked_up", **about)
        match lookup:
            case Later():
                return lookup
            case outcomes.Posted():
                return self._finished(run, RunResult.SENT, sent.coverage)
            case outcomes.Unconfirmed():
                await self._digests.notify(run.digest, "unconfirmed")
                return self._finished(run, RunResult.UNKNOWN, sent.coverage)
        return None

    async def read(self, owner: Owner, items: Sequence[DigestRun]) -> Mapping[str, Content | Pause]:
        waiters = [waiter for run in items if (waiter := self._waiters.get(run.job.key))]
        digests = [run.digest for run in items]
        covered = await self._digests.covered([digest.id for digest in digests])
        async with self.access.accounts.reading(owner, background=not waiters) as session:
            reader = await self._reader(session, items)
            contents = await reader.read(digests, covered)
            for digest in digests:
                if digest.plan.kind == "changed" and isinstance(content := contents[digest.id], Content):
                    before = digest.covered_to and digest.covered_to - plans.OVERLAP
                    how = (session, content, covered[digest.id], before)
                    contents[digest.id] = await with_changes(self.access, *how)
        for waiter in waiters:
            asyncio.get_running_loop().call_later(self.access.delays.digest_now, waiter.end)
        return {run.job.key: contents[run.digest.id] for run in items}

    async def failed(self, items: Sequence[DigestRun], error: Exception, settle: Settle) -> None:
        """Tell a user who waits for a run, and drop that; otherwise put the runs off."""
        left = []
        for run in items:
            if waiter := self._waiters.get(run.job.key):
                if not waiter.answer.done():
                    waiter.answer.set_exception(error)
                await settle(run.job, _again(run.progress.due))
            else:
                left.append(run)
        if left:
            await super().failed(left, error, settle)

    async def unlinked(self, items: Sequence[DigestRun]) -> None:
        await super().unlinked(items)
        for run in items:
            self._record(run, RunResult.DROPPED, why=Pause.KEY.value)

    async def put_off(self, item: DigestRun, error: Exception | None = None) -> Later:
        later = await super().put_off(item, error)
        knows = item.progress.notified or isinstance(error, KeySuspended)  # which has its own message
        if item.job.age < NOTIFY_AFTER or knows:
            return later
        await self._digests.notify(item.digest, "delayed")
        notified = item.progress.model_copy(update={"notified": True})
        return replace(later, content=notified.model_dump(mode="json"))

    async def _reader(self, session: Session, runs: Sequence[DigestRun] = ()) -> DigestReader:
        privacy_refused = await self.access.store.created_issues.privacy_refused()
        left_out = {run.digest.id: run.progress.left_out for run in runs}
        return DigestReader(self.access.client, session, self._clock.now(), privacy_refused, left_out)

    async def post(self, item: DigestRun, content: Content | Pause) -> JobOutcome:
        if isinstance(content, Pause):
            return await self._stop(item, content)
        run = await self._renamed(item, content)
        if nothing := self._if_nothing(run, content):
            return nothing

        posting = _Posting(content)
        ready = partial(self._next_message, run, posting)
        with telemetry.DIGESTS_WAITING.track_inprogress():
            outcome = await self._posts.post(
                run.job, run.post, ready, sending=lambda: run.sending(posting.content), due_at=run.due_at
            )
        match outcome:
            case outcomes.NotPosted(Done() | Again() | Later() as instead):
                return instead
            case Later():
                return outcome
            case outcomes.Posted():
                outcome_name = "too_large" if posting.content.too_large else ""
                return self._finished(run, RunResult.SENT, posting.content.coverage, outcome_name)
            case outcomes.PostRefused(status):
                return await self._stop(run, CLOSED[status])
        self._record(run, RunResult.DROPPED)
        return Done()

    async def _next_message(self, run: DigestRun, posting: _Posting) -> Message | outcomes.NotPosted:
        """The message of the next attempt to post it, or what becomes of the run instead."""
        posting.attempts += 1
        if time.monotonic() - posting.content.read_at > self.access.timings.fresh:
            now = await self._read_again(run, posting.content)
            if isinstance(now, JobOutcome):
                return outcomes.NotPosted(now)
            posting.content = now
        # An overlapping feed may post what a paused one was about to list.
        may_be_over = posting.attempts > 1 or run.digest.plan.live
        if may_be_over and await self._is_over(run):
            return outcomes.NotPosted()
        return message(run.edition(posting.content, self._clock.now()), self._wording)

    def _if_nothing(self, run: DigestRun, content: Content) -> Again | None:
        """What becomes of a run that has nothing to post."""
        nothing = not content.issues and not content.too_large
        if nothing and (run.progress.asked or not run.digest.plan.empty):
            return self._finished(run, RunResult.EMPTY, content.coverage)
        return None

    async def _read_again(self, run: DigestRun, content: Content) -> Content | JobOutcome:
        """The content without issues that are no longer public, or what becomes of a run without any.

        Reads little, because the channel's turn has come: the key isn't verified, and shows what everyone can
        see if it no longer works.
        """
        try:
            session = await self.access.accounts.unverified(run.owner)
            now = await (await self._reader(session)).as_public(run.digest, content)
        except BotError as error:
            log.warning("not read again", action="digest.not_read", error=str(error) or type(error).__name__)
            now = Pause.PROJECT
        if now is Pause.PROJECT:  # or the key no longer works, which the next read tells
            return await self.put_off(run)
        if isinstance(now, Pause):
            return await self._stop(run, now)
        return self._if_nothing(run, now) or now

    async def _is_over(self, run: DigestRun) -> bool:
        """Whether the digest was paused, removed or taken over after an attempt to post it had begun."""
        digest = (await self._digests.of_jobs([run.job.key])).get(run.job.key)
        return digest is None or digest.paused is not None or digest.owner != run.owner

    async def _renamed(self, run: DigestRun, content: Content) -> DigestRun:
        """The run with the project's current name."""
        if content.project == run.digest.plan.project:
            return run
        await self._digests.rename(run.digest, content.project)
        plan = replace(run.digest.plan, project=content.project)
        return replace(run, digest=replace(run.digest, plan=plan))

    def _finished(self, run: DigestRun, result: RunResult, coverage: Coverage, outcome: str = "") -> Again:
        """Finish a run that covers these issues, and make the digest's next due time its job."""
        digest, now = run.digest, self._clock.now()
        covered_to = max(filter(None, (digest.covered_to, coverage.covered_to)), default=None)
        on_time = now - run.due_at < timedelta(minutes=1) and not run.missed
        also = self._digests.advancing(
            digest,
            coverage.model_copy(update={"covered_to": covered_to}),
            forget_before=covered_to - plans.OVERLAP if covered_to else None,
            period_from=run.due_at if on_time else now,
            history=_history(digest, coverage, now),
        )
        if digest.plan.live and result is not RunResult.EMPTY:
            also = [*also, self.access.store.followed.list_posted(digest.id)]
        self._record(run, result, outcome, issues=len(coverage.covered))
        due = run.progress.due if run.progress.asked else next_due(digest, now)
        return replace(_again(due, coverage.left_out), also=also)

    def _record(self, run: DigestRun, result: RunResult, outcome: str = "", **more: object) -> None:
        if run.digest.plan.live and result is RunResult.EMPTY:  # as in most minutes
            return
        late = self._clock.now() - run.due_at
        ms = round((time.monotonic() - run.began) * 1000)
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "ms": ms, **more}
        outcome, late_s = outcome or result.value, round(late.total_seconds(), 1)
        log.info("digest finished", action="digest.run", outcome=outcome, late_s=late_s, **about)
        telemetry.digest_finished(outcome, late)
        if waiter := self._waiters.get(run.job.key):
            waiter.result = result

    async def _stop(self, run: DigestRun, why: Pause) -> Done:
        await self._digests.stop(run.owner, [run.digest.id], why)
        self._record(run, RunResult.DROPPED, why=why.value)
        return Done()


def due_run(run: DigestRun, now: datetime) -> DigestRun:
    """The run of a digest that is due: all the due times that it missed become one, the last."""
    schedule, zone, since = schedules.parse(run.digest.plan.schedule), run.digest.plan.zone, run.progress.due
    times = schedules.due_times(schedule, zone, since, now)
    due_at = max((since, *schedules.previous_times(schedule, zone, now + schedules.INSTANT, 1)))
    return replace(run, due_at=due_at, missed=max(0, len(times) - 1))


def next_due(digest: Digest, now: datetime) -> datetime:
    """The first due time after `now`."""
    schedule = schedules.parse(digest.plan.schedule)
    (after,) = schedules.next_times(schedule, digest.plan.zone, now, 1) or (now + FOREVER,)
    return after


def _history(digest: Digest, coverage: Coverage, now: datetime) -> list[tuple[datetime, int]]:
    """The digest's history plus these issues, each counted in the period in which it was opened."""
    if not plans.charted(digest.plan):
        return []
    ends = schedules.ends_around(schedules.parse(digest.plan.schedule), digest.plan.zone, now)
    known = min((end for end, _ in digest.history), default=digest.period_from)
    return schedules.counted(ends, digest.history, coverage.covered.values(), since=known)


def _progress_of(job: Job, digest: Digest, now: datetime) -> DigestProgress:
    """Return the job's progress; if no key decrypts it, nothing is due before the next due time."""
    content = job.content
    return DigestProgress.model_validate(content) if content else DigestProgress(due=next_due(digest, now))


def _again(due: datetime, left_out: Mapping[int, str] = MappingProxyType({})) -> Again:
    return Again(due, DigestProgress(due=due, left_out=left_out).model_dump(mode="json"))
