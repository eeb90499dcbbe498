"""Finds changes in the issues that users reported or are assigned to, with each user's key.

A user's turn is one request for each hundred of their issues that changed since the last turn. Each newly
changed issue becomes a job, which reads its history to learn what others did (`IssueNews`). Progress is by
the service's clock.
"""

import asyncio
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain

from pydantic import BaseModel

from bot.access.accounts import SECOND, changed_since, changes_end
from bot.features.due_reads import OwnerReads, OwnerTurn
from bot.features.issues.fields import FIELDS, REPORTED_TO_PEOPLE, Field
from bot.features.issues.issues import Names
from bot.service.conventions import PAGE_SIZE
from bot.service.models import Change, Issue, Journal, Ref
from bot.store.jobs import Again, Done, JobOutcome, Statement
from bot.store.notices import ASSIGNEE, PERSONAL_NOTICE, Topic
from bot.store.owner import Owner

BEYOND_ASSIGNMENTS = {Topic.COMMENTS, Topic.CHANGES}
"""The topics that are about the issues that a user reported, too."""
MAX_PAGES = 10
"""How many pages a turn reads; the next one reads on."""
OVERLAP = timedelta(minutes=15)  # how late an update may become visible
VERIFY_EVERY = timedelta(hours=1)
"""How often a key is verified while nothing changes: a visitor has no issues, either."""


class IssueNotice(BaseModel, frozen=True):
    """A notice for `to` about an issue: others' actions since then; if `by` isn't None, they assigned it with
    the bot.
    """

    to: Owner
    by: Owner | None = None
    issue: int
    since: datetime | None = None

    @property
    def job_key(self) -> str:
        return f"{PERSONAL_NOTICE}:{self.to.name}:{self.issue}"


class AssigneeProgress(BaseModel):
    """All changes up to `since` are found, by the service's clock; None before the first read. After it,
    `known_updates` has the issues that were found, with their last updates. `verified_at` is when the key was
    verified last. `pages` is how many pages of changes after `since` were read, if more are left, and
    `latest` the last change on them.
    """

    since: datetime | None = None
    known_updates: Mapping[int, datetime] = {}
    verified_at: datetime | None = None
    pages: int = 0
    latest: datetime | None = None

    def since_of(self, number: int) -> datetime | None:
        """Return the time after which changes to this issue are news: its last known update."""
        return self.known_updates[number] + SECOND if number in self.known_updates else self.since


class AssigneeReads(OwnerReads[AssigneeProgress]):
    """Lets users be notified of what changed in their issues."""

    name = "assignee"
    kind, progress = ASSIGNEE, AssigneeProgress
    readers = 4

    async def find(self, owner: Owner, turn: OwnerTurn[AssigneeProgress]) -> JobOutcome:
        store, progress = self.access.store, turn.progress
        topics = await store.notices.topics(owner)
        if not topics:
            return Done()
        now, reported = await store.processes.now(), not topics.keys().isdisjoint(BEYOND_ASSIGNMENTS)
        if (since := progress.since) is None:
            async with self.access.accounts.reading(owner, background=True) as session:
                start = await changes_end(self.access.client, session.key, now, reported=reported)
            return await self._next(owner, AssigneeProgress(since=start, verified_at=now))

        # The last page once more: issues that aren't the user's anymore let those below move up.
        first = max(progress.pages - 1, 0)
        changed, pages = await self._changed(owner, since, first, reported=reported)
        verified_at = progress.verified_at or now
        if now >= verified_at + VERIFY_EVERY:
            async with self.access.accounts.reading(owner, background=True):
                verified_at = now

        updates = {issue.id: issue.updated_on for issue in changed if issue.updated_on}
        # Not past now: an issue dated in the future would hide all others until then.
        moments = [min(issue.updated_on, now) for issue in changed if issue.updated_on]
        latest = progress.latest or max(moments, default=since)
        fresh = [issue.id for issue in changed if progress.known_updates.get(issue.id) != issue.updated_on]
        read = AssigneeProgress(since=since, verified_at=verified_at)
        read.known_updates = {**progress.known_updates, **updates} if progress.pages else updates
        if pages:
            read.pages, read.latest = pages, latest
        else:
            read.since = max(since, latest - OVERLAP)
        notices = [IssueNotice(to=owner, issue=number, since=progress.since_of(number)) for number in fresh]
        return await self._next(owner, read, notices)

    async def _next(
        self, owner: Owner, progress: AssigneeProgress, notices: Sequence[IssueNotice] = ()
    ) -> JobOutcome:
        """The user's next turn, with the jobs that send these notices."""
        now, jobs = await self.access.store.processes.now(), self.access.store.jobs

        def telling(notice: IssueNotice) -> Statement:
            content = notice.model_dump(mode="json")
            return jobs.putting(PERSONAL_NOTICE, notice.job_key, content, at=due, replaces=False)

        # Not before the second is over, so that the message has each change that the list shows.
        due = now + timedelta(seconds=self.access.timings.notice_after)
        # In a thread, because encrypting what a thousand jobs say takes a while.
        also = await asyncio.to_thread(lambda: [*map(telling, notices)])
        return Again(self._next_turn(owner, now), progress.model_dump(mode="json"), also)

    def _next_turn(self, owner: Owner, now: datetime) -> datetime:
        """Turns are spread evenly over the interval, each user's at the same time of it."""
        every = self.access.timings.notice_every
        since_last = (now.timestamp() - zlib.crc32(owner.name.encode())) % every
        return now + timedelta(seconds=every - since_last)

    async def _changed(
        self, owner: Owner, since: datetime, first: int, *, reported: bool
    ) -> tuple[Sequence[Issue], int]:
        """The user's changed issues since then from the `first` page on, the latest first, and how many pages
        are read if there may be more.
        """
        me = (await self.access.accounts.background_link(owner)).user_id
        by_id: dict[int, Issue] = {}
        end, more = first + MAX_PAGES, False
        for filters in changed_since(since, reported=reported):
            for page in range(first, end):
                issues = await self.listed(owner, filters, page * PAGE_SIZE)
                by_id |= {issue.id: issue for issue in issues}
                if len(issues) < PAGE_SIZE:
                    break
            else:
                more = True
        # A group's issues are listed, too.
        mine = [
            one
            for one in by_id.values()
            if me in (one.assigned_to and one.assigned_to.id, reported and one.author and one.author.id)
        ]
        return mine, end if more else 0


