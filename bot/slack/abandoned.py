"""Whoever waits for a process that died is told so by another one, or by itself when it is there again."""

import asyncio

import structlog

from bot.slack.handling import CUT_OFF, failed, last_resort
from bot.slack.parts import Parts
from bot.slack.turn import Turn
from bot.store.unfinished import Asked

SECONDS = 5

log = structlog.get_logger(__name__)


async def watch(parts: Parts) -> None:
    """Every few seconds, until cancelled: says that this process lives, and looks for those that died."""
    while True:
        await asyncio.sleep(SECONDS)
        try:
            abandoned = await parts.store.unfinished.take_abandoned()
        except Exception:
            log.exception("nobody looked for what is abandoned", action="delivery.not_looked")
            continue
        with parts.in_flight.track():
            await asyncio.gather(*(last_resort(_tell(parts, asked)) for asked in abandoned))


async def _tell(parts: Parts, asked: Asked) -> None:
    slack = await parts.workspaces.client(asked.owner.enterprise_id, asked.owner.team_id)
    turn = Turn.from_body(parts, slack, asked.payload)
    turn.owner = asked.owner
    owner = {"team": asked.owner.team_id, "user": asked.owner.user_id}
    log.warning("another process was stopped in the middle", action="delivery.abandoned", **owner)
    await failed(turn, CUT_OFF)
