"""The path of every payload, once Bolt has found its workspace's token:

    read → find the handler → claim → acknowledge → run → answer

A middleware that answers everything itself; Bolt's listeners aren't used. Errors, metrics, logs and "still
working" notices are handled here and nowhere else.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import structlog
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot import telemetry
from bot.errors import (
    BotError,
    Forbidden,
    KeyRejected,
    NotLinked,
    Refused,
    Unauthorized,
    WrongField,
)
from bot.slack import forms
from bot.slack.acknowledgements import Acknowledgement
from bot.slack.blocks import JSON, Message, button_row, section, sentence
from bot.slack.buttons import ReopenForm, ResumeRequest
from bot.slack.completed_deliveries import CompletedDeliveries
from bot.slack.deliveries import delivery_key, unclaimed
from bot.slack.errors import (
    DatabaseUnavailable,
    FormExpired,
    FormNotOpened,
    FormSentAlready,
    InternalError,
    Interrupted,
    ResumedAlready,
)
from bot.slack.failures import Failures, log_failure, log_if_undelivered
from bot.slack.feature import Feature, Form, merged
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
    read,
)
from bot.slack.measurement import Act, measured
from bot.slack.posting import NotDelivered, reason
from bot.slack.progress import follow
from bot.slack.replies import FormNotShown, Platform, Reply
from bot.slack.saved_payload import saveable
from bot.slack.text import escape
from bot.slack.waits import Waits
from bot.store.deliveries import Deliveries
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput
from bot.store.unfinished import UnfinishedRequest

log = structlog.get_logger(__name__)

Route = Callable[[Any, Reply], Awaitable[Any]]
"""A handler of any kind; each is typed where its feature registers it."""
TOO_LATE = frozenset({"expired_trigger_id", "exchanged_trigger_id", "trigger_expired"})


class Linking(Protocol):
    """What the accounts feature does for a user who isn't linked."""

    def form(self, reply: Reply, why: str, saved: str) -> JSON:
        """The form that asks for an API key and, once it works, resumes the saved request."""

    def offer(self, reply: Reply, why: str, saved: str) -> Message:
        """The same as a message."""

    async def verify(self, owner: Owner) -> object:
        """Check the user's key with the service. Raises NotLinked if it doesn't work, or ServiceError."""


