"""A form's submission: what it becomes in the form, whether or not the service answers in Slack's time.

Slack waits 3 s and takes field errors only in that time. What takes longer shows that it is being done
and puts its result, or the form with everything still in it, in that place.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, Refused, UserError
from bot.slack.turn import Turn
from bot.slack.views import forms
from bot.slack.views.blocks import JSON

PATIENCE = 2.0
TAKEN_IN = 0.5
"""Seconds after which Slack has taken in an acknowledgement; it would overwrite an update before that."""


@dataclass(frozen=True)
class Reply:
    """What becomes of the form: errors at fields, another view, or, with neither, it closes."""

    errors: dict[str, str] | None = None
    view: JSON | None = None


async def settle(turn: Turn, ack: AsyncAck, work: Coroutine[Any, Any, Reply], doing: str) -> None:
    """Run `work` and answer the submission with its reply; `doing` is shown when that takes long."""
    task = asyncio.create_task(work)
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    if not done:
        await ack(response_action="update", view=forms.notice("One moment", doing))
        reply, _ = await asyncio.gather(task, asyncio.sleep(TAKEN_IN))
        shown = reply.view or (
            forms.refilled(turn.body["view"], "\n".join(reply.errors.values())) if reply.errors else None
        )
        await turn.show(shown or forms.notice("Done", "That is done."))
        return
    reply = task.result()
    if reply.errors:
        await ack(response_action="errors", errors=reply.errors)
    elif reply.view:
        await ack(response_action="update", view=reply.view)
    else:
        await ack(response_action="clear")


def refused(turn: Turn, error: BotError, metadata: str | None = None) -> Reply:
    """The form again with the error: at the fields that the service's sentences name, else above them."""
    view = turn.body["view"]
    if isinstance(error, Refused) and (placed := forms.at_fields(view, error.errors)):
        return Reply(errors=placed)
    return Reply(view=forms.refilled(view, error.sentence(turn.service), metadata))


@asynccontextmanager
async def once(turn: Turn) -> AsyncIterator[None]:
    """The work of one form, done once however often it is submitted; given back when it failed.

    Raises UserError when another submission of the same form has it.
    """
    claim = f"form:{turn.body['view']['id']}"
    if not await turn.parts.store.deliveries.claim(claim):
        raise UserError("This form was sent already: look at the answer to it before you send another.")
    try:
        yield
    except BaseException:
        await turn.parts.store.deliveries.release(claim)
        raise


def metadata_of(view: JSON) -> JSON:
    """A view's `private_metadata` as the bot wrote it; empty for anything else."""
    try:
        data = json.loads(view.get("private_metadata") or "{}")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
