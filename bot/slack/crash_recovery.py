"""Whoever waits for a process that died is told so by another one, or by itself when it is there again."""

import asyncio

import structlog

from bot.features.parts import Parts
from bot.slack.dispatch import CUT_OFF, failed, last_resort
from bot.slack.forms import refilled
from bot.slack.turn import Turn
from bot.store.unfinished import Asked

log = structlog.get_logger(__name__)


async def watch(parts: Parts, interval: float) -> None:
    """Answers the requests of crashed replicas, checking every `interval` seconds until cancelled."""
    while True:
        await asyncio.sleep(interval)
        try:
            abandoned = await parts.store.unfinished.take_abandoned()
        except Exception:
            log.exception("nobody looked for what is abandoned", action="delivery.not_looked")
            continue
        await asyncio.gather(*(_tell(parts, delivery, asked) for delivery, asked in abandoned.items()))


async def _tell(parts: Parts, delivery: str, asked: Asked | None) -> None:
    if asked is not None:
        whose = {"team": asked.owner.team_id, "user": asked.owner.user_id}
        log.warning("a process was stopped in the middle", action="delivery.abandoned", **whose)
        await last_resort(_told(parts, asked))
    parts.finished.add(delivery)  # not where this was cut off: the next process tells of it then


async def _told(parts: Parts, asked: Asked) -> None:
    turn = Turn.from_body(parts, await parts.workspaces.client(*asked.installed), asked.payload)
    turn.owner = asked.owner
    if turn.in_form:  # whoever has gone on in the form since needs no word, and nothing of theirs is put back
        await turn.shown(refilled(turn.view, CUT_OFF), over=turn.view.get("hash"))
    else:
        await failed(turn, CUT_OFF)