class Dispatch(AsyncMiddleware):
    """Runs each interaction's feature handler, once."""

    def __init__(
        self,
        features: Feature,
        platform: Platform,
        *,
        deliveries: Deliveries,
        completed: CompletedDeliveries,
        saved: SavedInput,
        failures: Failures,
        in_flight: InFlight,
        linking: Linking,
        home: Callable[[Reply], Awaitable[None]],
        waits: Waits,
    ) -> None:
        own = Feature(buttons={ResumeRequest: self._resume_pressed, ReopenForm: self._reopen_pressed})
        self._features = merged([features, own])
        self._platform = platform
        self._deliveries = deliveries
        self._completed = completed
        self._saved = saved
        self._in_flight = in_flight
        self._linking = linking
        self._home = home
        self.waits = waits
        self._failures = failures

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
        if interaction is None or handler is None:
            return await next()
        interaction = replace(interaction, installation=(req.context.enterprise_id, req.context.team_id))
        reply = Reply.to(interaction, req.context.client, self._platform)
        delivery = delivery_key(interaction)
        if refused := await self._claim(interaction, reply, delivery):
            return refused
        return await self._acknowledge(interaction, reply, handler, delivery)

    def _handler(self, interaction: Interaction | None) -> Route | Form | None:
        features = self._features
        match interaction:
            case SlashCommand(name=name):
                return features.commands.get(name.removeprefix(self._platform.wording.command("")))
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
        user_waits = not isinstance(interaction, Event | FormClosed)
        asked = (
            UnfinishedRequest(interaction.owner, interaction.installation, saveable(interaction.payload))
            if user_waits
            else None
        )
        try:
            fresh = await self._deliveries.claim(delivery, asked)
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
                found = await self._in_flight.start(self._options(interaction, reply, handler))
                return BoltResponse(status=200, body={"options": found[:100]})
            case Event(name=name) if name in self._features.settled_events:
                settling = self._handle_event(interaction, reply, handler)
                return BoltResponse(status=200 if await self._in_flight.start(settling) else 503, body="")
            case Event():
                self._start(self._handle_event(interaction, reply, handler), delivery)
            case _:
                self._start(self._run(interaction, reply, handler), delivery)
        return BoltResponse(status=200, body="")

    async def _acknowledge_form(
        self, form: Interaction, reply: Reply, handler: Form, delivery: str | None
    ) -> BoltResponse:
        """Start a form's work; the response is its result, or a progress view."""
        ack = Acknowledgement()
        if isinstance(form, FormSubmission):
            self._start(self._submit(form, reply, handler, ack), delivery)
        body = await ack.body(self.waits.form + self.waits.last_answer)
        return BoltResponse(status=200, body=body or "")

    def _start(self, work: Coroutine[Any, Any, object], delivery: str | None) -> None:
        """Run in the background, and record then that the delivery is complete."""

        async def run() -> None:
            try:
                await work
            finally:
                if delivery:
                    self._completed.add(delivery)

        self._in_flight.start(run())

    # One method for each kind of handler

    async def _run(self, interaction: Interaction, reply: Reply, handler: Route) -> None:
        """Run a command, shortcut or button; the user hears of any error."""
        with measured(interaction) as act:
            async with self._report_errors(act, reply), self._still_working(reply):
                await handler(interaction, reply)

    async def _handle_event(self, event: Event, reply: Reply, handler: Route) -> bool:
        """Run an event's handler and return whether it succeeded; no one is waiting for an answer."""
        with measured(event) as act:
            try:
                await handler(event, reply)
            except Exception as error:  # noqa: BLE001 - it is logged
                if event.name in self._features.settled_events:
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
            except KeyRejected as error:  # this is the only chance to say so: the key is deleted now
                act.outcome = "not_linked"
                offer = self._linking.offer(reply, reply.wording.sentence(error), "")
                self._start(log_if_undelivered(reply.privately(offer)), None)
            except Exception as error:  # noqa: BLE001 - it is logged
                act.failed(error)
            return []

    async def _submit(self, form: FormSubmission, reply: Reply, handler: Form, ack: Acknowledgement) -> None:
        """Run a form; its result is the acknowledgement if it comes in time, or else updates the form."""
        reply = reply.at(Place.from_json(form.view.metadata.get("place")))
        with measured(form) as act:
            async with self._report_errors(act, reply, ack):
                result = await self._result(form, reply, handler, ack)
                if result.errors or result.said:
                    act.outcome = "user_error"
                if result.then:
                    await result.then()
                if result.resume:
                    await asyncio.sleep(self.waits.acknowledged)
                    await self.resume(reply, result.resume)
            ack.give()
            if reply.place.home:
                await self._home(reply)

    async def _result(
        self, form: FormSubmission, reply: Reply, handler: Form, ack: Acknowledgement
    ) -> FormResult:
        work = asyncio.create_task(self._submit_once(form, reply, handler))
        try:
            done, _ = await asyncio.wait({work}, timeout=self.waits.form)
            if done:
                result = work.result()
                ack.give(**result.acknowledgement())
                return result
            told = _progress(reply, handler)
            ack.give(response_action="update", view=forms.notice("One moment", told))
            await asyncio.sleep(self.waits.acknowledged)
            progress = partial(_progress, reply, handler)
            result = await follow(reply, work, progress, told, self.waits.progress)
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
        done = handler.repeatable
        try:
            result = await handler.submit(form, reply)
            done = handler.repeatable or not (result.errors or result.said)
        except (Refused, WrongField) as error:
            placed = forms.placed(form.view.json, error, reply.wording.sentence(error))
            if not placed:
                raise
            return FormResult(errors=placed)
        finally:
            if not (done or reply.committed):
                await self._deliveries.release(claim)
        return result

    # Errors

    @asynccontextmanager
    async def _report_errors(
        self, act: Act, reply: Reply, ack: Acknowledgement | None = None
    ) -> AsyncIterator[None]:
        """Tell the user about any error in the block, once; re-raises a cancellation."""
        tell = self._failures.tell
        try:
            yield
        except asyncio.CancelledError:
            telling = tell(reply, Interrupted(), ack)
            await log_if_undelivered(asyncio.wait_for(telling, self.waits.last_answer))
            raise
        except NotLinked as error:
            act.outcome = "not_linked"
            await log_if_undelivered(self._offer_link(reply, error, ack))
        except Unauthorized as error:
            act.failed(error)
            await log_if_undelivered(self._check_key(reply, error, ack))
        except BotError as error:
            act.failed(error)
            await log_if_undelivered(tell(reply, error, ack))
        except FormNotShown as error:
            act.failed(error)
            await log_if_undelivered(self._offer_form(reply, reason(error)))
        except NotDelivered as error:
            act.failed(error)
        except Exception as error:  # noqa: BLE001 - it is logged
            act.failed(error)
            await log_if_undelivered(tell(reply, InternalError(act.reference), ack))

    async def _check_key(self, reply: Reply, error: Unauthorized, ack: Acknowledgement | None) -> None:
        """After Unauthorized: tell whether the key is invalid or just lacks permission."""
        said: BotError = Forbidden(error.method, error.path)
        try:
            await self._linking.verify(reply.owner)
        except NotLinked as dead:
            await self._offer_link(reply, dead, ack)
            return
        except BotError:
            said = error
        await self._failures.tell(reply, said, ack)

    async def _offer_link(self, reply: Reply, why: NotLinked, ack: Acknowledgement | None = None) -> None:
        """Open the link form, and save the request so that it resumes once the user is linked."""
        saved = await self._saved.put(reply.owner, saveable(reply.interaction.payload))
        said = reply.wording.sentence(why)
        form = self._linking.form(reply, said, saved)
        if ack and ack.give(response_action="update", view=form):
            return
        if not await reply.shown(form):
            await reply.privately(self._linking.offer(reply, said, saved))

    async def _offer_form(self, reply: Reply, why: str | None) -> None:
        """Offer a button to open the form that Slack didn't show."""
        if reply.view_id:
            if why != "not_found":  # not_found: the user closed it
                await self._failures.tell(reply, FormNotOpened())
            return
        saved = await self._saved.put(reply.owner, saveable(reply.interaction.payload))
        said = "Slack timed out before the form opened." if why in TOO_LATE else "Slack didn't open the form."
        row = button_row("Open form", ResumeRequest(saved=saved))
        await reply.privately(Message(said, (section(said), row)))

    # Resuming saved requests

    async def resume(self, reply: Reply, payload: JSON) -> None:
        """Resume what a user asked for before linking; a form comes back filled in."""
        if view := payload.get("view"):
            said = "You're linked now. Check the form and submit it again."
            await self._failures.finish(reply, FormResult(view=forms.refilled(view, said), said=said))
            return
        interaction = read(payload)
        handler = self._handler(interaction)
        if interaction is None or handler is None:
            raise FormExpired
        interaction = replace(
            interaction, owner=reply.owner, trigger_id=reply.interaction.trigger_id, installation=(None, None)
        )
        resumed = Reply(reply.slack, interaction, self._platform, interaction.place, reply.view_id)
        if not isinstance(handler, Form):
            await self._run(interaction, resumed, handler)

    async def _resume_pressed(self, press: ButtonPress[ResumeRequest], reply: Reply) -> None:
        """*Open form*: resume a request whose form Slack didn't open in time, once."""
        saved = await self._saved.take(reply.owner, press.button.saved)
        if saved is None:
            raise ResumedAlready
        await self.resume(reply, saved)

    async def _reopen_pressed(self, press: ButtonPress[ReopenForm], reply: Reply) -> None:
        """*Reopen form*: restore a form that was closed before its result arrived."""
        saved = await self._saved.get(reply.owner, press.button.saved)
        if saved is None or "view" not in saved:
            raise FormExpired
        await reply.show(saved["view"])

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


def _progress(reply: Reply, form: Form) -> str:
    """How far a form's work is, in mrkdwn."""
    return reply.progress() if reply.progress else form.doing.format(service=escape(reply.wording.service))
