"""Taking an issue, from a digest's `…` menu or after being asked."""

import time

from bot.features.digests.rows import FRESH
from bot.features.issues import assign_views as views
from bot.features.issues.assign import Assigning, Taken
from bot.slack.blocks import JSON
from bot.slack.feature import Feature
from bot.slack.forms import number_in
from bot.slack.interaction import (
    ButtonPress,
)
from bot.slack.replies import Reply


class AssignHandlers:
    """Assigns issues to the person who presses."""

    def __init__(self, assigning: Assigning, digest_rows: TODO_digest_rows) -> None:
        self._assigning = assigning
        self._digest_rows = digest_rows

    def feature(self) -> Feature:
        """What this answers to."""
        return Feature(buttons={"issue.take": self.take_pressed})

    async def take(self, reply: Reply, number: int) -> None:
        """Make an issue the person's own; told to them alone, who are asked first if it is somebody else's."""
        message = reply.message
        ts = str(message.get("ts") or "")
        result = await self._assigning.take(reply.owner, number, agreed=None)
        await reply.privately(views.taken(result, reply.wording, ts))
        fresh = time.time() - reply.acted_at < FRESH  # not so where the person had to link an account first
        await self._update_digest(reply, result, ts, message if fresh else None)

    async def take_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Take it from …*; its value names whom the person was asked about, and the digest."""
        number, holder, ts = [*press.value.split(":"), "", ""][:3]
        result = await self._assigning.take(reply.owner, number_in(number), agreed=number_in(holder))
        await reply.privately(views.taken(result, reply.wording, ts), replace=True)
        await self._update_digest(reply, result, ts, None)

    async def _update_digest(self, reply: Reply, result: Taken, ts: str, message: JSON | None) -> None:
        channel_id = reply.place.channel_id
        if channel_id and ts:
            await self._digest_rows.show(reply.slack, channel_id, ts, result.issue, message)
