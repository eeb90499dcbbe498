"""Tells people whose request was lost in a crash: another replica does, or this one when it is back."""

import asyncio
from dataclasses import replace

import structlog

from bot.slack.completed_deliveries import CompletedDeliveries
from bot.slack.dispatch import INTERRUPTED
from bot.slack.failures import Failures, last_resort
from bot.slack.forms import refilled
from bot.slack.interaction import read
from bot.slack.replies import Platform, Reply
from bot.slack.workspaces import Workspaces
from bot.store.unfinished import PendingRequest, Unfinished

log = structlog.get_logger(__name__)


class CrashRecovery:
    """Takes over the requests of crashed replicas."""

    def __init__(
        self,
        unfinished: Unfinished,
        completed: CompletedDeliveries,
        failures: Failures,
        workspaces: Workspaces,
        platform: Platform,
    ) -> None:
        self._unfinished = unfinished
        self._completed = completed
        self._failures = failures
        self._workspaces = workspaces
        self._platform = platform

    async def watch(self, interval: float) -> None:
        """Check every `interval` seconds, until cancelled."""
        while True:
            await asyncio.sleep(interval)
            try:
                abandoned = await self._unfinished.take_abandoned()
            except Exception:
                log.exception("no check for crashed replicas", action="delivery.not_looked")
                continue
            await asyncio.gather(*(self._tell(delivery, asked) for delivery, asked in abandoned.items()))

    async def _tell(self, delivery: str, asked: PendingRequest | None) -> None:
        if asked is not None:
            whose = {"team": asked.owner.team_id, "user": asked.owner.user_id}
            log.warning("a request was lost in a crash", action="delivery.abandoned", **whose)
            await last_resort(self._told(asked))
        self._completed.add(delivery)  # not where this is interrupted: the next replica tells then

    async def _told(self, asked: PendingRequest) -> None:
        interaction = read(asked.payload)
        if interaction is None:
            return
        interaction = replace(interaction, owner=asked.owner, installation=asked.installed)
        slack = await self._workspaces.client(*asked.installed)
        reply = Reply.to(interaction, slack, self._platform)
        modal = interaction.modal
        if reply.in_form and modal:  # a person who has gone on in the form needs no word, and loses nothing
            await reply.shown(refilled(modal.json, INTERRUPTED), over=modal.hash)
        else:
            await self._failures.tell(reply, INTERRUPTED)