@dataclass(frozen=True)
class Assignment:
    """An assignment to the person who has the issue; `key` identifies it, `by` is the person who assigned it,
    if the service says.
    """

    key: str
    at: datetime | None
    by: Ref | None


@dataclass(frozen=True)
class NewsEntry:
    """An entry of the history: the changes to report, and whether to include its comment."""

    entry: Journal
    changes: tuple[Change, ...] = ()
    comment: bool = False


@dataclass(frozen=True)
class IssueNews:
    """The news of an issue as the user `me` of the service sees it: its latest assignment if it is new, and
    others' other actions, in order. `names` are those of values.
    """

    issue: Issue
    me: int
    assignment: Assignment | None
    acts: tuple[NewsEntry, ...]
    names: Names = field(default_factory=dict)

    @cached_property
    def keys(self) -> Sequence[str]:
        """What identifies each part in the issue."""
        assigned = [self.assignment.key] if self.assignment else []
        return [*assigned, *(str(act.entry.id) for act in self.acts)]

    @property
    def changes(self) -> list[Change]:
        return list(chain.from_iterable(act.changes for act in self.acts))

    def without(self, sent_keys: Collection[str]) -> "IssueNews":
        new = self.assignment if self.assignment and self.assignment.key not in sent_keys else None
        acts = tuple(act for act in self.acts if str(act.entry.id) not in sent_keys)
        return replace(self, assignment=new, acts=acts)


def assignment_of(issue: Issue) -> Assignment | None:
    """The latest assignment in an issue's history, or its creation; None if the history isn't known."""
    for entry in reversed(issue.journals):
        if _change(entry, FIELDS["to"]):
            return Assignment(str(entry.id), entry.created_on, entry.user)
    unchanged = issue.created_on is not None and issue.created_on == issue.updated_on
    if unchanged or "journals" in issue.model_fields_set:
        return Assignment("created", issue.created_on, issue.author)
    return None


def news_of(issue: Issue, me: int, since: Mapping[Topic, datetime]) -> IssueNews:
    """Return others' actions since then, for each topic that is on, while the issue was assigned to the user
    `me` or reported by them.
    """
    acts, assignee = [], str(issue.assigned_to.id) if issue.assigned_to else ""
    reported = issue.author is not None and issue.author.id == me
    assignment = assignment_of(issue) if assignee == str(me) else None
    if assignment and not _is_new(assignment.at, assignment.by, me, since.get(Topic.ASSIGNED)):
        assignment = None
    for entry in reversed(issue.journals):
        change, after = _change(entry, FIELDS["to"]), assignee
        assignee = change.old_value if change else assignee
        if not (reported or str(me) in (assignee, after)):
            continue
        is_assignment = assignment is not None and assignment.key == str(entry.id)
        changes = [
            one
            for one in entry.details
            if one.property == "attr"
            and one.name in REPORTED_TO_PEOPLE
            and not (is_assignment and one is change)
        ]
        changed = changes and _is_new(entry.created_on, entry.user, me, since.get(Topic.CHANGES))
        comment = entry.notes.strip() and _is_new(entry.created_on, entry.user, me, since.get(Topic.COMMENTS))
        if changed or comment:
            acts.append(NewsEntry(entry, tuple(changes) if changed else (), bool(comment)))
    return IssueNews(issue, me, assignment, tuple(reversed(acts)))


def _change(entry: Journal, field: Field) -> Change | None:
    return next((one for one in entry.details if (one.property, one.name) == ("attr", field.sent)), None)


def _is_new(at: datetime | None, by: Ref | None, me: int, since: datetime | None) -> bool:
    if at is None or by is None or since is None:
        return False
    return by.id != me and at >= since.replace(microsecond=0)
