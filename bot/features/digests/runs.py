"""Runs digests: each due time once, even if processes crash, and each new issue in exactly one message.

A digest's due time is a job. Right before a message is posted, the job records the issues that the message
covers. A message that may have been posted is looked up in the channel before anything is posted again.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

import structlog
from pydantic import BaseModel, ValidationError

from bot.access.access import Access
from bot.access.accounts import Session
from bot.errors import BotError, KeySuspended
from bot.features.digests import editions
from bot.features.digests.channels import DigestPoster
from bot.features.digests.editions import DigestRun, Edition, RunResult, due_run, next_due, with_changes
from bot.features.digests.plans import too_large
from bot.features.digests.reading import OVERLAP, Content, DigestReader
from bot.features.due_reads import DueReads
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.store.digests import Covered, Digest, DigestProgress, Pause
from bot.store.job import Again, Done, Job, JobOutcome, Later
from bot.store.owner import Owner
from bot.store.processes import Clock
from bot.worker import Settle

NOTIFY_AFTER = timedelta(days=1)  # how late a post is when its owner is notified of that

CLOSED = {ChannelStatus.GONE: Pause.CHANNEL, ChannelStatus.SHARED: Pause.OUTSIDERS, None: Pause.REFUSED}
"""Why digests stop whose channel has become so, or whose post Slack refuses for another reason."""

log = structlog.get_logger(__name__)
OnFinished = Callable[[str, timedelta], None]


class SentDigest(BaseModel):
    """What the message covers that may have been posted for `due_at`; see `Content`."""

    due_at: datetime
    missed: int
    asked: bool
    covered: tuple[Covered, ...]
    covered_to: datetime | None
    known_updates: Mapping[int, datetime] | None


@dataclass
class _Asked:
    """A user waits for a run: first until it is `read`, then until it is `over`."""

    read: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    over: asyncio.Event = field(default_factory=asyncio.Event)
    result: RunResult | None = None

    def end(self) -> None:
        if not self.read.done():
            self.read.set_result(None)
        self.over.set()


class DigestRuns(DueReads[DigestRun, Content | Pause]):
    """Runs digests. `on_finished` gets each run's result and how late it was.

    A user waits `Delays.digest_now` for a digest that they asked for; after that it is posted in the
    background.
    """

    name = "digest"
    readers = 4
    at_once = 2000

    def __init__(self, access: Access, poster: DigestPoster, on_finished: OnFinished) -> None:
        super().__init__(access)
        self.poster, self.on_finished = poster, on_finished
        self._digests, self._clock = access.store.digests, Clock()
        self._asked: dict[str, _Asked] = {}

    async def run_now(self, digest: Digest) -> RunResult | None:
        """Run a digest between two due times; the result, None if another run is in flight or this one
        continues in the background.

        Raises NotLinked and ServiceError if the owner's key can't read the project; nothing is posted then.
        """
        jobs = self.access.store.jobs
        if (job := await jobs.peek(digest.job_key)) is None or job.key in self._asked:
            return None
        now = await self.access.store.processes.now()
        progress = _progress_of(job, digest, now)
        asked = self._asked[job.key] = _Asked()
        try:
            progress = progress.model_copy(update={"asked": now})
            if not await jobs.start(job, progress.model_dump(mode="json")):
                return None
            await asked.read
            async with asyncio.timeout(self.access.delays.digest_now):
                await asked.over.wait()
        except TimeoutError:
            return None
        finally:
            self._asked.pop(job.key, None)
        return asked.result

    async def do(self, jobs: Sequence[Job], settle: Settle) -> None:
        async def over(job: Job, outcome: JobOutcome) -> None:
            await settle(job, outcome)
            if asked := self._asked.get(job.key):
                asked.end()

        try:
            await super().do(jobs, over)
        finally:
            for job in jobs:
                if asked := self._asked.get(job.key):
                    asked.end()

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
        if run.job.tried_at and (sent := _sent_of(run.job)):
            run = replace(run, due_at=sent.due_at, missed=sent.missed, asked=sent.asked)
            lookup = await self.poster.look_up(run)
            about = {"digest": run.digest.id, "found": type(lookup).__name__}
            log.info("digest post looked up", action="digest.looked_up", **about)
            match lookup:
                case Later():
                    return lookup
                case outcomes.Posted():
                    return self._finished(run, RunResult.SENT, sent)
                case outcomes.Unsure():
                    await self._digests.notify(run.digest, "unsure")
                    return self._finished(run, RunResult.UNKNOWN, sent)
            run = replace(run, job=replace(run.job, tried_at=None))
        if run.digest.paused:
            return Done()
        if asked := run.progress.asked:
            run = replace(run, due_at=asked, missed=0, asked=True)
        elif (due := min(run.progress.due, next_due(run.digest, now))) > now:
            return _again(due)
        else:
            run = due_run(run, now)
        return await self._if_open(run)

    async def _if_open(self, run: DigestRun) -> DigestRun | JobOutcome:
        """The run, if its channel accepts digests."""
        status = await self.poster.channel_status(run.owner, run.digest.channel_id)
        if status is ChannelStatus.OPEN:
            return run
        if status is ChannelStatus.UNKNOWN:
            return await self.put_off(run)
        return await self._stop([run], CLOSED[status])

    async def read(self, owner: Owner, items: Sequence[DigestRun]) -> Mapping[str, Content | Pause]:
        waiting = [asked for run in items if (asked := self._asked.get(run.job.key))]
        digests = [run.digest for run in items]
        covered = await self._digests.covered([digest.id for digest in digests])
        async with self.access.accounts.reading(owner, background=not waiting) as session:
            left_out = {run.digest.id: run.progress.left_out for run in items}
            reader = replace(await self._reader(session), left_out=left_out)
            contents = await reader.read(digests, covered)
            for digest in digests:
                if digest.plan.kind == "changed" and isinstance(content := contents[digest.id], Content):
                    before = digest.covered_to and digest.covered_to - OVERLAP
                    how = (session, content, covered[digest.id], before)
                    contents[digest.id] = await with_changes(self.access, *how)
        for asked in waiting:
            asked.read.set_result(None)
        return {run.job.key: contents[run.digest.id] for run in items}

    async def failed(self, items: Sequence[DigestRun], error: Exception, settle: Settle) -> None:
        """Tell a user who waits for a run, and drop that; otherwise put the runs off."""
        left = []
        for run in items:
            if asked := self._asked.get(run.job.key):
                if not asked.read.done():
                    asked.read.set_exception(error)
                await settle(run.job, _again(run.progress.due))
            else:
                left.append(run)
        if left:
            await super().failed(left, error, settle)

    async def unlinked(self, items: Sequence[DigestRun]) -> None:
        """Stop all of the owner's digests, so that they get one notice."""
        await self._stop(items, Pause.KEY, await self._digests.of_owner(items[0].owner))

    async def put_off(self, item: DigestRun, error: Exception | None = None) -> Later:
        later = await super().put_off(item, error)
        knows = item.progress.notified or isinstance(error, KeySuspended)  # which has its own message
        if item.job.age < NOTIFY_AFTER or knows:
            return later
        await self._digests.notify(item.digest, "delayed")
        notified = item.progress.model_copy(update={"notified": True})
        return replace(later, content=notified.model_dump(mode="json"))

    async def _reader(self, session: Session) -> DigestReader:
        hidden = await self.access.store.created_issues.refused_privacy()
        return DigestReader(self.access.client, session, self._clock.now(), hidden)

    async def post(self, item: DigestRun, content: Content | Pause) -> JobOutcome:
        if isinstance(content, Pause):
            return await self._stop([item], content)
        run = await self._renamed(item, content)
        latest: list[Content | JobOutcome] = [self._listed(run, content)]
        times_ready = 0

        async def ready() -> Edition | None:
            nonlocal times_ready
            times_ready += 1
            known = latest[-1]
            if isinstance(known, Content) and time.monotonic() - known.read_at > self.access.timings.fresh:
                latest.append(known := await self._listed_again(run, known))
            if not isinstance(known, Content) or (times_ready > 1 and await self._is_over(run)):
                return None
            return editions.edition(run, known, self._clock.now())

        def covers() -> object:
            return _sending(run, known) if isinstance(known := latest[-1], Content) else None

        if isinstance(known := latest[-1], JobOutcome):
            return known
        outcome = await self.poster.post(run, ready, covers)
        if isinstance(known := latest[-1], JobOutcome):
            return known
        match outcome:
            case Later():
                return outcome
            case outcomes.Posted():
                return self._finished(run, RunResult.SENT, known)
            case outcomes.PostRefused(status):
                return await self._stop([run], CLOSED[status])
        self._record(run, RunResult.DROPPED)
        return Done()

    def _listed(self, run: DigestRun, content: Content) -> Content | JobOutcome:
        """What a run posts; what becomes of its job if that's nothing."""
        nothing = not content.issues and not too_large(content)
        if nothing and (run.asked or not run.digest.plan.empty):
            return self._finished(run, RunResult.EMPTY, content)
        return content

    async def _listed_again(self, run: DigestRun, content: Content) -> Content | JobOutcome:
        """Return `_listed` without issues that are no longer public.

        Reads little, because the channel's turn has come: the key isn't verified, and shows what everyone can
        see if it no longer works.
        """
        try:
            link = await self.access.store.links.required(run.owner)
            session = Session(run.owner, link.key, link.user_id, link.name)
            now = await (await self._reader(session)).as_public(run.digest, content)
        except BotError as error:
            log.warning("not read again", action="digest.not_read", error=str(error) or type(error).__name__)
            now = Pause.PROJECT
        if now is Pause.PROJECT:  # or the key no longer works, which the next read tells
            return await self.put_off(run)
        return await self._stop([run], now) if isinstance(now, Pause) else self._listed(run, now)

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

    def _finished(self, run: DigestRun, result: RunResult, sent: Content | SentDigest) -> Again:
        """Finish a run that covers the `sent` issues, and make the digest's next due time its job."""
        digest, now = run.digest, self._clock.now()
        covered_to = max(filter(None, (digest.covered_to, sent.covered_to)), default=None)
        on_time = now - run.due_at < timedelta(minutes=1) and not run.missed
        also = self._digests.advancing(
            digest,
            sent.covered,
            covered_to=covered_to,
            known_updates=sent.known_updates,
            forget_before=covered_to - OVERLAP if covered_to else None,
            period_from=run.due_at if on_time else now,
            history=editions.history(digest, [one.at for one in sent.covered], now),
        )
        outcome = "too_large" if isinstance(sent, Content) and too_large(sent) else result.value
        self._record(run, result, outcome, issues=len(sent.covered))
        due = run.progress.due if run.asked else next_due(digest, now)
        left_out = sent.left_out if isinstance(sent, Content) else {}
        return replace(_again(due, left_out), also=also)

    def _record(self, run: DigestRun, result: RunResult, outcome: str = "", **more: object) -> None:
        late = self._clock.now() - run.due_at
        ms = round((time.monotonic() - run.began) * 1000)
        about = {"digest": run.digest.id, "due": run.due_at.isoformat(), "ms": ms, **more}
        outcome, late_s = outcome or result.value, round(late.total_seconds(), 1)
        log.info("digest finished", action="digest.run", outcome=outcome, late_s=late_s, **about)
        self.on_finished(outcome, late)
        if asked := self._asked.get(run.job.key):
            asked.result = result

    async def _stop(self, runs: Sequence[DigestRun], why: Pause, others: Sequence[Digest] = ()) -> Done:
        """Stop one owner's digests and drop their `runs`; `others` of theirs are stopped, too."""
        stopping = {run.digest.id for run in runs} | {digest.id for digest in others}
        await self._digests.stop(runs[0].owner, stopping, why)
        for run in runs:
            self._record(run, RunResult.DROPPED, why=why.value)
        return Done()


def _progress_of(job: Job, digest: Digest, now: datetime) -> DigestProgress:
    """Return the job's progress; if no key decrypts it, nothing is due before the next due time."""
    try:
        return DigestProgress.model_validate(job.content)
    except ValidationError:
        return DigestProgress(due=next_due(digest, now))


def _again(due: datetime, left_out: Mapping[int, str] = MappingProxyType({})) -> Again:
    return Again(due, DigestProgress(due=due, left_out=left_out).model_dump(mode="json"))


def _sent_of(job: Job) -> SentDigest | None:
    """What the message covers that may have been posted; None if no key decrypts it."""
    try:
        return SentDigest.model_validate(job.sending)
    except ValidationError:
        return None


def _sending(run: DigestRun, content: Content) -> object:
    """Return the job's record of a message that is about to be posted."""
    sent = SentDigest(
        due_at=run.due_at,
        missed=run.missed,
        asked=run.asked,
        covered=content.covered,
        covered_to=content.covered_to,
        known_updates=content.known_updates,
    )
    return sent.model_dump(mode="json")
