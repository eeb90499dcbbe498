"""Taking an issue, from a digest's `…` menu or after being asked."""

import time

from bot.features.digests.rows import FRESH
from bot.features.issues import assign_views as views
from bot.features.issues.assign import Taken
from bot.slack.blocks import JSON
from bot.slack.forms import number_in
from bot.slack.turn import Turn


async def take(turn: Turn, number: int) -> None:
    """Make an issue the person's own; told to them alone, who are asked first if it is somebody else's."""
    message = turn.message
    ts = str(message.get("ts") or "")
    result = await turn.parts.assigning.take(turn.owner, number, agreed=None)
    await turn.answer(views.taken(result, turn.style, ts))
    fresh = time.time() - turn.acted_at < FRESH  # not so where the person had to link an account first
    await _update_digest(turn, result, ts, message if fresh else None)


async def take_pressed(turn: Turn) -> None:
    """The button *Take it from …*; its value names whom the person was asked about, and the digest."""
    number, holder, ts = [*turn.value.split(":"), "", ""][:3]
    result = await turn.parts.assigning.take(turn.owner, number_in(number), agreed=number_in(holder))
    await turn.answer(views.taken(result, turn.style, ts), replace=True)
    await _update_digest(turn, result, ts, None)


async def _update_digest(turn: Turn, result: Taken, ts: str, message: JSON | None) -> None:
    channel_id = turn.place.channel_id
    if channel_id and ts:
        await turn.parts.digest_rows.show(turn.slack, channel_id, ts, result.issue, message)
