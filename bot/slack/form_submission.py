"""Runs a submitted form once, and shows the user how far it is."""

import asyncio
from functools import partial

from bot.errors import Refused, WrongField
from bot.slack import forms
from bot.slack.acknowledgements import Acknowledgement
from bot.slack.errors import FormSentAlready
from bot.slack.failures import Failures
from bot.slack.feature import Form
from bot.slack.forms import FormResult
from bot.slack.interaction import FormSubmission
from bot.slack.progress import follow
from bot.slack.replies import Reply
from bot.slack.text import escape
from bot.slack.waits import Waits
from bot.store.deliveries import Deliveries


class FormSubmissions:
    """Runs submitted forms."""

    def __init__(self, deliveries: Deliveries, failures: Failures) -> None:
        self._deliveries = deliveries
        self._failures = failures

    async def result(
        self, form: FormSubmission, reply: Reply, handler: Form, ack: Acknowledgement, waits: Waits
    ) -> FormResult:
        """Run a form; its result is the acknowledgement if it comes in time, or else updates the form."""
        work = asyncio.create_task(self._submit_once(form, reply, handler))
        try:
            done, _ = await asyncio.wait({work}, timeout=waits.form)
            if done:
                result = work.result()
                ack.give(**result.acknowledgement())
                return result
            told = _progress(reply, handler)
            ack.give(response_action="update", view=forms.notice("One moment", told))
            await asyncio.sleep(waits.acknowledged)
            progress = partial(_progress, reply, handler)
            result = await follow(reply, work, progress, told, waits.progress)
            result = result.in_form(form.view.json)
            await self._failures.finish(reply, result)
            return result
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait({work})

    async def _submit_once(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """Run a form's work once, however often it is submitted; releases the claim if it fails."""
        claim = f"form:{form.key}"  # several forms may share a view ID, one after the other
        if not handler.repeatable and not await self._deliveries.claim(claim):
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
                await self._deliveries.release(claim)
        return result


def _progress(reply: Reply, form: Form) -> str:
    """How far a form's work is, in mrkdwn."""
    return reply.progress() if reply.progress else form.doing.format(service=escape(reply.wording.service))
