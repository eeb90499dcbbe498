"""Finds what changed of the issues that are assigned to people, with each one's own key.

A user's turn is one request for each hundred of their issues that changed since the last one. Each that
wasn't found then is a job, which reads it to learn who assigned it and when. What is found moves on by the
service's own clock.
"""

import asyncio
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.access.access import Access
from bot.access.assignments import SECOND, assigned_since, assignments_end
from bot.features.due_reads import DueReads
from bot.service.conventions import PAGE, IssueDetailInclude
from bot.service.models import Issue, Ref
from bot.store.job import Again, Done, Job, Outcome, Statement
from bot.store.notices import ASSIGNEE
from bot.store.owner import Owner

HISTORY: tuple[IssueDetailInclude, ...] = ("journals",)
MAX_PAGES = 10
OVERLAP = timedelta(minutes=15)  # how late an update may become visible
VERIFY_EVERY = timedelta(hours=1)
"""How often a key is verified while nothing changes: a visitor has no issues, either."""
SAME_SECOND = timedelta(seconds=5)  # for how long after an update another one may get the same time


@dataclass(frozen=True)
class AssignmentMessage:
    """What `to` is to be told: that `by` assigned the issue to them; if that is None, that somebody in the
    service has done so since then.
    """

    to: Owner
    by: Owner | None
    issue: int
    since: datetime | None = None

    @classmethod
    def of(cls, content: Any) -> "AssignmentMessage":  # noqa: ANN401 - JSON
        to, by, issue, since = content
        then = datetime.fromisoformat(since) if since else None
        return cls(Owner.named(to), Owner.named(by) if by else None, issue, then)

    @property
    def content(self) -> object:
        by, since = self.by and self.by.name, self.since and self.since.isoformat()
        return [self.to.name, by, self.issue, since]

    def is_news(self, issue: Issue, me: int) -> bool:
        """Whether the issue is the reader's, `me` in the service, and is to be told."""
        if issue.assigned_to is None or issue.assigned_to.id != me:
            return False
        if self.by:
            return True
        assignment = assignment_of(issue)
        if assignment is None or assignment.at is None or assignment.by is None or self.since is None:
            return False
        return assignment.at >= self.since.replace(microsecond=0) and assignment.by.id != me


@dataclass(frozen=True)
class Assignment:
    """When an issue was assigned to the person who has it, and by whom, as far as the service tells."""

    at: datetime | None
    by: Ref | None


def assignment_of(issue: Issue) -> Assignment | None:
    """The latest assignment in an issue's history, or its creation; None if the history isn't known."""
    for entry in reversed(issue.journals):
        if any((each.property, each.name) == ("attr", "assigned_to_id") for each in entry.details):
            return Assignment(entry.created_on, entry.user)
    unchanged = issue.created_on is not None and issue.created_on == issue.updated_on
    if unchanged or "journals" in issue.model_fields_set:
        return Assignment(issue.created_on, issue.author)
    return None


class AssigneeProgress(BaseModel):
    """`since` is up to when all assignments are found, by the service's clock, None if they haven't been read
    yet, and `seen` has the issues that were found since then, with their last updates. `verified_at` is when
    the key was verified last.
    """

    since: datetime | None = None
    seen: Mapping[int, datetime] = {}
    verified_at: datetime | None = None

    def since_of(self, number: int) -> datetime | None:
        """From when on an assignment of this issue is news: after the last update that was found."""
        return self.seen[number] + SECOND if number in self.seen else self.since


@dataclass(frozen=True)
class Assignee:
    """A user whose turn it is."""

    job: Job
    owner: Owner
    progress: AssigneeProgress


@dataclass(frozen=True)
class AssigneeChanges:
    """The numbers of issues that changed, and what the user's next turn needs to know."""

    changed: Sequence[int]
    progress: AssigneeProgress


