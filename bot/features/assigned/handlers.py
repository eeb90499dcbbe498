"""Sends a direct message to a user whom someone else assigned an issue, and handles the switch for it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import structlog

from bot.features.assigned import views
from bot.features.assigned.assigned import Assignments
from bot.features.assigned.buttons import TellWhenAssigned
from bot.service.models import Issue
from bot.slack.blocks import Message
from bot.slack.feature import Feature
from bot.slack.interaction import ButtonPress
from bot.slack.replies import Platform, Reply
from bot.slack.workspaces import Workspaces
from bot.store.assignment_messages import AssignmentMessages
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

SECONDS = 15.0
"""How long it may take to read an issue for the message about its assignment."""


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
            async with asyncio.timeout(SECONDS):
                assignee = await self.assignments.assignee_of(by, issue)
                seen = await self.assignments.as_seen_by(assignee, issue.id) if assignee else None
            if assignee and seen:
                async with self.assignments.telling(assignee, seen) as claim:
                    if claim.won:
                        await self.platform.outbox.tell(assignee, await self._message(by, assignee, seen))
        except Exception:
            log.exception("assignee not told", action="assigned.not_told", issue=issue.id)

    async def _message(self, by: Owner, assignee: Owner, issue: Issue) -> Message:
        slack = await self.workspaces.client(assignee.enterprise_id, assignee.team_id)
        profiles, team_id = self.platform.profiles, assignee.team_id
        actor, reader = await asyncio.gather(
            profiles.of(slack, team_id, by.user_id), profiles.of(slack, team_id, assignee.user_id)
        )
        return views.assigned(issue, self.platform.wording, actor.name, datetime.now(reader.zone).date())
