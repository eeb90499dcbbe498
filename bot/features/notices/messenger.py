"""Sends a direct message about what others did to a user's issue, read with the user's own key.

Each entry of the issue's history is in one message only, even if both the bot and `reads` notice it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

import structlog

from bot.access.accounts import Session
from bot.errors import ServiceBroken
from bot.features.due_reads import DueReads
from bot.features.issues.issues import HISTORY, IssueNotFound, Issues, names_of
from bot.features.notices import views
from bot.features.notices.reads import (
    AssigneeProgress,
    Assignment,
    IssueNews,
    IssueNotice,
    assignment_of,
    news_of,
)
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.language.values import NoZone
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outbox import Post
from bot.slack.surfaces.blocks import Message
from bot.store.jobs import RETRIED_FOR, Done, Job, JobOutcome, Later, Statement
from bot.store.notices import PERSONAL_NOTICE, Topic
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

MARK = "issuebot_assigned"


class AssignmentMessenger:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.issues = parts, parts.shared(Issues)

    async def changed(self, by: Owner, issue: Issue) -> None:
        """Notify the new assignee of a changed issue; see `assigned`."""
        await self.assigned(by, issue, await self.issues.assignee_to_mention(by, issue))

    async def assigned(self, by: Owner, issue: Issue, assignee: str | None) -> None:
        """Notify an issue's assignee, a Slack user, if they want that, that `by` assigned it to them; never
        raises. Nobody is notified of a group's issues, because groups aren't linked.
        """
        if assignee is None:
            return
        try:
            to, store = replace(by, user_id=assignee), self.parts.store
            progress = AssigneeProgress.model_validate(await store.notices.progress(to) or {})
            notice = IssueNotice(to=to, by=by, issue=issue.id, since=progress.since_of(issue.id))
            # Without a history, only this job knows who did it; with one, the first knows the most.
            replaces = self.parts.client.optional.is_missing("get_issue")
            content = notice.model_dump(mode="json")
            await store.jobs.put(PERSONAL_NOTICE, notice.job_key, content, replaces=replaces)
        except Exception:
            log.exception("assignee not told", action="assigned.not_told", issue=issue.id)


@dataclass(frozen=True)
class Told:
    """A message to send; `repeated` if an earlier attempt may have sent it."""

    job: Job
    notice: IssueNotice
    topics: Mapping[Topic, datetime] = field(default_factory=dict)
    repeated: bool = False

    @property
    def owner(self) -> Owner:
        return self.notice.to

    def post(self, last: str) -> Post:
        """The post whose last part is this."""
        mark = f"{MARK}:{self.notice.issue}:{last}"
        return Post(owner=self.owner, channel_id=self.owner.user_id, mark=mark)

    def part(self, key: str) -> str:
        """Return the key of the job that is done once this part is sent."""
        return f"{self.notice.job_key}:{key}"


class NoticeMessages(DueReads[Told, IssueNews]):
    """Sends messages, each read with its receiver's key, unless they are turned off or sent already."""

    name = "assigned"
    readers = 8
    together = 20

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.parts, self._issues, self._posts = parts, parts.shared(Issues), parts.platform.posts

    async def load(self, jobs: Sequence[Job]) -> Sequence[Told]:
        return [Told(job, IssueNotice.model_validate(job.content)) for job in jobs if job.content]

    async def ready(self, item: Told) -> Told | JobOutcome:
        """The item with its receiver's topics, once it is known whether an earlier attempt sent it."""
        topics = await self.parts.store.notices.topics_about(item.owner, item.notice.issue)
        if not topics:
            return Done()
        item = replace(item, topics=topics)
        if item.job.request_began is None or not item.job.sending:
            return item
        match await self._posts.look_up(item.job, item.post(item.job.sending[-1])):
            case Later() as later:
                return later
            case outcomes.Posted():
                await self._posts.jobs.end_request(item.job, self._told(item, item.job.sending))
            case outcomes.Unconfirmed():
                return replace(item, repeated=True)
        return replace(item, job=replace(item.job, request_began=None))

    async def read(self, owner: Owner, items: Sequence[Told]) -> Mapping[str, IssueNews | JobOutcome]:
        contents: dict[str, IssueNews | JobOutcome] = {}
        async with self.access.accounts.reading(owner, background=True) as session:
            for item in items:
                with suppress(ServiceBroken):  # the others don't wait for it
                    try:
                        contents[item.job.key] = await self._read(session, item)
                    except IssueNotFound:
                        contents[item.job.key] = Done()
        return contents

    async def left_out(self, item: Told) -> JobOutcome:
        """Give the message up after RETRIED_FOR."""
        return Done() if item.job.age > RETRIED_FOR else await super().left_out(item)

    async def _read(self, session: Session, item: Told) -> IssueNews:
        issue, since = await self._issues.detailed(session, item.notice.issue, HISTORY), item.notice.since
        from_when = {topic: max(on, since) for topic, on in item.topics.items()} if since else {}
        news, mine = news_of(issue, session.user_id, from_when), issue.assigned_to
        if item.notice.by and Topic.ASSIGNED in item.topics and mine and mine.id == session.user_id:
            at = issue.updated_on
            unknown = Assignment(at.isoformat() if at else "", at, None)
            news = replace(news, assignment=assignment_of(issue) or unknown)
        return replace(news, names=await names_of(self.access, session, issue, news.changes))

    async def post(self, item: Told, content: IssueNews) -> JobOutcome:
        """Send the message, without the parts that were sent already."""
        sent_keys = [key for key in content.keys if await self.access.store.claims.is_done(item.part(key))]
        content = content.without(sent_keys)
        keys = content.keys
        message = await self._message(item, content)
        if message is None:
            return Done(self._told(item, keys))

        async def ready() -> Message:
            return message

        sent = await self._posts.post(
            item.job, item.post(keys[-1]), ready, sending=lambda: keys, repeated=item.repeated
        )
        return sent if isinstance(sent, Later) else Done(self._told(item, keys))

    def _told(self, item: Told, keys: Sequence[str]) -> Sequence[Statement]:
        return [self.access.store.claims.recording_done(item.part(key)) for key in keys]

    async def _message(self, item: Told, content: IssueNews) -> Message | None:
        """Return the message; None if there is nothing to say, as when a change was reverted."""
        to, by, assignment = item.owner, item.notice.by, content.assignment
        slack = await self.parts.workspaces.of(to)
        profiles, wording = self.parts.platform.profiles, self.parts.platform.wording
        reader = await profiles.of(slack, to.team_id, to.user_id)
        name = assignment.by.name if assignment and assignment.by else ""
        if by:
            name = (await profiles.of(slack, to.team_id, by.user_id)).name

        today = None if reader.zone is NoZone.UNKNOWN else datetime.now(reader.zone).date()
        quotes = await views.quotes_of(content, wording)
        paragraphs = views.paragraphs(content, name or "Someone", quotes)
        return views.notice(paragraphs, content, wording, today) if paragraphs else None
