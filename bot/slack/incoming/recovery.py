"""Recovers the requests of a process that crashed: handles events again, and tells users about the others."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import structlog

from bot.slack.incoming.failures import tell
from bot.slack.incoming.feature import Interrupted
from bot.slack.outgoing.replies import Platform, Reply
from bot.slack.surfaces.blocks import Block, context
from bot.slack.surfaces.buttons import shows_progress
from bot.slack.surfaces.forms import refilled
from bot.slack.surfaces.interaction import Destination, Event, FormSubmission, Interaction, read
from bot.slack.text.mrkdwn import moment
from bot.slack.workspaces.tokens import Workspaces
from bot.store.jobs import Job
from bot.store.owner import Owner

ANSWERABLE_FOR = timedelta(minutes=30)  # how long Slack accepts answers at a `response_url`
RECOVERED_FOR = timedelta(days=1)  # drafts and records of completed work aren't kept longer

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CrashRecovery:
    workspaces: Workspaces
    platform: Platform
    run_event: Callable[[Event, Reply], Awaitable[None]]

    async def recover(self, job: Job) -> None:
        """Handle an event again that a process lost, and tell a user that their request was lost, up to a day
        after it.
        """
        if job.age >= RECOVERED_FOR:
            log.warning("a lost request is a day old", action="delivery.untold")
            return
        name, installation, payload = job.content
        owner, interaction = Owner.named(name), read(payload)
        user = {"team": owner.team_id, "user": owner.user_id}
        log.warning("a request was lost in a crash", action="delivery.abandoned", **user)
        if interaction:
            late = datetime.now(UTC) - job.age if job.age >= ANSWERABLE_FOR else None
            interaction = replace(interaction, owner=owner, installation=tuple(installation))
            await self._notify(interaction, late)  # undeliverable notices are retried

    async def _notify(self, interaction: Interaction, late: datetime | None) -> None:
        """`late` is when the request came, if that's too long ago to reply where it was made."""
        slack = await self.workspaces.client(*interaction.installation)
        reply = Reply(slack, interaction, self.platform)
        if isinstance(interaction, Event):
            await self.run_event(interaction, reply)
            return

        modal = interaction.modal
        if modal and isinstance(interaction, FormSubmission):
            reply = reply.at(Destination.from_json(modal.metadata.get("place")))
        notes = []
        if late:  # an ephemeral message reaches only who is looking at the conversation
            reply = reply.at(Destination())
            notes = [_asked(interaction.place.channel_id or "", late)]
        if reply.in_form and modal:  # if the user has moved on in the form, nothing was lost
            text = reply.wording.sentence(Interrupted())
            over = None if shows_progress(interaction.name) else modal.hash
            await reply.try_show(refilled(modal.json, text), over=over)
        else:
            await tell(reply, Interrupted(), *notes)


def _asked(channel_id: str, at: datetime) -> Block:
    where = f" in <#{channel_id}>" if channel_id[:1] in {"C", "G"} else ""
    return context(f"You asked for it {moment(at)}{where}.")
