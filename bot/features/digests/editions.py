"""One due time of a digest, and its post; for a digest of changes, also how issues changed since the last."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.access.access import Access
from bot.access.accounts import Session
from bot.features.digests import plans, schedules
from bot.features.digests.reading import NEVER, PAGES_AT_ONCE, Content, ReportedChanges
from bot.features.issues.fields import FIELDS
from bot.features.issues.issues import ASSIGNEE, IssueNotFound, Issues, names_of
from bot.service.conventions import PAGE, IssueDetailInclude
from bot.service.models import Change, Issue
from bot.store.digests import Digest, DigestProgress
from bot.store.job import Job
from bot.store.owner import Owner

LATE = timedelta(minutes=15)  # how late a digest has to be to say so
FOREVER = timedelta(days=36_500)
REPORTED = frozenset({("attr", FIELDS["status"].sent), ("attr", ASSIGNEE.sent)})
HISTORY: tuple[IssueDetailInclude, ...] = ("journals",)


class RunResult(StrEnum):
    """How a run ended."""

    SENT = "sent"
    EMPTY = "empty"  # nothing was posted, because there was nothing new
    UNKNOWN = "unknown"  # the message may have been posted; it isn't repeated
    DROPPED = "dropped"
    """Nothing was posted and no issue is covered, because the digest was paused or couldn't be read."""


@dataclass(frozen=True, kw_only=True)
class DigestRun:
    """One due time of a digest.

    `missed` counts the earlier due times that this run includes. `asked`: a user requested the run, outside
    the schedule. `began` is by the monotonic clock.
    """

    job: Job
    digest: Digest
    progress: DigestProgress
    due_at: datetime
    missed: int = 0
    asked: bool = False
    began: float = field(default_factory=time.monotonic, compare=False)

    @property
    def owner(self) -> Owner:
        return self.digest.owner


@dataclass(frozen=True, kw_only=True)
class Edition:
    """The content of a digest's message. `issues` are the new ones, oldest first; there may be `more`.

    `missed` is how many due times before `due_at` it covers as well, `late` how long after `due_at` it is
    posted. `periods` has the number of issues in each of the last periods, the current one last; it is empty
    if they can't be compared. `asked` is true if a user requested it between two due times.
    """

    digest: Digest
    due_at: datetime
    issues: tuple[Issue, ...]
    now: datetime
    missed: int
    late: timedelta
    periods: tuple[int, ...]
    asked: bool = False
    more: bool = False
    me: int = 0  # whose issues a personal digest lists
    changes: Mapping[int, ReportedChanges] = field(default_factory=dict)

    def count(self, issues: int) -> str:
        return f"{issues}+" if self.more else str(issues)


Ready = Callable[[], Awaitable[Edition | None]]
"""Returns the edition to post now, and marks it as sending; None if nothing must be posted."""


def due_run(run: DigestRun, now: datetime) -> DigestRun:
    """The run of a digest that is due: all the due times that it missed become one, the last."""
    schedule, zone, since = schedules.parse(run.digest.plan.schedule), run.digest.plan.zone, run.progress.due
    times = schedules.due_times(schedule, zone, since, now)
    due_at = max((since, *schedules.previous_times(schedule, zone, now + schedules.INSTANT, 1)))
    return replace(run, due_at=due_at, missed=max(0, len(times) - 1), asked=False)


def next_due(digest: Digest, now: datetime) -> datetime:
    """The first due time after `now`."""
    schedule = schedules.parse(digest.plan.schedule)
    (after,) = schedules.next_times(schedule, digest.plan.zone, now, 1) or (now + FOREVER,)
    return after


def edition(run: DigestRun, content: Content, now: datetime) -> Edition:
    """Return a run's edition at `now` if its issues are new."""
    digest, issues = run.digest, content.issues
    schedule, zone = schedules.parse(digest.plan.schedule), digest.plan.zone
    moments = [at for issue in issues if (at := plans.happened(digest.plan.kind, issue))]
    counts = dict(history(digest, moments, now))
    ends = (*schedules.previous_times(schedule, zone, run.due_at, schedules.PERIODS - 1), run.due_at)
    late = now - run.due_at
    comparable = (
        plans.charted(digest.plan) and not run.asked and not run.missed and set(ends) <= counts.keys()
    )
    return Edition(
        digest=digest,
        due_at=run.due_at,
        issues=issues,
        more=content.more,
        me=content.me,
        changes=content.changes,
        now=now,
        missed=0 if digest.plan.live else run.missed,
        late=late if late >= LATE and not digest.plan.live else timedelta(0),
        periods=tuple(counts[end] for end in ends) if comparable else (),
        asked=run.asked,
    )


def history(digest: Digest, opened: Iterable[datetime], now: datetime) -> list[tuple[datetime, int]]:
    """The digest's history plus these issues, each counted in the period in which it was opened."""
    if not plans.charted(digest.plan):
        return []
    ends = schedules.ends_around(schedules.parse(digest.plan.schedule), digest.plan.zone, now)
    known = min((end for end, _ in digest.history), default=digest.period_from)
    return schedules.counted(ends, digest.history, opened, since=known)


async def with_changes(
    access: Access,
    session: Session,
    content: Content,
    covered: Mapping[int, datetime],
    since: datetime | None = None,
) -> Content:
    """The content with only the issues whose status or assignee changed, and how, of the last PAGE ones.

    `covered` is up to when changes of issues were posted, and `since` the same for the others. Issues whose
    history the service doesn't show stay.
    """
    few = asyncio.Semaphore(PAGES_AT_ONCE)  # people's own requests need connections, too

    async def changed(row: Issue) -> ReportedChanges | None:
        async with few:
            try:
                issue = await access.shared(Issues).detailed(session, row.id, HISTORY)
            except IssueNotFound:
                return None
            if issue.public_comments is None:
                return ReportedChanges((), {})
            changes = _between(issue, covered.get(row.id, since or NEVER))
            if not changes:
                return None
            return ReportedChanges(changes, await names_of(access, session, issue, changes))

    rows = content.issues[-PAGE:]
    results = await asyncio.gather(*map(changed, rows))
    changes = {row.id: each for row, each in zip(rows, results, strict=True) if each}
    more = content.more or len(rows) < len(content.issues)
    listed = tuple(row for row in rows if row.id in changes)
    return replace(content, issues=listed, changes=changes, more=more)


def _between(issue: Issue, after: datetime) -> tuple[Change, ...]:
    """From what to what the status and the assignee changed after that."""
    changes: dict[str, Change] = {}
    for entry in issue.public_history:
        for change in entry.details if entry.created_on and entry.created_on > after else ():
            if (change.property, change.name) in REPORTED:
                first = changes.get(change.name, change)
                changes[change.name] = change.model_copy(update={"old_value": first.old_value})
    return tuple(change for change in changes.values() if change.old_value != change.new_value)
