"""Assigns an issue to the user, from a digest's `…` menu or after a confirmation."""

import time
from typing import Any

from bot.errors import UserError
from bot.features.digests.rows import FRESH, DigestRows
from bot.features.issues import assign_views as views
from bot.features.issues.assign import Assigning, AssignResult
from bot.slack.blocks import JSON
from bot.slack.feature import Feature
from bot.slack.forms import NONSENSE, number_in
from bot.slack.interaction import ButtonPress
from bot.slack.replies import Reply


class AssignHandlers:
    """Assigns issues to the user who pressed the button, and updates the digest that lists the issue."""

    def __init__(self, assigning: Assigning, digest_rows: DigestRows) -> None:
        self._assigning = assigning
        self._digest_rows = digest_rows

    def feature(self) -> Feature:
        return Feature(buttons={views.TAKE: self.take_pressed})

    async def take(self, press: ButtonPress[Any], reply: Reply, number: int) -> None:
        """Assign an issue to the user and answer privately; if it is someone else's, ask first."""
        if not press.message:
            raise UserError(NONSENSE)
        ts = str(press.message.get("ts") or "")
        result = await self._assigning.take(reply.owner, number, agreed=None)
        await reply.privately(views.taken(result, reply.wording, ts))
        fresh = time.time() - press.pressed_at < FRESH  # it isn't if the user had to link an account first
        await self._update_digest(reply, result, ts, press.message if fresh else None)

    async def take_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The button *Take it from …*; its value has the assignee that was shown, and the digest's `ts`."""
        number, holder, ts = [*press.value.split(":"), "", ""][:3]
        result = await self._assigning.take(reply.owner, number_in(number), agreed=number_in(holder))
        await reply.privately(views.taken(result, reply.wording, ts), replace=True)
        await self._update_digest(reply, result, ts, None)

    async def _update_digest(self, reply: Reply, result: AssignResult, ts: str, message: JSON | None) -> None:
        channel_id = reply.place.channel_id
        if channel_id and ts:
            await self._digest_rows.show(reply.slack, channel_id, ts, result.issue, message)
