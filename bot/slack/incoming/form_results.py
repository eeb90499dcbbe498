"""Shows a form's progress and result: in the form, or in a message if the user closed it."""

import asyncio
from collections.abc import Callable

from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Message, button_row, section
from bot.slack.surfaces.drafts import ReopenForm
from bot.slack.surfaces.forms import FormResult
from bot.slack.surfaces.interaction import FormSubmission
from bot.slack.text.mrkdwn import prose
from bot.tasks import cancel


async def finish(reply: Reply, result: FormResult) -> None:
    """Show a form's result in the form; if that was closed, in a message with a button to reopen it."""
    if await reply.try_show(result.view or forms.notice("Done", "All set.")):
        return
    if result.message:
        await reply.privately(result.message)
    elif result.view and result.warning:
        submitted = reply.interaction
        claim = submitted.key if isinstance(submitted, FormSubmission) else None
        text = prose(f"{result.view['title']['text']}: {result.warning}")
        row = button_row("Reopen form", await reply.save(ReopenForm(view=result.view, claim=claim)))
        await reply.privately(Message(text, (section(text), row)))
    elif result.view:
        blocks = (block for block in result.view["blocks"] if block["type"] != "input")
        await reply.privately(Message(result.view["title"]["text"], tuple(blocks)))


async def follow(
    reply: Reply, task: asyncio.Task[FormResult], doing: Callable[[], str], text: str, interval: float
) -> FormResult:
    """Await the task and return its result, showing `doing()` (mrkdwn) in the form whenever it changes.

    Looks every `interval` seconds. `text` is what the form already shows. Cancels the task if this is
    canceled; stops showing progress when the user closes the form.
    """
    watched = True
    try:
        while watched and not (await asyncio.wait({task}, timeout=interval))[0]:
            if (now := doing()) != text:
                text, watched = now, await reply.try_show(forms.notice("One moment", now))
        return await task
    finally:
        await cancel(task)
