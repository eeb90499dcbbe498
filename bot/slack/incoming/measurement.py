"""Counts, times, and logs what an interaction does, under one reference."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from bot import telemetry
from bot.errors import BotError, UserError
from bot.slack.outgoing.posting import NotDelivered
from bot.slack.outgoing.replies import FormNotShown
from bot.slack.surfaces.interaction import Interaction
from bot.slack.workspaces.slack_errors import reason

log = structlog.get_logger(__name__)

UNEXPECTED = frozenset({"failed", "TimeoutError"})
"""The outcomes of what another attempt may cure."""


@dataclass
class Measurement:
    name: str
    reference: str
    outcome: str = "ok"

    def failed(self, error: Exception) -> None:
        name = self.name
        match error:
            case UserError():
                self.outcome = "user_error"
            case BotError():
                self.outcome = type(error).__name__
                log.info("failed with an expected error", action=name, error=str(error))
            case FormNotShown():
                self.outcome = "form_not_shown"
                log.warning("form not shown", action=name, error=reason(error) or "no answer")
            case NotDelivered():
                self.outcome = "not_delivered"
                log.warning("could not answer the user", action=name)
            case TimeoutError():
                self.outcome = "TimeoutError"
            case _:
                self.outcome = "failed"
                log_failure("failed", name, error)


@contextmanager
def measured(interaction: Interaction) -> Iterator[Measurement]:
    """Count and time the block, and log its outcome on one line."""
    act = Measurement(f"{interaction.kind}:{interaction.name}", secrets.token_hex(4))
    started = time.perf_counter()
    owner = interaction.owner
    who = {"reference": act.reference, "team": owner.team_id, "user": owner.user_id}
    with structlog.contextvars.bound_contextvars(**who):
        try:
            yield act
        except asyncio.CancelledError:
            act.outcome = "interrupted"
            raise
        finally:
            seconds, name = time.perf_counter() - started, act.name
            telemetry.COMMANDS.labels(name, act.outcome).inc()
            telemetry.COMPLETION_SECONDS.labels(name).observe(seconds)
            log.info("done", action=name, outcome=act.outcome, ms=round(seconds * 1000))


async def log_if_undelivered(answer: Awaitable[None]) -> None:
    """Await a reply and log it if it can't be delivered; for where no other way to reply is left."""
    try:
        await answer
    except NotDelivered:
        log.warning("answer not delivered", action="answer.not_delivered")
    except Exception as error:  # noqa: BLE001 - it is logged
        log_failure("answer failed", "answer.failed", error)


def log_failure(event: str, action: str, error: Exception) -> None:
    """Log an error: on one line if Slack gave the reason, otherwise with a traceback."""
    if why := reason(error):
        log.warning(event, action=action, error=why)
    else:
        log.error(event, action=action, exc_info=error)
