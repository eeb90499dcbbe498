"""Sends a direct message to a user whom someone else assigned an issue, and handles the switch for it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.features.assigned import views
from bot.features.assigned.assigned import Assignments
from bot.features.assigned.buttons import TellWhenAssigned
from bot.service.models import Issue
from bot.slack.blocks import Message
from bot.slack.feature import Feature
from bot.slack.interaction import ButtonPress
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import Delayed, Posted
from bot.slack.posting import SLACK_FAILED, why
from bot.slack.replies import Platform, Reply
from bot.slack.workspaces import Workspaces
from bot.store.assignment_messages import AssignmentMessage, AssignmentMessages
from bot.store.claims import State
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

SECONDS = 15.0
"""How long it may take to read an issue for the message about its assignment."""
LONGEST_WAIT = timedelta(minutes=30)
"""How long after its first attempt a message is looked up."""


@dataclass(frozen=True)
class AssignedHandlers:
    """Tells users about issues that someone else assigned to them."""

    assignments: Assignments
    messages: AssignmentMessages
    workspaces: Workspaces
    platform: Platform
    publish_home: Callable[[Reply], Awaitable[None]]

    def feature(self) -> Feature:
        return Feature(buttons={TellWhenAssigned: self.switched})

    async def switched(self, press: ButtonPress[TellWhenAssigned], reply: Reply) -> None:
        """*Turn on* or *Turn off* on the Home tab."""
        await self.messages.turn(reply.owner, on=press.button.on)
        await self.publish_home(reply)

    async def told(self, by: Owner, issue: Issue) -> None:
        """Tell an issue's assignee that `by` assigned it to them, once; never raises.

        Nobody is told about a group's issues, since groups aren't linked.
        """
        try:
            if assignee := await self.assignments.assignee_of(by, issue):
                message = AssignmentMessage(assignee, by, issue.id)
                await self.messages.put(message)
                await self._tell(message)
        except Exception:
            log.exception("assignee not told", action="assigned.not_told", issue=issue.id)

    async def tell_unsent(self) -> None:
        """Send the messages that a stop or a crash left behind, or that Slack didn't take."""
        await asyncio.gather(*map(self._tell, await self.messages.take_unsent()))

    async def _tell(self, message: AssignmentMessage) -> None:
        """Send a message, unless it is sent already or the issue isn't the assignee's anymore."""
        try:
            async with asyncio.timeout(SECONDS):
                seen = await self.assignments.as_seen_by(message.to, message.issue)
            if seen and not await self._sent(message, seen):
                await self.messages.retry(message)
                return
        except Exception:
            log.exception("assignee not told", action="assigned.not_told", issue=message.issue)
        await self.messages.sent(message)

    async def _sent(self, message: AssignmentMessage, seen: Issue) -> bool:
        """Send a message about an issue, once; False if that has to be retried."""
        claim = await self.assignments.claim(message.to, seen)
        state: State | None = State.UNKNOWN
        try:
            if claim.won and not (claim.tried_at and await self._arrived(message, claim.tried_at)):
                post = Post(owner=message.to, channel_id=message.to.user_id, mark=_mark(message))
                text = await self._message(message.by, message.to, seen)
                outcome = await self.platform.outbox.send(post, partial(_ready, text))
                if isinstance(outcome, Delayed):
                    state = None
                    return False
            state = State.DONE
        finally:
            await self.assignments.store.claims.settle(claim, state)
        return True

    async def _arrived(self, message: AssignmentMessage, tried_at: datetime) -> bool:
        """Whether the message of an earlier attempt is in the direct messages; False if Slack can't say."""
        to = message.to
        slack = await self.workspaces.client(to.enterprise_id, to.team_id)
        try:
            opened = await slack.conversations_open(users=to.user_id)
        except SLACK_FAILED as error:
            log.info("direct messages not opened", action="assigned.not_opened", error=why(error))
            return False
        post = Post(owner=to, channel_id=str(opened["channel"]["id"]), mark=_mark(message))
        within = (tried_at, tried_at + LONGEST_WAIT)
        return isinstance(await self.platform.outbox.find(post, within), Posted)

    async def _message(self, by: Owner, assignee: Owner, issue: Issue) -> Message:
        slack = await self.workspaces.client(assignee.enterprise_id, assignee.team_id)
        profiles, team_id = self.platform.profiles, assignee.team_id
        actor, reader = await asyncio.gather(
            profiles.of(slack, team_id, by.user_id), profiles.of(slack, team_id, assignee.user_id)
        )
        return views.assigned(issue, self.platform.wording, actor.name, datetime.now(reader.zone).date())


def _mark(message: AssignmentMessage) -> str:
    return f"issuebot_assigned:{message.issue}"


async def _ready(message: Message) -> Message:
    return message
