"""Assigns an issue to the user who pressed *Assign to me*."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.features.issues import assign_views as views
from bot.features.issues.actions import opening
from bot.features.issues.assign import FRESH, Assigning
from bot.features.issues.buttons import AssignToMe, TakeIssue
from bot.features.issues.publicity import Exposure, exposure_of
from bot.slack import forms
from bot.slack.blocks import JSON
from bot.slack.feature import Feature
from bot.slack.interaction import ButtonPress
from bot.slack.replies import Reply

ShowInDigest = Callable[[Reply, str, Exposure, JSON | None], Awaitable[None]]
"""Shows an issue's assignee in its row of a digest in the reply's channel, with that `ts`; the message is the
digest, None to read it from Slack.
"""


@dataclass(frozen=True)
class AssignHandlers:
    """Assigns issues to the user who pressed the button, and updates the digest that lists the issue."""

    assigning: Assigning
    show_in_digest: ShowInDigest

    def feature(self) -> Feature:
        return Feature(buttons={AssignToMe: self.assign_pressed, TakeIssue: self.take_pressed})

    async def assign_pressed(self, press: ButtonPress[AssignToMe], reply: Reply) -> None:
        """*Assign to me* on a card, in a row or on a post."""
        await self._assign(reply, press.button)

    async def take_pressed(self, press: ButtonPress[TakeIssue], reply: Reply) -> None:
        """*Assign to me* in a digest's row, which is updated."""
        asked, digest = press.button, None
        if asked.holder is None:
            digest = press.message
            asked = asked.model_copy(update={"digest": str(digest.get("ts") or "")})
        seen = await self._assign(reply, asked)
        if reply.place.channel_id and asked.digest:
            fresh = time.time() - press.pressed_at < FRESH
            await self.show_in_digest(reply, asked.digest, seen, digest if fresh else None)

    async def _assign(self, reply: Reply, asked: AssignToMe) -> Exposure:
        """Assign the issue and tell only the user; if it is someone else's, ask first."""
        title, confirmed = f"#{asked.issue}", asked.holder is not None
        in_form = reply.in_form or reply.place.home
        if in_form and not confirmed:
            await reply.open(forms.loading(title))

        reply.recovery = opening(asked.issue, reply.wording)
        result = await self.assigning.take(reply.owner, asked.issue, agreed=asked.holder)
        seen = exposure_of(result.issue)
        said = views.taken(result, reply.wording, asked)
        if in_form:
            await reply.show(forms.said(title, said.blocks))
        else:
            await reply.privately(said, replace=confirmed)
        return seen