class AssigneeReads(DueReads[Assignee, AssigneeChanges]):
    """`telling` makes the statement that lets a user be told of an issue, if it is newly assigned."""

    name = "assignee"
    readers = 4

    def __init__(self, access: Access, telling: Callable[[AssignmentMessage], Statement]) -> None:
        super().__init__(access)
        self._telling = telling

    async def load(self, jobs: Sequence[Job]) -> Sequence[Assignee]:
        owners = [Owner.named(job.key.removeprefix(f"{ASSIGNEE}:")) for job in jobs]
        return [Assignee(job, owner, _progress_of(job)) for job, owner in zip(jobs, owners, strict=True)]

    async def ready(self, item: Assignee) -> Assignee | Outcome:
        return item if await self.access.store.notices.wanted(item.owner) else Done()

    async def read(self, owner: Owner, items: Sequence[Assignee]) -> Mapping[str, AssigneeChanges]:
        (assignee,) = items
        now = await self.access.store.processes.now()
        return {assignee.job.key: await self._found(owner, assignee.progress, now)}

    async def _found(self, owner: Owner, progress: AssigneeProgress, now: datetime) -> AssigneeChanges:
        if (since := progress.since) is None:
            async with self.access.accounts.reading(owner, background=True) as session:
                start = await assignments_end(self.access.client, session.key, now)
            return AssigneeChanges((), AssigneeProgress(since=start, verified_at=now))
        changed = await self._changed(owner, since)
        verified_at = progress.verified_at or now
        if now >= verified_at + VERIFY_EVERY:
            async with self.access.accounts.reading(owner, background=True):
                verified_at = now
        # Times are in whole seconds: another change may still get the same one.
        seen = {
            issue.id: issue.updated_on
            for issue in changed
            if issue.updated_on and abs(issue.updated_on - now) > SAME_SECOND
        }
        latest = max((issue.updated_on for issue in changed if issue.updated_on), default=since)
        # Not past now: an issue dated in the future would hide all others until then.
        covered_to = max(since, min(latest, now) - OVERLAP)
        fresh = [issue.id for issue in changed if progress.seen.get(issue.id) != issue.updated_on]
        return AssigneeChanges(fresh, AssigneeProgress(since=covered_to, seen=seen, verified_at=verified_at))

    async def post(self, item: Assignee, content: AssigneeChanges) -> Outcome:
        """Let the user be told of what is newly assigned."""
        at, since = await self._next_turn(item.owner), item.progress.since_of
        messages = [AssignmentMessage(item.owner, None, number, since(number)) for number in content.changed]
        # In a thread, since encrypting what a thousand jobs say takes a while.
        telling = await asyncio.to_thread(lambda: [*map(self._telling, messages)])
        return Again(at, content.progress.model_dump(mode="json"), telling)

    async def _next_turn(self, owner: Owner) -> datetime:
        """Turns are spread evenly over the interval, each user's at the same time of it."""
        now, every = await self.access.store.processes.now(), self.access.timings.notice_every
        since_last = (now.timestamp() - zlib.crc32(owner.name.encode())) % every
        return now + timedelta(seconds=every - since_last)

    async def _changed(self, owner: Owner, since: datetime) -> Sequence[Issue]:
        """The user's changed issues since then, the latest first. Raises NotLinked, ServiceError."""
        user_id = (await self.access.accounts.background_link(owner)).user_id
        found: dict[int, Issue] = {}
        for page in range(MAX_PAGES):
            issues = await self.listed(owner, assigned_since(since), page * PAGE)
            found |= {issue.id: issue for issue in issues}
            if len(issues) < PAGE:
                break
        # A group's issues are listed, too.
        return [one for one in found.values() if one.assigned_to and one.assigned_to.id == user_id]


def _progress_of(job: Job) -> AssigneeProgress:
    try:
        return AssigneeProgress.model_validate(job.content)
    except ValidationError:  # no key decrypts it
        return AssigneeProgress()
