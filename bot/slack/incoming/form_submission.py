"""Runs a submitted form once, and shows the user how far it is."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bot.errors import InProgress, Refused, WrongField
from bot.slack.incoming.errors import FormSentAlready, Interrupted
from bot.slack.incoming.failures import finish
from bot.slack.incoming.feature import Form
from bot.slack.incoming.interaction import FormSubmission
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.forms import FormResult, notice
from bot.slack.text.mrkdwn import escape
from bot.store.claims import Claims, State
from bot.timings import Delays


@dataclass(frozen=True)
class FormSubmissions:
    claims: Claims
    delays: Delays

    async def result(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """Run a form; its result is the acknowledgement if it comes in time, or else updates the form."""
        work = asyncio.create_task(self._submit_once(form, reply, handler))
        try:
            if (await asyncio.wait({work}, timeout=self.delays.form))[0]:
                result = work.result()
                reply.acknowledge(**result.acknowledgement())
                return result
            progress = partial(_progress, reply, handler)
            told = progress()
            reply.acknowledge(response_action="update", view=notice("One moment", told))
            await asyncio.sleep(self.delays.acknowledged)
            result = (await follow(reply, work, progress, told, self.delays.progress)).in_form(form.view.json)
            await finish(reply, result)
            return result
        finally:
            await _canceled(work)

    async def _submit_once(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """Run a form's work once, however often it is submitted; frees the claim if it fails."""
        if handler.repeatable:
            return await self._placed(form, reply, handler)
        claim, state = await self.claims.take(form.key), None
        try:
            if not claim.won:
                raise FormSentAlready if claim.done else InProgress
            if claim.tried_at and not handler.looks:  # the user looks, and may then submit it again
                claim = replace(claim, tried_at=None)
                if not forms.warns(form.view.json, reply.wording.sentence(Interrupted())):
                    raise Interrupted
            reply.attempted_at = claim.tried_at
            result = await self._placed(form, reply, handler)
            if not (result.errors or result.said):
                reply.committed = True
        except asyncio.CancelledError:
            state = State.UNKNOWN if handler.looks else None
            raise
        finally:
            await self.claims.settle(claim, State.DONE if reply.committed else state)
        return result

    async def _placed(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """A form's result; a refusal is placed at the fields that it names."""
        try:
            return await handler.submit(form, reply)
        except (Refused, WrongField) as error:
            placed = forms.placed(form.view.json, error, reply.wording.sentence(error))
            if not placed:
                raise
            return FormResult(errors=placed)


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
