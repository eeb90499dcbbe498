"""Runs a submitted form once, and shows the user how far it is."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bot.errors import Refused, WrongField
from bot.slack import forms
from bot.slack.errors import FormSentAlready
from bot.slack.failures import Failures
from bot.slack.feature import Form
from bot.slack.forms import FormResult, notice
from bot.slack.interaction import FormSubmission
from bot.slack.replies import Reply
from bot.slack.text import escape
from bot.slack.waits import Waits
from bot.store.deliveries import Deliveries


@dataclass(frozen=True)
class FormSubmissions:
    deliveries: Deliveries
    failures: Failures
    waits: Waits

    async def result(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """Run a form; its result is the acknowledgement if it comes in time, or else updates the form."""
        work = asyncio.create_task(self._submit_once(form, reply, handler))
        try:
            if (await asyncio.wait({work}, timeout=self.waits.form))[0]:
                result = work.result()
                reply.acknowledge(**result.acknowledgement())
                return result
            progress = partial(_progress, reply, handler)
            told = progress()
            reply.acknowledge(response_action="update", view=notice("One moment", told))
            await asyncio.sleep(self.waits.acknowledged)
            result = (await follow(reply, work, progress, told, self.waits.progress)).in_form(form.view.json)
            await self.failures.finish(reply, result)
            return result
        finally:
            await _canceled(work)

    async def _submit_once(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """Run a form's work once, however often it is submitted; releases the claim if it fails."""
        claim = f"form:{form.key}"
        if not handler.repeatable and not await self.deliveries.claim(claim):
            raise FormSentAlready
        try:
            result = await handler.submit(form, reply)
            if not (handler.repeatable or result.errors or result.said):
                reply.committed = True
        except (Refused, WrongField) as error:
            placed = forms.placed(form.view.json, error, reply.wording.sentence(error))
            if not placed:
                raise
            return FormResult(errors=placed)
        finally:
            if not (handler.repeatable or reply.committed):
                await self.deliveries.release(claim)
        return result


async def follow(
    reply: Reply, task: asyncio.Task[FormResult], doing: Callable[[], str], said: str, interval: float
) -> FormResult:
    """Await the task and return its result, showing `doing()` (mrkdwn) in the form whenever it changes.

    Looks every `interval` seconds. `said` is what the form already shows. Cancels the task if this is
    canceled; stops showing progress when the user closes the form.
    """
    watched = True
    try:
        while watched and not (await asyncio.wait({task}, timeout=interval))[0]:
            if (now := doing()) != said:
                said, watched = now, await reply.shown(notice("One moment", now))
        return await task
    finally:
        await _canceled(task)


async def _canceled(task: asyncio.Task[FormResult]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


def _progress(reply: Reply, form: Form) -> str:
    """How far a form's work is, in mrkdwn."""
    return reply.progress() if reply.progress else form.doing.format(service=escape(reply.wording.service))
