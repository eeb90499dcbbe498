"""Notices issues that were assigned in the service, with each assignee's own key, and tells them.

A user's turn is one request for each hundred of their issues that changed. Only those that weren't read since
are read one by one, with a key that is verified, to learn who assigned them and when. What is handled moves
on only over what was read, by the service's own clock.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.assignments import assigned_since, assignments_end
from bot.errors import AnswerTooLarge, ServiceBroken, Unauthorized
from bot.features.background import Background
from bot.features.issues.issues import IssueNotFound, Issues
from bot.service.conventions import PAGE, IssueDetailInclude
from bot.service.models import Issue, Ref
from bot.store.assignees import Assignee
from bot.store.owner import Owner
from bot.store.tables import Seen

HISTORY: tuple[IssueDetailInclude, ...] = ("journals",)
MAX_IN_FLIGHT = 200
MAX_PAGES = 10
MAX_CHANGES = 20
"""How many changed issues of one user are read one by one in a turn; the others wait for the next."""
OVERLAP = timedelta(minutes=15)  # how late an update may become visible
VERIFY_EVERY = timedelta(hours=1)
"""How often a key is verified while nothing changes: a visitor has no issues, either."""
UNREADABLE_FOR = timedelta(days=1)  # how long an issue that can't be read holds up what is covered
SAME_SECOND = timedelta(seconds=5)  # for how long after an update another one may get the same time


@dataclass(frozen=True)
class AssignmentMessage:
    """What `to` is to be told: that `by` assigned the issue to them; None for somebody in the service."""

    to: Owner
    by: Owner | None
    issue: int

    @classmethod
    def of(cls, content: Any) -> "AssignmentMessage":  # noqa: ANN401 - JSON
        to, by, issue = content
        return cls(Owner.named(to), Owner.named(by) if by else None, issue)


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


@dataclass(frozen=True)
class Read:
    """The numbers of newly assigned issues, and what the user's next turn needs to know."""

    assigned: Sequence[int]
    since: datetime
    seen: Seen


class AssignmentReads(Background[Assignee, Read]):
    """`tell` sends a message, once however often it is asked."""

    name = "assigned"
    readers = 4

    def __init__(self, access: Access, tell: Callable[[AssignmentMessage], Awaitable[None]]) -> None:
        super().__init__(access)
        self._tell, self._every = tell, timedelta(seconds=access.timings.assigned_every)
        self._verify_at: dict[Owner, datetime] = {}

    async def realign(self, now: datetime) -> None:
        await self.access.store.assignees.realign(now, now + self._every)

    async def due(self, now: datetime) -> AsyncIterator[Sequence[Assignee]]:
        tick, most = timedelta(seconds=self.access.timings.interval), MAX_IN_FLIGHT - len(self.in_flight)
        for assignee in await self.access.store.assignees.claim(now, most, every=self._every, tick=tick):
            yield [assignee]

    async def read(self, items: Sequence[Assignee]) -> Sequence[tuple[Assignee, Read]]:
        """What changed, and which of it was assigned since. Raises NotLinked, ServiceError."""
        (assignee,) = items
        now = self.clock.now()
        if (since := assignee.since) is None:
            async with self.access.accounts.reading(assignee.owner, background=True) as session:
                start = await assignments_end(self.access.client, session.key, now)
            return [(assignee, Read((), start, {}))]
        changed = await self._changed(assignee, since)
        fresh = [issue for issue in changed if assignee.seen.get(issue.id) != issue.updated_on]
        news: dict[int, bool] = {}
        if fresh or now >= self._verify_at.setdefault(assignee.owner, now + VERIFY_EVERY):
            async with self.access.accounts.reading(assignee.owner, background=True) as session:
                for issue in fresh[:MAX_CHANGES]:
                    with suppress(ServiceBroken, AnswerTooLarge):  # the others don't wait for it
                        news[issue.id] = await self._is_news(session, issue.id, since)
            self._verify_at[assignee.owner] = now + VERIFY_EVERY
        unread = {issue.id: issue for issue in fresh if issue.id not in news}
        # Times are in whole seconds: another change may still get the same one.
        seen = {
            issue.id: issue.updated_on
            for issue in changed
            if issue.id not in unread and issue.updated_on and abs(issue.updated_on - now) > SAME_SECOND
        }
        latest = max((issue.updated_on for issue in changed if issue.updated_on), default=since)
        # Not past now: an issue dated in the future would hide all others until then.
        waits = len(fresh) > MAX_CHANGES or any(_may_be_read(issue, now) for issue in unread.values())
        covered_to = since if waits else max(since, min(latest, now) - OVERLAP)
        return [(assignee, Read([number for number, is_news in news.items() if is_news], covered_to, seen))]

    async def post(self, item: Assignee, content: Read) -> None:
        for number in content.assigned:
            await self._tell(AssignmentMessage(item.owner, None, number))
        await self.access.store.assignees.release(item, content.since, content.seen)

    async def failed(self, items: Sequence[Assignee], error: Exception) -> None:
        """The user's next turn reads the same."""

    async def _changed(self, assignee: Assignee, since: datetime) -> Sequence[Issue]:
        """The user's changed issues since then, the latest first. Raises NotLinked, ServiceError.

        The key is verified if it is refused.
        """
        link = await self.access.accounts.background_link(assignee.owner)
        filters = assigned_since(since)
        found: dict[int, Issue] = {}
        for page in range(MAX_PAGES):
            try:
                issues = (await self.access.client.list_issues(link.key, filters, page * PAGE)).items
            except Unauthorized:
                async with self.access.accounts.reading(assignee.owner, background=True):
                    raise
            found |= {issue.id: issue for issue in issues}
            if len(issues) < PAGE:
                break
        # A group's issues are listed, too.
        return [one for one in found.values() if one.assigned_to and one.assigned_to.id == link.user_id]

    async def _is_news(self, session: Session, number: int, since: datetime) -> bool:
        """Whether someone else has assigned the issue to the user since then."""
        try:
            issue = await Issues(self.access).detailed(session, number, HISTORY)
        except IssueNotFound:
            return False
        assignment = assignment_of(issue)
        if assignment is None or assignment.at is None or assignment.by is None:
            return False
        return assignment.at >= since.replace(microsecond=0) and assignment.by.id != session.user_id


def _may_be_read(issue: Issue, now: datetime) -> bool:
    return issue.updated_on is None or issue.updated_on > now - UNREADABLE_FOR
