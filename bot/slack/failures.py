"""Tells users about errors: in the form they are in, with a button that leads on, or privately.

What they typed is given back, and *Link account* or *Open form* resumes it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from bot.errors import BotError, Forbidden, NotLinked, Unauthorized
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, button_row, section, sentence
from bot.slack.buttons import ReopenForm, ResumeRequest
from bot.slack.errors import FormNotOpened, InternalError, Interrupted
from bot.slack.forms import FormResult
from bot.slack.interaction import FormSubmission
from bot.slack.measurement import Act, log_failure, log_if_undelivered
from bot.slack.posting import NotDelivered, reason
from bot.slack.redaction import typed, without_keys
from bot.slack.replies import FormNotShown, Reply
from bot.slack.saved_payload import saveable
from bot.slack.text import prose
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput

TOO_LATE = frozenset({"expired_trigger_id", "exchanged_trigger_id", "trigger_expired"})


class Linking(Protocol):
    """What the accounts feature does for a user who isn't linked."""

    def form(self, reply: Reply, why: str, saved: str) -> JSON:
        """The form that asks for an API key and, once it works, resumes the saved request."""

    def offer(self, reply: Reply, why: str, saved: str) -> Message:
        """The same as a message."""

    async def verify(self, owner: Owner) -> object:
        """Check the user's key with the service. Raises NotLinked if it doesn't work, or ServiceError."""


@dataclass(frozen=True)
class Failures:
    """Reports failures to users; `saved` keeps what they may resume."""

    saved: SavedInput
    linking: Linking

    @asynccontextmanager
    async def reported(self, act: Act, reply: Reply, last_answer: float) -> AsyncIterator[None]:
        """Tell the user about any error in the block, once; re-raises a cancellation.

        `last_answer` is how long that may take, in seconds, when the process stops.
        """
        try:
            yield
        except asyncio.CancelledError:
            telling = self.tell(reply, Interrupted())
            await log_if_undelivered(asyncio.wait_for(telling, last_answer))
            raise
        except NotLinked as error:
            act.outcome = "not_linked"
            await log_if_undelivered(self._offer_link(reply, error))
        except Unauthorized as error:
            act.failed(error)
            await log_if_undelivered(self._check_key(reply, error))
        except BotError as error:
            act.failed(error)
            await log_if_undelivered(self.tell(reply, error))
        except FormNotShown as error:
            act.failed(error)
            await log_if_undelivered(self._offer_form(reply, reason(error)))
        except NotDelivered as error:
            act.failed(error)
        except Exception as error:  # noqa: BLE001 - it is logged
            act.failed(error)
            await log_if_undelivered(self.tell(reply, InternalError(act.reference)))

    async def tell(self, reply: Reply, error: BotError) -> None:
        """Report a failure, with the form as it was, unless its write succeeded, or the typed command."""
        text = without_keys(reply.wording.sentence(error))
        said = sentence(text)
        if modal := reply.interaction.modal:
            again = forms.refilled(modal.json, text)
            result = FormResult(view=again, said=text)
            if reply.committed:  # the form would act again
                result = FormResult(view=forms.said(again["title"]["text"], said.blocks), message=said)
            if not reply.acknowledge(response_action="update", view=result.view):
                await self.finish(reply, result)
        else:
            message = Message(said.text, (*said.blocks, *await _below(reply, error)))
            if not (reply.view_id and await reply.shown(forms.said("That didn't work", message.blocks))):
                await reply.privately(message)

    async def finish(self, reply: Reply, result: FormResult) -> None:
        """Show a form's result in the form; if that was closed, in a message with a button to reopen it."""
        if await reply.shown(result.view or forms.notice("Done", "All set.")):
            return
        if result.message:
            await reply.privately(result.message)
        elif result.view and result.said:
            submitted = reply.interaction
            claim = submitted.key if isinstance(submitted, FormSubmission) else None
            saved = await self.saved.put(reply.owner, {"view": result.view, "claim": claim})
            said = prose(f"{result.view['title']['text']}: {result.said}")
            row = button_row("Reopen form", ReopenForm(saved=saved))
            await reply.privately(Message(said, (section(said), row)))
        elif result.view:
            shown = (block for block in result.view["blocks"] if block["type"] != "input")
            await reply.privately(Message(result.view["title"]["text"], tuple(shown)))

    async def _check_key(self, reply: Reply, error: Unauthorized) -> None:
        """After Unauthorized: tell whether the key is invalid or just lacks permission."""
        said: BotError = Forbidden(error.method, error.path)
        try:
            await self.linking.verify(reply.owner)
        except NotLinked as dead:
            await self._offer_link(reply, dead)
            return
        except BotError:
            said = error
        await self.tell(reply, said)

    async def _offer_link(self, reply: Reply, why: NotLinked) -> None:
        """Open the link form, and save the request so that it resumes once the user is linked."""
        saved = await self.saved.put(reply.owner, saveable(reply.interaction.payload))
        said = reply.wording.sentence(why)
        form = self.linking.form(reply, said, saved)
        if not (
            reply.acknowledge(response_action="update", view=form) or await reply.shown(form, for_anyone=True)
        ):
            await reply.privately(self.linking.offer(reply, said, saved))

    async def _offer_form(self, reply: Reply, why: str | None) -> None:
        if reply.view_id:
            if why != "not_found":  # not_found: the user closed it
                await self.tell(reply, FormNotOpened())
            return
        saved = await self.saved.put(reply.owner, saveable(reply.interaction.payload))
        said = "Slack timed out before the form opened." if why in TOO_LATE else "Slack didn't open the form."
        row = button_row("Open form", ResumeRequest(saved=saved))
        await reply.privately(Message(said, (section(said), row)))


async def _below(reply: Reply, error: BotError) -> list[Block]:
    """The typed command, if it is worth repeating, and buttons that lead on from the error."""
    line = reply.interaction.typed if reply.give_back else None
    below = [typed(line)] if line and " " in line else []
    if reply.recovery:
        try:
            if buttons := await reply.recovery(error):
                below.append(buttons)
        except Exception as failed:  # noqa: BLE001 - it is logged, and the command is given back
            log_failure("recovery not offered", "failure.no_recovery", failed)
    return below
