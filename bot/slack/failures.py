"""Tells a user that something failed and gives back what they typed; logs what can't be delivered."""

from collections.abc import Awaitable

import structlog

from bot.errors import BotError
from bot.slack import forms
from bot.slack.acknowledgements import Acknowledgement
from bot.slack.blocks import Block, Message, button_row, section, sentence
from bot.slack.buttons import ReopenForm
from bot.slack.forms import FormResult
from bot.slack.posting import NotDelivered, reason
from bot.slack.redaction import typed, without_keys
from bot.slack.replies import Reply
from bot.slack.text import prose
from bot.store.saved_input import SavedInput

log = structlog.get_logger(__name__)


class Failures:
    """Reports failures to users; `saved` keeps forms that Slack can't show at the moment."""

    def __init__(self, saved: SavedInput) -> None:
        self._saved = saved

    async def tell(self, reply: Reply, error: BotError, ack: Acknowledgement | None = None) -> None:
        """Report a failure, with the form as it was, unless its write succeeded, or the typed command."""
        text = without_keys(reply.wording.sentence(error))
        said = sentence(text)
        if modal := reply.interaction.modal:
            again = forms.refilled(modal.json, text)
            result = FormResult(view=again, said=text)
            if reply.committed:  # the form would act again
                result = FormResult(view=forms.said(again["title"]["text"], said.blocks), message=said)
            if not (ack and ack.give(response_action="update", view=result.view)):
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
            saved = await self._saved.put(reply.owner, {"view": result.view})
            said = prose(f"{result.view['title']['text']}: {result.said}")
            row = button_row("Reopen form", ReopenForm(saved=saved))
            await reply.privately(Message(said, (section(said), row)))
        elif result.view:
            await reply.privately(Message(result.view["title"]["text"], forms.blocks_of(result.view)))


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
