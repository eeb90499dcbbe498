"""The path of every payload, once Bolt has found its workspace's token:

    read → find the handler → claim → acknowledge → run → answer

A middleware that answers everything itself; Bolt's listeners aren't used. Errors, metrics, logs and "still
working" notices are handled here and nowhere else.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import structlog
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot import telemetry
from bot.slack import forms
from bot.slack.blocks import JSON, sentence
from bot.slack.buttons import ReopenForm, ResumeRequest
from bot.slack.deliveries import CompletedDeliveries, delivery_key, unclaimed
from bot.slack.errors import DatabaseUnavailable, FormExpired, FormSentAlready, ResumedAlready
from bot.slack.failures import Failures
from bot.slack.feature import Feature, Form, merged
from bot.slack.form_submission import FormSubmissions
from bot.slack.forms import FormResult
from bot.slack.in_flight import InFlight
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    Interaction,
    OptionsRequest,
    Place,
    Shortcut,
    SlashCommand,
    form_claim,
    read,
)
from bot.slack.measurement import log_failure, log_if_undelivered, measured
from bot.slack.replies import Acknowledgement, Platform, Reply
from bot.slack.saved_payload import saveable
from bot.slack.waits import Waits
from bot.store.claims import Claims
from bot.store.deliveries import Deliveries, UnfinishedRequest

log = structlog.get_logger(__name__)

Route = Callable[[Any, Reply], Awaitable[Any]]
"""A handler of any kind; each is typed where its feature registers it."""


@dataclass(eq=False)
class Dispatch(AsyncMiddleware):
    """Runs each interaction's feature handler, once."""

    features: Feature
    platform: Platform
    _: KW_ONLY
    claims: Claims
    deliveries: Deliveries
    completed: CompletedDeliveries
    failures: Failures
    in_flight: InFlight
    home: Callable[[Reply], Awaitable[None]]
    waits: Waits

    def __post_init__(self) -> None:
        own = Feature(buttons={ResumeRequest: self._resume_pressed, ReopenForm: self._reopen_pressed})
        self.features = merged([self.features, own])

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002 - Bolt's signature
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse | None:
        """The response to a request; Bolt's own 404 if no feature handles it."""
        interaction = read(req.body)
        handler = self._handler(interaction)
        if isinstance(interaction, Event) and interaction.ignored:
            return BoltResponse(status=200, body="")
        if interaction is None or handler is None:
            return await next()
        interaction = replace(interaction, installation=(req.context.enterprise_id, req.context.team_id))
        reply = Reply.to(interaction, req.context.client, self.platform)
        delivery = delivery_key(interaction)
        if refused := await self._claim(interaction, reply, delivery):
            return refused
        return await self._acknowledge(interaction, reply, handler, delivery)

    def _handler(self, interaction: Interaction | None) -> Route | Form | None:
        features = self.features
        match interaction:
            case SlashCommand(name=name):
                return features.commands.get(name.removeprefix(self.platform.wording.command("")))
            case Shortcut(name=name):
                return features.shortcuts.get(name)
            case ButtonPress(name=name):
                return features.buttons.get(name)
            case FormSubmission(name=name):
                return features.forms.get(name)
            case FormClosed(name=name):
                return features.closed.get(name)
            case OptionsRequest(name=name):
                return features.options.get(name)
            case Event(name=name):
                return features.settled_events.get(name) or features.events.get(name)
        return None

    async def _claim(
        self, interaction: Interaction, reply: Reply, delivery: str | None
    ) -> BoltResponse | None:
        """Claim the delivery in the database; returns the response if it must not be handled here."""
        if delivery is None:
            return None
        asked = None
        if not isinstance(interaction, Event | FormClosed):  # a user waits
            payload = saveable(interaction.payload)
            asked = UnfinishedRequest(interaction.owner, interaction.installation, payload)
        try:
            fresh = await self.deliveries.claim(delivery, asked)
        except Exception:
            reference = telemetry.reference()
            log.exception("could not claim a delivery", action="delivery.unclaimed", reference=reference)
            said = reply.wording.sentence(DatabaseUnavailable(reference))
            if isinstance(interaction, Shortcut | ButtonPress):
                await log_if_undelivered(reply.privately(sentence(said)))
            return unclaimed(interaction, said)
        if fresh:
            return None
        log.info("repeated delivery", action="delivery.repeated", user=interaction.owner.user_id)
        if isinstance(interaction, FormSubmission):  # an empty response would close it as if it had succeeded
            return unclaimed(interaction, reply.wording.sentence(FormSentAlready()))
        return BoltResponse(status=200, body="")

    async def _acknowledge(
        self, interaction: Interaction, reply: Reply, handler: Route | Form, delivery: str | None
    ) -> BoltResponse:
        """Start the work and respond to Slack at once, unless the response carries the result."""
        if isinstance(handler, Form):
            return await self._acknowledge_form(interaction, reply, handler, delivery)
        match interaction:
            case OptionsRequest():
                found = await self.in_flight.start(self._options(interaction, reply, handler))
                return BoltResponse(status=200, body={"options": found[:100]})
            case Event(name=name) if name in self.features.settled_events:
                settling = self._handle_event(interaction, reply, handler)
                return BoltResponse(status=200 if await self.in_flight.start(settling) else 503, body="")
            case Event():
                self._start(self._handle_event(interaction, reply, handler), delivery)
            case _:
                self._start(self._run(interaction, reply, handler), delivery)
        return BoltResponse(status=200, body="")

    async def _acknowledge_form(
        self, form: Interaction, reply: Reply, handler: Form, delivery: str | None
    ) -> BoltResponse:
        """Start a form's work; the response is its result, or a progress view."""
        reply.acknowledgement = Acknowledgement()
        if isinstance(form, FormSubmission):
            self._start(self._submit(form, reply, handler), delivery)
        body = await reply.acknowledgement.body(self.waits.form + self.waits.last_answer)
        return BoltResponse(status=200, body=body or "")

    def _start(self, work: Coroutine[Any, Any, object], delivery: str | None) -> None:
        """Run in the background, and record then that the delivery is complete."""

        async def run() -> None:
            try:
                await work
            finally:
                if delivery:
                    self.completed.add(delivery)

        self.in_flight.start(run())

    # One method for each kind of handler

    async def _run(self, interaction: Interaction, reply: Reply, handler: Route) -> None:
        with measured(interaction) as act:
            reported = self.failures.reported(act, reply, self.waits.last_answer)
            async with reported, self._still_working(reply):
                if saved := await handler(interaction, reply):
                    await self.resume(reply, saved)

    async def _handle_event(self, event: Event, reply: Reply, handler: Route) -> bool:
        """Run an event's handler and return whether it succeeded; no one is waiting for an answer."""
        with measured(event) as act:
            try:
                await handler(event, reply)
            except Exception as error:  # noqa: BLE001 - it is logged
                if event.name in self.features.settled_events:
                    act.outcome = "unsettled"
                    log_failure("unsettled", act.name, error)
                else:
                    act.failed(error)
                return False
            return True

    async def _options(self, request: OptionsRequest, reply: Reply, handler: Route) -> list[JSON]:
        """A select's options; empty after an error or timeout."""
        with measured(request) as act:
            try:
                async with asyncio.timeout(self.waits.options):
                    found: list[JSON] = await handler(request, reply)
                    return found
            except Exception as error:  # noqa: BLE001 - it is logged
                act.failed(error)
            return []

    async def _submit(self, form: FormSubmission, reply: Reply, handler: Form) -> None:
        """Run a form and what follows from its result."""
        reply = reply.at(Place.from_json(form.view.metadata.get("place")))
        with measured(form) as act:
            async with self.failures.reported(act, reply, self.waits.last_answer):
                submissions = FormSubmissions(self.claims, self.failures, self.waits)
                result = await submissions.result(form, reply, handler)
                if result.errors or result.said:
                    act.outcome = "user_error"
                if result.then:
                    await result.then()
                if result.resume:
                    await asyncio.sleep(self.waits.acknowledged)
                    await self.resume(reply, result.resume)
            reply.acknowledge()
            if reply.place.home:
                await self.home(reply)

    # Resuming saved requests

    async def resume(self, reply: Reply, payload: JSON) -> None:
        """Resume what a user asked for before linking; a form comes back filled in."""
        if view := payload.get("view"):
            said = "You're linked now. Check the form and submit it again."
            await self.failures.finish(reply, FormResult(view=forms.refilled(view, said), said=said))
            return
        interaction = read(payload)
        handler = self._handler(interaction)
        if interaction is None or handler is None:
            raise FormExpired
        interaction = replace(
            interaction, owner=reply.owner, trigger_id=reply.interaction.trigger_id, installation=(None, None)
        )
        resumed = Reply(reply.slack, interaction, self.platform, interaction.place, reply.view_id)
        if not isinstance(handler, Form):
            await self._run(interaction, resumed, handler)

    async def _resume_pressed(self, press: ButtonPress[ResumeRequest], reply: Reply) -> JSON:
        """*Open form*: resume a request whose form Slack didn't open in time, once."""
        saved = await self.failures.saved.take(reply.owner, press.button.saved)
        if saved is None:
            raise ResumedAlready
        return saved

    async def _reopen_pressed(self, press: ButtonPress[ReopenForm], reply: Reply) -> None:
        """*Reopen form*: restore a form that was closed before its result arrived."""
        saved = await self.failures.saved.get(reply.owner, press.button.saved)
        if saved is None or "view" not in saved:
            raise FormExpired
        await reply.show(view := saved["view"])
        if saved.get("claim") and reply.view_id:
            reopened = form_claim(reply.owner, reply.view_id, view["callback_id"])
            await self.claims.pass_on(saved["claim"], reopened)

    # Metrics, logs and notices

    @asynccontextmanager
    async def _still_working(self, reply: Reply) -> AsyncIterator[None]:
        """Notify a user who isn't in a form if there is no answer after a while."""

        async def notify() -> None:
            await asyncio.sleep(self.waits.still_working)
            if not (reply.answered.is_set() or reply.view_id or reply.place.home):
                said = sentence(f"{reply.wording.service} is slow right now. Still working on it…")
                await log_if_undelivered(reply.privately(said))

        notifying = asyncio.create_task(notify())
        try:
            yield
        finally:
            notifying.cancel()
            await asyncio.wait({notifying})
