"""Keeps the posts that follow issues up to date, however many replicas run.

A follower's issues are read in pages of 100, at most once in `Timings.follow_every`: those updated since the
last read, and from time to time all of them, to notice the ones that aren't visible anymore. Each issue that
changed is a job, which reads it with a key that is verified, updates the post, and adds lines to the thread,
one after the other. A change is shown in its thread once, or the issue isn't followed anymore.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog
from pydantic import BaseModel

from bot.access.access import Access
from bot.features.due_reads import DueReads, OwnerReads, OwnerTurn
from bot.features.following import views
from bot.features.following.following import Following, IssueSnapshot, has_changed
from bot.features.following.poster import LineKind, ThreadLine, ThreadPoster, line_post
from bot.service.conventions import PAGE_SIZE
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.service.models import Issue
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.store.digests import Pause
from bot.store.followed import FOLLOWER, Followed, Stage
from bot.store.jobs import Again, Done, Job, JobOutcome, Later
from bot.store.owner import Owner

ALL_EVERY = 10  # every how many reads all issues are read
OVERLAP = timedelta(minutes=15)
"""How late an update may become visible, and how far the service's clock may be set back."""
QUIET_FOR = timedelta(days=30)  # after this long without a change, an issue isn't followed anymore
SAME_SECOND = timedelta(seconds=5)
"""After this long an issue that changed is read again: until then another change may get the same time."""
log = structlog.get_logger(__name__)


class FollowerProgress(BaseModel):
    """`covered_to`: by the service's clock, up to when changes of a user's issues are found. `reads` counts
    how often they were read.
    """

    covered_to: datetime | None = None
    reads: int = 0


class FollowerReads(OwnerReads[FollowerProgress]):
    """Finds what changed of the issues that users follow."""

    name = "follower"
    kind, progress = FOLLOWER, FollowerProgress
    readers = 8

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._stored, self._following = access.store.followed, access.shared(Following)

    async def find(self, owner: Owner, turn: OwnerTurn[FollowerProgress]) -> JobOutcome:
        """Let the changes be shown, and follow no longer what has been quiet. That takes one request for each
        hundred issues.
        """
        followed, progress = await self._stored.of(owner), turn.progress
        if not followed:
            return Done()
        everything = progress.covered_to is None or progress.reads % ALL_EVERY == 0
        since = progress.covered_to
        updated_on = TimeRange(since=since - OVERLAP) if since and not everything else None
        numbers = sorted({one.issue_id for one in followed})
        issues: dict[int, Issue] = {}
        for start in range(0, len(numbers), PAGE_SIZE):
            filters = IssueFilters(
                issue_ids=tuple(numbers[start : start + PAGE_SIZE]),
                status="any",
                updated_on=updated_on,
                sort=(Sort("id"),),
            )
            issues |= {issue.id: issue for issue in await self.listed(owner, filters)}

        now = await self.access.store.processes.now()
        quiet = {
            one.id: one
            for one in followed
            if everything and _quiet(one, issues.get(one.issue_id), now - QUIET_FOR)
        }
        await self._following.end([*quiet.values()], "quiet")
        left = [one for one in followed if one.id not in quiet]
        changed = [one for one in left if has_changed(one, issues.get(one.issue_id), unlisted=everything)]

        moments = [issue.updated_on for issue in issues.values() if issue.updated_on]
        latest = max([*moments, *([since] if since else [])], default=None)
        # Not past now: an issue dated in the future would hide all others until then.
        covered_to = min(latest, now) if latest else None
        read = FollowerProgress(covered_to=covered_to, reads=progress.reads + 1)
        at = now + timedelta(seconds=self.access.timings.follow_every)
        # In a thread, because encrypting what hundreds of jobs say takes a while.
        jobs = await asyncio.to_thread(self._stored.showing_changes, changed)
        return Again(at, read.model_dump(mode="json"), jobs)


@dataclass(frozen=True)
class ChangedIssue:
    """A followed issue that changed."""

    job: Job
    followed: Followed

    @property
    def owner(self) -> Owner:
        return self.followed.owner


