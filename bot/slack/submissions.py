"""A form's submission: what it becomes in the form, whether or not the service answers in Slack's time.

Slack waits 3 s and takes field errors only in that time. What takes longer shows that it is being done
and puts its result, or the form with everything still in it, in that place.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, NotLinked, Refused, Unauthorized, UserError, WrongField
from bot.slack import forms
from bot.slack.blocks import JSON, Message, actions, button, section
from bot.slack.text import prose, spoken
from bot.slack.turn import Turn

SENT_ALREADY = "This form was sent already: look whether it was done before you send another."
PATIENCE = 2.0
PROGRESS = 1.5
"""Seconds between two looks at how far it is: far below what Slack allows (slack-rules, Rates)."""
TAKEN_IN = 0.5
"""Seconds after which Slack has taken in an acknowledgement; it would overwrite an update before that."""


@dataclass(frozen=True)
class Reply:
    """What becomes of the form: errors at fields, another view, or, with neither, it closes.

    `said` is what went wrong, when something did: `view` is then the form with all that was in it. `message`
    says the same as `view` where the form was closed meanwhile.
    """

    errors: dict[str, str] | None = None
    view: JSON | None = None
    message: Message | None = None
    said: str | None = None


async def settle(
    turn: Turn, ack: AsyncAck, work: Coroutine[Any, Any, Reply], doing: str | Callable[[], str]
) -> None:
    """Run `work` and answer the submission with its reply; `doing` (mrkdwn) is shown when that takes long,
    and again whenever it has changed.
    """
    task = asyncio.create_task(work)
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    if not done:
        said = doing if isinstance(doing, str) else doing()
        await ack(response_action="update", view=forms.notice("One moment", said))
        reply = await followed(turn, task, doing, said, TAKEN_IN)
        if reply.errors:
            wrong = "\n".join(reply.errors.values())
            reply = Reply(view=forms.refilled(turn.view, wrong), said=wrong)
        await finish(turn, reply)
        return
    reply = task.result()
    if reply.errors:
        await at_fields(ack, reply.errors)
    elif reply.view:
        await ack(response_action="update", view=reply.view)
    else:
        await ack(response_action="clear")


async def at_fields(ack: AsyncAck, errors: dict[str, str]) -> None:
    """Answer a submission with sentences at its fields, where Slack shows plain text."""
    await ack(response_action="errors", errors={name: spoken(said) for name, said in errors.items()})


async def followed(
    turn: Turn, task: asyncio.Task[Reply], doing: str | Callable[[], str], said: str, pause: float = 0
) -> Reply:
    """Wait for the task at least `pause` seconds and show how far it is, until the person closes the form."""
    watched = not isinstance(doing, str)
    try:
        await asyncio.sleep(pause)
        while watched and not (await asyncio.wait({task}, timeout=PROGRESS))[0]:
            if not isinstance(doing, str) and (now := doing()) != said:
                said, watched = now, await turn.shown(forms.notice("One moment", now))
        return await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def finish(turn: Turn, reply: Reply) -> None:
    """Show a reply where the form is; when it was closed meanwhile, in a message, with a way back into it."""
    if await turn.shown(reply.view or forms.notice("Done", "That is done.")):
        return
    if reply.message:
        await turn.answer(reply.message)
    elif reply.view and reply.said:
        kept = await turn.parts.store.continuations.put(turn.owner, {"view": reply.view})
        again = button("Open the form again", "form.reopen", kept, style="primary")
        said = prose(f"{reply.view['title']['text']}: {reply.said}")
        await turn.answer(Message(said, (section(said), actions([again]))))
    elif reply.view:
        await turn.answer(Message(reply.view["title"]["text"], forms.blocks_of(reply.view)))


def refused(turn: Turn, error: BotError, metadata: str | None = None) -> Reply:
    """The form again with the error: at its field, or those that the service's sentences name, else above
    them.

    Raises `error` itself when it is about the person's key: the link form comes first then.
    """
    if isinstance(error, NotLinked | Unauthorized):
        raise error
    view = turn.view
    if isinstance(error, WrongField) and (block := forms.Values(view).block_ids.get(error.field)):
        return Reply(errors={block: turn.sentence(error)})
    if isinstance(error, Refused) and (placed := forms.at_fields(view, error.errors)):
        return Reply(errors=placed)
    said = turn.sentence(error)
    return Reply(view=forms.refilled(view, said, metadata), said=said)


@asynccontextmanager
async def once(turn: Turn) -> AsyncIterator[None]:
    """The work of one form, done once however often it is submitted; given back when it failed.

    Raises UserError when another submission of the same form has it.
    """
    view = turn.view  # one form may have taken the place of another, under the same id
    async with claimed(turn, f"form:{turn.form}:{view['callback_id']}", SENT_ALREADY):
        yield


@asynccontextmanager
async def claimed(turn: Turn, claim: str, otherwise: str) -> AsyncIterator[None]:
    """Work that is done once; the claim is released if the work fails.

    Raises UserError with the sentence `otherwise` if the claim is taken.
    """
    if not await turn.parts.store.deliveries.claim(claim):
        raise UserError(otherwise)
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


def text_in(metadata: JSON, name: str) -> str | None:
    """A text as the bot wrote it into a form's metadata; None for anything else."""
    value = metadata.get(name)
    return value if isinstance(value, str) else None


def moment_in(metadata: JSON, name: str) -> datetime | None:
    """A moment as the bot wrote it into a form's metadata; None for anything else."""
    try:
        moment = datetime.fromisoformat(text_in(metadata, name) or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else None
