"""Notifies users whose request was lost in a crash, from another replica or after a restart."""

import asyncio
from dataclasses import dataclass, replace

import structlog

from bot.slack.buttons import shows_progress
from bot.slack.deliveries import CompletedDeliveries
from bot.slack.errors import Interrupted
from bot.slack.failures import Failures
from bot.slack.forms import refilled
from bot.slack.interaction import read
from bot.slack.measurement import log_if_undelivered
from bot.slack.replies import Platform, Reply
from bot.slack.workspaces import Workspaces
from bot.store.deliveries import Deliveries, UnfinishedRequest

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CrashRecovery:
    deliveries: Deliveries
    completed: CompletedDeliveries
    failures: Failures
    workspaces: Workspaces
    platform: Platform

    async def check(self) -> None:
        abandoned = await self.deliveries.take_abandoned()
        await asyncio.gather(*(self._recover(delivery, asked) for delivery, asked in abandoned.items()))

    async def _recover(self, delivery: str, asked: UnfinishedRequest | None) -> None:
        if asked is not None:
            user = {"team": asked.owner.team_id, "user": asked.owner.user_id}
            log.warning("a request was lost in a crash", action="delivery.abandoned", **user)
            await log_if_undelivered(self._notify(asked))
        self.completed.add(delivery)  # skipped if this is canceled: the next replica notifies then

    async def _notify(self, asked: UnfinishedRequest) -> None:
        interaction = read(asked.payload)
        if interaction is None:
            return
        interaction = replace(interaction, owner=asked.owner, installation=asked.installed)
        slack = await self.workspaces.client(*asked.installed)
        reply = Reply.to(interaction, slack, self.platform)
        modal = interaction.modal
        if reply.in_form and modal:  # if the user has moved on in the form, nothing was lost
            said = reply.wording.sentence(Interrupted())
            over = None if shows_progress(interaction.name) else modal.hash
            await reply.shown(refilled(modal.json, said), over=over)
        else:
            await self.failures.tell(reply, Interrupted())
