"""Tells users about errors: in the open form, or privately, with a button for the next step.

Gives back what they typed, and *Link account* or *Open form* resumes it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from bot.errors import BotError, Forbidden, NotLinked, Unauthorized, UserError
from bot.slack.incoming.feature import Interrupted
from bot.slack.incoming.form_results import finish
from bot.slack.incoming.measurement import Measurement, log_failure, log_if_undelivered
from bot.slack.outgoing.posting import NotDelivered
from bot.slack.outgoing.replies import FormNotShown, Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Block, Message, button_row, rows, section, sentence, typed
from bot.slack.surfaces.forms import FormResult
from bot.slack.text.mrkdwn import without_keys
from bot.slack.workspaces.slack_errors import TRIGGER_EXPIRED, reason
from bot.store.owner import Owner


class Linking(Protocol):
    """What the accounts feature does for a user who isn't linked."""

    async def ask(self, reply: Reply, why: str, saved: str) -> None:
        """Ask for an API key, in a form if one can be shown; once it works, the saved request resumes."""

    async def verify(self, owner: Owner) -> object:
        """Check the user's key with the service. Raises NotLinked if it doesn't work, or ServiceError."""


@dataclass(frozen=True)
class Failures:
    linking: Linking

    @asynccontextmanager
    async def reported(self, act: Measurement, reply: Reply, last_answer: float) -> AsyncIterator[None]:
        """Tell the user about any error in the block, once; re-raises a cancellation.

        `last_answer` is how long that may take, in seconds, when the process stops.
        """
        try:
            yield
        except asyncio.CancelledError:
            await log_if_undelivered(asyncio.wait_for(tell(reply, Interrupted()), last_answer))
            raise
        except NotLinked as error:
            act.outcome = "not_linked"
            await log_if_undelivered(self._offer_link(reply, error))
        except Unauthorized as error:
            act.failed(error)
            await log_if_undelivered(self._check_key(reply, error))
        except BotError as error:
            act.failed(error)
            await log_if_undelivered(tell(reply, error))
        except FormNotShown as error:
            if reply.form_needs_press:
                act.outcome = "form_offered"
            else:
                act.failed(error)
            await log_if_undelivered(_offer_form(reply, reason(error)))
        except NotDelivered as error:
            act.failed(error)
        except Exception as error:  # noqa: BLE001 - it is logged
            act.failed(error)
            bug = UserError(
                "Something went wrong on my end. Ask your Issue Bot administrator to look up reference "
                "{reference}.",
                reference=act.reference,
            )
            await log_if_undelivered(tell(reply, bug))

    async def _check_key(self, reply: Reply, error: Unauthorized) -> None:
        """After Unauthorized: tell whether the key is invalid or just lacks permission."""
        cause: BotError = Forbidden(error.method, error.path)
        try:
            await self.linking.verify(reply.owner)
        except NotLinked as dead:
            await self._offer_link(reply, dead)
            return
        except BotError:
            cause = error
        await tell(reply, cause)

    async def _offer_link(self, reply: Reply, why: NotLinked) -> None:
        saved = await reply.save_request()
        await self.linking.ask(reply, reply.wording.sentence(why), saved.id)


async def tell(reply: Reply, error: BotError, *notes: Block) -> None:
    """Report a failure: with the form as it was, unless its write succeeded, or with the typed command, the
    buttons that lead on, and the notes.
    """
    text = without_keys(reply.wording.sentence(error))
    warning = sentence(text)
    if modal := reply.interaction.modal:
        result = FormResult.again(modal.json, text)
        if reply.committed:  # the form would act again
            result = FormResult.notice(modal.json["title"]["text"], warning)
        if not reply.acknowledge(response_action="update", view=result.view):
            await finish(reply, result)
    else:
        message = Message(warning.text, (*warning.blocks, *await _below(reply, error), *notes))
        if not (reply.view_id and await reply.try_show(forms.result("That didn't work", message.blocks))):
            await reply.privately(message)


async def _offer_form(reply: Reply, why: str | None) -> None:
    if reply.view_id:
        if why != "not_found":  # not_found: the user closed it
            await tell(reply, UserError("Slack didn't open the form. Try again."))
        return
    text = "Slack didn't open the form."
    if why in TRIGGER_EXPIRED:
        text = "Slack timed out before the form opened."
    if reply.form_needs_press:
        text = "Here's the form."
    row = button_row("Open form", await reply.save_request())
    await reply.privately(Message(text, (section(text), row)))


async def _below(reply: Reply, error: BotError) -> list[Block]:
    """The typed command, if it is worth repeating, and the buttons that lead on from the error."""
    line = reply.interaction.typed if reply.give_back and not reply.place.said_there else None
    below = [typed(line)] if line and " " in line else []
    try:
        return [*below, *rows(await reply.fallback(error))]
    except Exception as failed:  # noqa: BLE001 - it is logged, and the command is given back
        log_failure("fallback not offered", "failure.no_fallback", failed)
        return below
