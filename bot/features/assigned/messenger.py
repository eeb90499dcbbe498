"""Sends a direct message to a user whom someone else assigned an issue, read with the user's own key.

The time of the assignment, in the issue's history, identifies the message: it is sent once, even if both the
bot and `reads` notice the assignment.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

import structlog

from bot.access.assignments import assignments_end
from bot.errors import KeyUnreadable, NotLinked, ServiceError
from bot.features.assigned.reads import HISTORY, AssignmentMessage, AssignmentReads, assignment_of
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.issues.views import listed, title
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
from bot.store.jobs import FURTHEST, Job, Later, State
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

SECONDS = 15.0  # how long it may take to read an issue for the message about its assignment
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
            jobs={TOLD: self.tell},
            work={"assigned issues": AssignmentReads(self.parts, self.send)},
        )

    async def switched(self, press: ButtonPress[TellWhenAssigned], reply: Reply) -> None:
        """The switch on the Home tab. What was assigned while it was off isn't told. Raises NotLinked,
        ServiceError.
        """
        if press.button.on:
            async with self.parts.accounts.reading(reply.owner) as session:
                now = await self.parts.store.processes.now()
                since = await assignments_end(self.parts.client, session.key, now)
            await self.parts.store.assignees.restart(reply.owner, since)
        await self.parts.store.assignees.turn(reply.owner, on=press.button.on)
        await reply.refresh_home()

    async def told(self, by: Owner, issue: Issue) -> None:
        """Tell an issue's assignee, if they want that, that `by` assigned it to them; never raises.

        Nobody is told about a group's issues, since groups aren't linked.
        """
        try:
            if user_id := await Issues(self.parts).assignee_to_mention(by, issue):
                message = AssignmentMessage(replace(by, user_id=user_id), by, issue.id)
                await self.send(message)
        except Exception:
            log.exception("assignee not told", action="assigned.not_told", issue=issue.id)

    async def send(self, message: AssignmentMessage) -> None:
        """Let the assignee be told, once, unless they don't want that."""
        to, by, issue = message.to, message.by, message.issue
        content = [to.name, by and by.name, issue]
        await self.parts.store.jobs.put(TOLD, f"{TOLD}:{to.name}:{issue}", content)

    async def tell(self, job: Job) -> Later | None:
        """Send a message, unless it is unwanted or sent already, or the issue isn't the assignee's now."""
        message = AssignmentMessage.of(job.content)
        try:
            async with asyncio.timeout(SECONDS):
                seen = await self._as_seen_by(message.to, message.issue)
        except (ServiceError, KeyUnreadable, TimeoutError) as error:
            log.warning("assigned issue not read", action="assigned.not_read", error=str(error))
            return job.later(self.parts.delays.background_retry, unknown=True) if job.age < FURTHEST else None
        return await self._sent(job, message, seen) if seen else None

    async def _as_seen_by(self, assignee: Owner, number: int) -> Issue | None:
        """The issue, read with the assignee's key; None if they want no messages, aren't linked, can't see
        it, or it isn't theirs anymore. Raises ServiceError, KeyUnreadable.
        """
        if not await self.parts.store.assignees.wanted(assignee):
            return None
        try:
            async with self.parts.accounts.reading(assignee, background=True) as session:
                issue = await Issues(self.parts).detailed(session, number, HISTORY)
        except KeyUnreadable:
            raise
        except (IssueNotFound, NotLinked):
            return None
        return issue if issue.assigned_to and issue.assigned_to.id == session.user_id else None

    async def _sent(self, job: Job, message: AssignmentMessage, seen: Issue) -> Later | None:
        """Send the message about the issue's latest assignment, unless that is told already."""
        assignment = assignment_of(seen)
        at = assignment.at if assignment else seen.updated_on
        which = f"{seen.id}:{at.isoformat() if at else ''}"
        jobs = self.parts.store.jobs
        told = await jobs.claim(f"{TOLD}:{message.to.name}:{which}")
        if not told.won:
            return None if told.done else job.later(self.parts.delays.background_retry, unknown=True)
        later = None
        state: State | None = None
        try:
            post = Post(owner=message.to, channel_id=message.to.user_id, mark=f"{MARK}:{which}")
            sent = await self.parts.platform.posts.send(job, post, partial(self._message, message, seen))
            later = sent if isinstance(sent, Later) else None
            state = None if later else State.DONE
        finally:
            await jobs.settle(told, state)
        return later

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
