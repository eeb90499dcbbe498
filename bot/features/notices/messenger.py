"""Sends a direct message to a user whom someone else assigned an issue, read with the user's own key.

The time of the assignment, in the issue's history, identifies the message: it is sent once, even if both the
bot and `reads` notice the assignment.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

import structlog

from bot.access.assignments import assignments_end
from bot.errors import AnswerTooLarge, ServiceBroken
from bot.features.due_reads import DueReads
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.issues.views import listed, title
from bot.features.notices.reads import HISTORY, AssigneeReads, AssignmentMessage, assignment_of
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import ButtonPress
from bot.slack.language.values import NoZone
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import Block, Message, button, section
from bot.slack.surfaces.buttons import Button
from bot.slack.text.mrkdwn import line
from bot.slack.text.wording import Wording
from bot.store.job import TRIED_FOR, Done, Job, Later, Outcome, Statement
from bot.store.notices import ASSIGNEE
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

TOLD = "assigned"
"""The kind of job that tells a person of an issue. Each assignment that was told is a job that is done."""
MARK = "issuebot_assigned"


class TellWhenAssigned(Button):
    """Turns messages about newly assigned issues on or off."""

    action = "home.tell_when_assigned"
    on: bool


@dataclass(frozen=True)
class AssignmentMessenger:
    parts: Parts

    def feature(self) -> Feature:
        return Feature(
            buttons={TellWhenAssigned: self.switched},
            jobs={TOLD: AssignmentMessages(self.parts), ASSIGNEE: AssigneeReads(self.parts, self._telling)},
        )

    async def switched(self, press: ButtonPress[TellWhenAssigned], reply: Reply) -> None:
        """The switch on the Home tab. What was assigned while it was off isn't told. Raises NotLinked,
        ServiceError.
        """
        notices = self.parts.store.notices
        if press.button.on:
            async with self.parts.accounts.reading(reply.owner) as session:
                now = await self.parts.store.processes.now()
                since = await assignments_end(self.parts.client, session.key, now)
            await notices.turn_on(reply.owner, since)
        else:
            await notices.turn_off(reply.owner)
        await reply.refresh_home()

    async def told(self, by: Owner, issue: Issue) -> None:
        """Tell an issue's assignee, if they want that, that `by` assigned it to them; never raises.

        Nobody is told about a group's issues, since groups aren't linked.
        """
        try:
            if user_id := await Issues(self.parts).assignee_to_mention(by, issue):
                to = replace(by, user_id=user_id)
                message = AssignmentMessage(to, by, issue.id)
                await self.parts.store.jobs.put(TOLD, _job_key(message), message.content)
        except Exception:
            log.exception("assignee not told", action="assigned.not_told", issue=issue.id)

    def _telling(self, message: AssignmentMessage) -> Statement:
        """The statement that adds the job of a message; an unfinished job keeps its content."""
        key = _job_key(message)
        return self.parts.store.jobs.putting(TOLD, key, message.content, replaces=False)


@dataclass(frozen=True)
class Told:
    job: Job
    message: AssignmentMessage

    @property
    def owner(self) -> Owner:
        return self.message.to


class AssignmentMessages(DueReads[Told, Issue]):
    """Sends messages, each read with the assignee's key, unless it is unwanted or sent already, or the issue
    isn't the assignee's now.
    """

    name = "assigned"
    readers = 8
    together = 20
    gives_up_after = TRIED_FOR

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.parts, self._issues = parts, Issues(parts)

    async def load(self, jobs: Sequence[Job]) -> Sequence[Told]:
        return [Told(job, AssignmentMessage.of(job.content)) for job in jobs if job.content]

    async def ready(self, item: Told) -> Told | Outcome:
        return item if await self.parts.store.notices.wanted(item.owner) else Done()

    async def read(self, owner: Owner, items: Sequence[Told]) -> Mapping[str, Issue | Outcome]:
        found: dict[str, Issue | Outcome] = {}
        async with self.access.accounts.reading(owner, background=True) as session:
            for item in items:
                with suppress(ServiceBroken, AnswerTooLarge):  # the others don't wait for it
                    try:
                        issue = await self._issues.detailed(session, item.message.issue, HISTORY)
                    except IssueNotFound:
                        found[item.job.key] = Done()
                    else:
                        is_news = item.message.is_news(issue, session.user_id)
                        found[item.job.key] = issue if is_news else Done()
        return found

    async def post(self, item: Told, content: Issue) -> Outcome:
        """Send the message about the issue's latest assignment, unless that is told already."""
        to, assignment, jobs = item.owner, assignment_of(content), self.parts.store.jobs
        at = assignment.at if assignment else content.updated_on
        which = f"{content.id}:{at.isoformat() if at else ''}"
        if await jobs.is_done(told := f"{TOLD}:{to.name}:{which}"):
            return Done()
        post = Post(owner=to, channel_id=to.user_id, mark=f"{MARK}:{which}")
        message = partial(self._message, item.message, content)
        sent = await self.parts.platform.posts.send(item.job, post, message)
        return sent if isinstance(sent, Later) else Done([jobs.putting_done(told)])

    async def _message(self, message: AssignmentMessage, issue: Issue) -> Message:
        to, by, assignment = message.to, message.by, assignment_of(issue)
        slack = await self.parts.workspaces.client(to.enterprise_id, to.team_id)
        profiles = self.parts.platform.profiles
        reader = await profiles.of(slack, to.team_id, to.user_id)
        name = assignment.by.name if assignment and assignment.by else ""
        if by:
            name = (await profiles.of(slack, to.team_id, by.user_id)).name
        today = None if reader.zone is NoZone.UNKNOWN else datetime.now(reader.zone).date()
        return assigned(issue, self.parts.platform.wording, name or "Someone", today)


def _job_key(message: AssignmentMessage) -> str:
    return f"{TOLD}:{message.to.name}:{message.issue}"


def assigned(issue: Issue, wording: Wording, by: str, today: date | None) -> Message:
    """The direct message about an issue that `by` assigned to the reader."""
    me = issue.assigned_to.id if issue.assigned_to else 0
    row = listed(issue, wording, today, fixed={"assigned_to": me}, me=me)
    said = f"{line(by)} assigned #{issue.id} to you"
    return Message(f"{said}: {title(issue, wording)}", (section(f"{said}."), row))


def switch(*, on: bool) -> Block:
    """The switch on the Home tab; `on` is its position."""
    does = (
        "You get a direct message when someone assigns you an issue."
        if on
        else "Turn it on to get a direct message when someone assigns you an issue."
    )
    press = button("Turn off" if on else "Turn on", TellWhenAssigned(on=not on))
    return section(f"*Tell me when I'm assigned*\n{does}", press)
