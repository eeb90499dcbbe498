"""Shows errors to users: in the open form, with a button for the next step, or privately.

Gives back what they typed, and *Link account* or *Open form* resumes it.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from bot import telemetry
from bot.errors import BotError, Forbidden, NotLinked, Unauthorized, UserError
from bot.slack.incoming.feature import Interrupted
from bot.slack.language.values import ZoneUnknown
from bot.slack.outgoing.posting import NotDelivered
from bot.slack.outgoing.replies import FormNotShown, Platform, Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    Block,
    Message,
    actions,
    button,
    button_row,
    context,
    rows,
    section,
    sentence,
    typed,
)
from bot.slack.surfaces.buttons import shows_progress
from bot.slack.surfaces.drafts import ReopenForm
from bot.slack.surfaces.forms import FormResult, refilled
from bot.slack.surfaces.interaction import Destination, Event, FormSubmission, Interaction, read
from bot.slack.text.mrkdwn import moment, prose, without_keys
from bot.slack.workspaces.slack_errors import TRIGGER_EXPIRED, reason
from bot.slack.workspaces.tokens import Workspaces
from bot.store.jobs import Job
from bot.store.owner import Owner

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


async def tell(reply: Reply, error: BotError) -> None:
    """Report a failure, with the form as it was, unless its write succeeded, or the typed command."""
    text = without_keys(reply.wording.sentence(error))
    warning = sentence(text)
    if modal := reply.interaction.modal:
        result = FormResult.again(modal.json, text)
        if reply.committed:  # the form would act again
            result = FormResult.notice(modal.json["title"]["text"], warning)
        if not reply.acknowledge(response_action="update", view=result.view):
            await finish(reply, result)
    else:
        message = Message(warning.text, (*warning.blocks, *await _below(reply, error)))
        if not (reply.view_id and await reply.try_show(forms.result("That didn't work", message.blocks))):
            await reply.privately(message)


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
        await canceled(task)


async def canceled(task: asyncio.Task[FormResult]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


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
    """The typed command, if it is worth repeating, and buttons that lead on from the error."""
    line = reply.interaction.typed if reply.give_back and not reply.place.said_there else None
    below, buttons = [typed(line)] if line and " " in line else [], None
    if reply.fallback:
        try:
            buttons = await reply.fallback(error) if callable(reply.fallback) else reply.fallback
        except Exception as failed:  # noqa: BLE001 - it is logged, and the command is given back
            log_failure("fallback not offered", "failure.no_fallback", failed)
    if isinstance(error, ZoneUnknown):
        again = button("Try again", await reply.save_request(), style=None if buttons else "primary")
        buttons = actions([*(buttons["elements"] if buttons else ()), again])
    if buttons and buttons["type"] == "actions":
        return [*below, *rows(buttons["elements"])]
    return [*below, buttons] if buttons else below


ANSWERABLE_FOR = timedelta(minutes=30)  # how long Slack accepts answers at a `response_url`
TOLD_FOR = timedelta(days=1)  # drafts and records of completed work aren't kept longer


def _asked(channel_id: str, at: datetime) -> Block:
    where = f" in <#{channel_id}>" if channel_id[:1] in {"C", "G"} else ""
    return context(f"You asked for it {moment(at)}{where}.")


REQUEST = "request"
"""The kind of job that a delivery is while a person waits for it: its content is their request, so that
another process can notify them if this one crashes. That is the owner's name, the installation that it came
to, and the parts of Slack's payload that are needed to reply to it.
"""


@dataclass(frozen=True)
class CrashRecovery:
    workspaces: Workspaces
    platform: Platform
    run_event: Callable[[Event, Reply], Awaitable[None]]

    async def recover(self, job: Job) -> None:
        """Handle an event again that a process lost, and tell a user that their request was lost, up to a day
        after it.
        """
        if job.age >= TOLD_FOR:
            log.warning("a lost request is a day old", action="delivery.untold")
            return
        name, installation, payload = job.content
        owner, interaction = Owner.named(name), read(payload)
        user = {"team": owner.team_id, "user": owner.user_id}
        log.warning("a request was lost in a crash", action="delivery.abandoned", **user)
        if interaction:
            late = datetime.now(UTC) - job.age if job.age >= ANSWERABLE_FOR else None
            interaction = replace(interaction, owner=owner, installation=tuple(installation))
            await self._notify(interaction, late)  # undeliverable notices are retried

    async def _notify(self, interaction: Interaction, late: datetime | None) -> None:
        """`late` is when the request came, if that's too long ago to reply where it was made."""
        slack = await self.workspaces.client(*interaction.installation)
        reply = Reply(slack, interaction, self.platform)
        if isinstance(interaction, Event):
            await self.run_event(interaction, reply)
            return

        modal = interaction.modal
        if modal and isinstance(interaction, FormSubmission):
            reply = reply.at(Destination.from_json(modal.metadata.get("place")))
        if late:  # an ephemeral message reaches only who is looking at the conversation
            reply = reply.at(Destination())
            reply.fallback = _asked(interaction.place.channel_id or "", late)
        if reply.in_form and modal:  # if the user has moved on in the form, nothing was lost
            text = reply.wording.sentence(Interrupted())
            over = None if shows_progress(interaction.name) else modal.hash
            await reply.try_show(refilled(modal.json, text), over=over)
        else:
            await tell(reply, Interrupted())
