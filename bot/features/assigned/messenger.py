"""Sends a direct message to a user whom someone else assigned an issue, read with the user's own key.

The time of the assignment, in the issue's history, identifies the message: it is sent once, even if both the
bot and `reads` notice the assignment.
"""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

import structlog

from bot.errors import NotLinked, ServiceError
from bot.features.assigned.reads import HISTORY, AssignmentReads, assignment_of
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.issues.views import listed, title
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import ButtonPress
from bot.slack.language.values import NoZone
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import Delayed, Posted, Unfinished
from bot.slack.outgoing.posting import SLACK_FAILED, why
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import Block, Message, button, section
from bot.slack.surfaces.buttons import Button
from bot.slack.text.mrkdwn import line
from bot.slack.text.wording import Wording
from bot.store.assignment_messages import AssignmentMessage
from bot.store.claims import State
from bot.store.owner import Owner
from bot.tasks import Tasks

log = structlog.get_logger(__name__)

SECONDS = 15.0  # how long it may take to read an issue for the message about its assignment
RETRIES = 8
"""How often a message is tried again if the service fails; the wait doubles, so that this takes two hours."""
LONGEST_WAIT = timedelta(minutes=30)  # how long after its first attempt a message is looked up


class TellWhenAssigned(Button):
    """Turns messages about newly assigned issues on or off."""

    action = "home.tell_when_assigned"
    on: bool


@dataclass(frozen=True)
class AssignmentMessenger:
    parts: Parts
    _sending: Tasks = field(default_factory=Tasks, init=False)
    _waiting: Tasks = field(default_factory=Tasks, init=False)

    def feature(self) -> Feature:
        return Feature(
            buttons={TellWhenAssigned: self.switched},
            work={"unsent assignments": self, "assigned issues": AssignmentReads(self.parts, self.send)},
        )

    async def switched(self, press: ButtonPress[TellWhenAssigned], reply: Reply) -> None:
        """The switch on the Home tab."""
        if press.button.on:
            await self.parts.store.assignees.restart(reply.owner)
        await self.parts.store.assignment_messages.turn(reply.owner, on=press.button.on)
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
        """Send a message, if the assignee wants that; one that can't be sent now is sent later."""
        await self.parts.store.assignment_messages.put(message)
        await self._tell(message)

    async def run_due(self) -> None:
        """Start to send the messages that a stop or a crash left behind, or that Slack didn't take."""
        for message in await self.parts.store.assignment_messages.take_unsent():
            self._sending.start(self._tell(message))

    async def stop(self, seconds: float) -> None:
        """A message that is cut off is looked up later."""
        await self._waiting.drain(0)
        await self._sending.drain(seconds)

    async def _tell_again(self, message: AssignmentMessage, tries: int) -> None:
        await asyncio.sleep(self.parts.delays.background_retry * 2**tries)
        await self._tell(message, tries + 1)

    async def _tell(self, message: AssignmentMessage, tries: int = 0) -> None:
        """Send a message, unless it is unwanted or sent already, or the issue isn't the assignee's now."""
        try:
            async with asyncio.timeout(SECONDS):
                seen = await self._as_seen_by(message.to, message.issue)
            if seen and not await self._sent(message, seen):
                await self.parts.store.assignment_messages.retry(message)
                return
        except (ServiceError, TimeoutError) as error:
            log.warning("assigned issue not read", action="assigned.not_read", tries=tries, error=str(error))
            if tries < RETRIES:
                self._waiting.start(self._tell_again(message, tries))
                return
        except Exception:
            log.exception("assignee not told", action="assigned.not_told", issue=message.issue)
        await self.parts.store.assignment_messages.sent(message)

    async def _as_seen_by(self, assignee: Owner, number: int) -> Issue | None:
        """The issue, read with the assignee's key; None if they want no messages, aren't linked, can't see
        it, or it isn't theirs anymore. Raises ServiceError.
        """
        if not await self.parts.store.assignment_messages.wanted(assignee):
            return None
        try:
            async with self.parts.accounts.reading(assignee, background=True) as session:
                issue = await Issues(self.parts).detailed(session, number, HISTORY)
        except (IssueNotFound, NotLinked):
            return None
        return issue if issue.assigned_to and issue.assigned_to.id == session.user_id else None

    async def _sent(self, message: AssignmentMessage, seen: Issue) -> bool:
        """Send a message about an issue, once; False if that has to be retried."""
        to, assignment = message.to, assignment_of(seen)
        at = assignment.at if assignment else seen.updated_on
        version = at.isoformat() if at else ""
        claim = await self.parts.store.claims.take(f"assigned:{to.team_id}:{to.user_id}:{seen.id}:{version}")
        if not claim.won:
            return claim.done
        state: State | None = State.UNKNOWN
        try:
            if not (claim.tried_at and await self._arrived(message, claim.tried_at)):
                post = Post(owner=to, channel_id=to.user_id, mark=_mark(message))
                text = await self._message(message, seen)

                async def ready() -> Message:
                    return text

                outcome = await self.parts.platform.outbox.send(post, ready)
                if isinstance(outcome, Delayed):
                    state = None
                    return False
            state = State.DONE
        finally:
            await self.parts.store.claims.settle(claim, state)
        return True

    async def _arrived(self, message: AssignmentMessage, tried_at: datetime) -> bool:
        """Whether the message of an earlier attempt is in the direct messages; False if Slack never says."""
        to = message.to
        slack = await self.parts.workspaces.client(to.enterprise_id, to.team_id)
        try:
            opened = await slack.conversations_open(users=to.user_id)
        except SLACK_FAILED as error:
            log.info("direct messages not opened", action="assigned.not_opened", error=why(error))
            return False
        post = Post(owner=to, channel_id=str(opened["channel"]["id"]), mark=_mark(message))
        within, outbox = (tried_at, tried_at + LONGEST_WAIT), self.parts.platform.outbox
        found = await outbox.find(post, within)
        while isinstance(found, Unfinished):
            await asyncio.sleep(found.seconds)
            found = await outbox.find(post, within, found.searched_to)
        return isinstance(found, Posted)

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


def _mark(message: AssignmentMessage) -> str:
    return f"issuebot_assigned:{message.issue}"


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