NextStep = ChangedIssue | outcomes.PostRefused | Later | None
"""A followed issue, a step further; or why it isn't: None if it may not be shown anymore."""


class FollowedReads(DueReads[ChangedIssue, IssueSnapshot | None]):
    """Updates posts and adds lines below them."""

    name = "followed"
    readers = 8
    at_once = 500
    together = 50

    def __init__(self, access: Access, poster: ThreadPoster) -> None:
        super().__init__(access)
        self.poster, self._following = poster, access.shared(Following)
        self._stored, self._jobs = access.store.followed, access.store.jobs

    async def load(self, jobs: Sequence[Job]) -> Sequence[ChangedIssue]:
        followed = await self._stored.of_jobs([job.key for job in jobs])
        return [ChangedIssue(job, followed[job.key]) for job in jobs if job.key in followed]

    async def ready(self, item: ChangedIssue) -> ChangedIssue | JobOutcome:
        """The same once it is known whether a line that was being added has arrived."""
        if item.job.request_began is None or not item.job.sending:
            return item
        line = ThreadLine.model_validate(item.job.sending)
        outcome = await self.poster.posts.look_up(item.job, line_post(item.followed, line))
        about = {"issue": item.followed.issue_id, "found": type(outcome).__name__}
        log.info("line looked up", action="follow.looked_up", **about)
        match outcome:
            case Later():
                return outcome
            case outcomes.Absent():
                await self._jobs.end_request(item.job)
                return replace(item, job=replace(item.job, request_began=None))
            case outcomes.Unconfirmed():
                message = views.unconfirmed(item.followed, self.poster.wording)
                await self.poster.posts.tell(item.owner, message)
                if line.kind is LineKind.POST:
                    await self._following.end([item.followed], "post unconfirmed")
                    return Done()
        return await self._added(item, line, outcome.ts if isinstance(outcome, outcomes.Posted) else "")

    async def read(self, owner: Owner, items: Sequence[ChangedIssue]) -> Mapping[str, IssueSnapshot | None]:
        """The issues; None for those that aren't visible."""
        numbers = sorted({item.followed.issue_id for item in items})
        async with self.access.accounts.reading(owner, background=True) as session:
            snapshots = await self._following.read_all(session, numbers)
        return {
            item.job.key: snapshots[item.followed.issue_id]
            for item in items
            if item.followed.issue_id in snapshots
        }

    async def post(self, item: ChangedIssue, content: IssueSnapshot | None) -> JobOutcome:
        """Update an issue's post, or stop following the issue."""
        one, snapshot = item.followed, content
        status = await self.poster.channel_status(one.owner, one.channel_id)
        if status is ChannelStatus.UNREAD:
            return await self.put_off(item)
        if why := _why_not(one, snapshot, status):
            await self._following.end([one], why)
        elif snapshot is not None:
            return await self._show(item, snapshot)
        return Done()

    async def _show(self, item: ChangedIssue, snapshot: IssueSnapshot) -> JobOutcome:
        for write in (self._post, self._update, self._quote, self._tell):
            match await write(item, snapshot):
                case ChangedIssue() as item:
                    continue
                case outcomes.PostRefused(status):
                    await self._refused(item.followed, status)
                    return Done()
                case Later() as later:
                    return later
                case _:  # it may not be shown anymore; the next read of it tells why
                    return await self.put_off(item)
        now, updated_on = await self.access.store.processes.now(), snapshot.issue.updated_on
        records = [self._stored.recording(item.followed, seen_on=updated_on, changed_at=now)]
        if item.followed.seen_on == updated_on:
            return Done(records)
        # Times are in whole seconds, by the service's clock: another change may still get the same one.
        return Again(now + SAME_SECOND, {}, records)

    async def _refused(self, one: Followed, status: ChannelStatus | None) -> None:
        """Stop following what Slack doesn't let the bot update, and stop a live feed that it can't post."""
        await self._following.end([one], "post refused")
        if one.stage is not Stage.POSTED and one.digest_id is not None and status is None:
            await self.access.store.digests.stop(one.owner, [one.digest_id], Pause.REFUSED)

    async def _post(self, item: ChangedIssue, snapshot: IssueSnapshot) -> NextStep:
        """Post an issue of a live feed, unless it is posted already."""
        one, told_to = item.followed, max((journal.id for journal in snapshot.history), default=0)
        if one.stage is Stage.POSTED:
            return item
        records = {"closed": snapshot.closed, "told_to": told_to}
        return await self._add(item, ThreadLine.posting(one, snapshot.fingerprint, **records), snapshot)

    async def _update(self, item: ChangedIssue, snapshot: IssueSnapshot) -> NextStep:
        """Show the issue in its post, unless the post shows it already."""
        if snapshot.fingerprint == item.followed.fingerprint:
            return item
        match await self.poster.update(item.job, item.followed, snapshot):
            case outcomes.Posted():
                records = self._stored.recording(item.followed, fingerprint=snapshot.fingerprint)
                return item if await self._jobs.end_request(item.job, [records]) else None
            case outcomes.PostRefused() as refused:
                return refused
            case outcomes.Delayed(seconds):
                return item.job.later(seconds)
        return None

    async def _quote(self, item: ChangedIssue, snapshot: IssueSnapshot) -> NextStep:
        """Quote the comments that are new, if they are included."""
        if item.followed.quoted_to is None:
            return item
        for comment in snapshot.issue.public_comments or ():
            if comment.id > (item.followed.quoted_to or 0):
                line = ThreadLine.saying(LineKind.QUOTE, quoted_to=comment.id)
                outcome = await self._add(item, line, snapshot)
                if not isinstance(outcome, ChangedIssue):
                    return outcome
                item = outcome
        return item

    async def _tell(self, item: ChangedIssue, snapshot: IssueSnapshot) -> NextStep:
        """Add the line that the issue was closed or reopened, if it was; below a live feed's post, the line
        that tells who changed the status or the assignee.
        """
        one = item.followed
        changes = snapshot.changes_after(one.told_to) if one.digest_id is not None else []
        if not changes and snapshot.closed == one.closed:
            return item
        kind = LineKind.CHANGES if changes else LineKind.CLOSED
        told_to = changes[-1][0].id if changes else one.told_to
        line = ThreadLine.saying(kind, closed=snapshot.closed, told_to=told_to)
        return await self._add(item, line, snapshot)

    async def _add(self, item: ChangedIssue, line: ThreadLine, snapshot: IssueSnapshot) -> NextStep:
        """Add a line below the post, once."""
        match await self.poster.add(item.job, item.followed, line, snapshot):
            case outcomes.Posted(ts):
                return await self._added(item, line, ts)
            case outcomes.PostRefused() | Later() as outcome:
                return outcome
        return None

    async def _added(self, item: ChangedIssue, line: ThreadLine, ts: str) -> ChangedIssue:
        """The same after a line was added, or a live feed's issue was posted."""
        known = line.recorded(item.followed, ts)
        await self._jobs.end_request(item.job, [self._stored.recording(item.followed, **known)])
        return ChangedIssue(replace(item.job, request_began=None), replace(item.followed, **known))


def _quiet(one: Followed, issue: Issue | None, since: datetime) -> bool:
    """Whether nothing has changed since then, while the bot was down neither."""
    unchanged = issue is None or issue.updated_on == one.seen_on
    return unchanged and one.changed_at is not None and one.changed_at < since


def _why_not(one: Followed, snapshot: IssueSnapshot | None, status: ChannelStatus) -> str | None:
    """Why the thread may not be shown the issue anymore, or None."""
    if status is not ChannelStatus.OPEN:
        return f"channel {status.value}"
    if snapshot is None:
        return "issue not visible"
    if one.direct:
        return None
    if snapshot.issue.is_private:
        return "issue private"
    exposure = replace(snapshot.exposure, agreed_project=one.agreed_project)
    return None if exposure.may_show else "project not public"
