"""The way of every payload, once Bolt has found its workspace's token:

    read → find the handler → claim → acknowledge → run → answer

Bolt's own listeners aren't used: this is a middleware that answers everything itself. Errors, metrics, logs
and "still working" are dealt with here and nowhere else.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
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
    UserError,
    WrongField,
)
from bot.slack import forms
from bot.slack.acknowledgements import Acknowledgement
from bot.slack.blocks import JSON, Message, button_row, section, sentence
from bot.slack.completed_deliveries import CompletedDeliveries
from bot.slack.deliveries import delivery_key, unclaimed
from bot.slack.failures import EXPIRED_FORM, Failures, last_resort, log_failure
from bot.slack.feature import Feature, Form
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
from bot.slack.posting import NotDelivered, reason
from bot.slack.progress import followed
from bot.slack.replies import FormNotShown, Platform, Reply
from bot.slack.saved_payload import saveable
from bot.slack.text import escape
from bot.store.deliveries import Deliveries
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput
from bot.store.unfinished import PendingRequest

log = structlog.get_logger(__name__)

INTERRUPTED = "I was stopped in the middle of this: look whether it was done before you try again."
SENT_ALREADY = "This form was sent already: look whether it was done before you send another."
Route = Callable[[Any, Reply], Awaitable[Any]]
"""A handler of whatever kind; each is typed where its feature registers it."""
TOO_LATE = frozenset({"expired_trigger_id", "exchanged_trigger_id", "trigger_expired"})


@dataclass(frozen=True)
class Waits:
    """Seconds until: a select's options are given up; a person hears that it takes a while; a form shows it;
    a last answer is given up before the process stops; progress is looked at again; Slack has certainly taken
    an acknowledgement, which would overwrite an update before that.
    """

    options: float = 2.5
    still_working: float = 2.0
    form: float = 2.0
    last_answer: float = 3.0
    progress: float = 1.5
    acknowledged: float = 0.5


class Linking(Protocol):
    """What the accounts feature does for a person who isn't linked."""

    def form(self, reply: Reply, why: str, saved: str) -> JSON:
        """The form that takes a key, and goes on with what is saved once it was good."""

    def offer(self, reply: Reply, why: str, saved: str) -> Message:
        """The same as a message."""

    async def verify(self, owner: Owner) -> object:
        """Ask the service whether the person's key works. Raises NotLinked where it doesn't, ServiceError."""


class Dispatch(AsyncMiddleware):
    """Hands every interaction to the feature that answers to it, once."""

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
        waits: Waits | None = None,
    ) -> None:
        own = {"form.resume": self._resume_pressed, "form.reopen": self._reopen_pressed}
        self._features = replace(features, buttons={**features.buttons, **own})
        self._platform = platform
        self._deliveries = deliveries
        self._completed = completed
        self._saved = saved
        self._in_flight = in_flight
        self._linking = linking
        self._home = home
        self.waits = waits or Waits()
        self._failures = failures
        self._tasks: set[asyncio.Task[None]] = set()

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002 - Bolt's signature
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse | None:
        """The answer to one request; Bolt's own (404) for what no feature answers to."""
        interaction = read(req.body)
        handler = self._handler(interaction)
        if interaction is None or handler is None:
            return await next()
        interaction = replace(interaction, installation=(req.context.enterprise_id, req.context.team_id))
        reply = Reply.to(interaction, req.context.client, self._platform)
        delivery = delivery_key(interaction)
        if refused := await self._claim(interaction, reply, delivery):
            return refused
        return await self._acknowledged(interaction, reply, handler, delivery)

    def _handler(self, interaction: Interaction | None) -> Route | Form | None:
        """What answers to it."""
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
        """Claim the delivery in the database; the answer to one that isn't this process's to act on."""
        if delivery is None:
            return None
        waited_for = not isinstance(interaction, Event | FormClosed)
        asked = (
            PendingRequest(interaction.owner, interaction.installation, saveable(interaction.payload))
            if waited_for
            else None
        )
        try:
            fresh = await self._deliveries.claim(delivery, asked)
        except Exception:
            reference = telemetry.reference()
            log.exception("not claimed", action="delivery.unclaimed", reference=reference)
            said = f"I can't reach my memory; tell your administrator the reference {reference}."
            if isinstance(interaction, Shortcut | ButtonPress):
                await last_resort(reply.privately(sentence(said)))
            return unclaimed(interaction, said)
        if fresh:
            return None
        log.info("delivered again", action="delivery.repeated", user=interaction.owner.user_id)
        if isinstance(interaction, FormSubmission):  # an empty answer would close it as if all was well
            return unclaimed(interaction, SENT_ALREADY)
        return BoltResponse(status=200, body="")

    async def _acknowledged(
        self, interaction: Interaction, reply: Reply, handler: Route | Form, delivery: str | None
    ) -> BoltResponse:
        """Start the work, and answer Slack: at once, but for what the answer itself carries."""
        if isinstance(handler, Form):
            return await self._submitted(interaction, reply, handler, delivery)
        match interaction:
            case OptionsRequest():
                found = await self._options(interaction, reply, handler)
                return BoltResponse(status=200, body={"options": found[:100]})
            case Event(name=name) if name in self._features.settled_events:
                settled = await self._settled(interaction, reply, handler)
                return BoltResponse(status=200 if settled else 503, body="")
            case Event():
                self._start(self._notice(interaction, reply, handler), delivery)
            case _:
                self._start(self._act(interaction, reply, handler), delivery)
        return BoltResponse(status=200, body="")

    async def _submitted(
        self, form: Interaction, reply: Reply, handler: Form, delivery: str | None
    ) -> BoltResponse:
        """Start a form's work; Slack's answer is its result, or that it takes a while."""
        ack = Acknowledgement()
        if isinstance(form, FormSubmission):
            self._start(self._submit(form, reply, handler, ack), delivery)
        body = await ack.body(self.waits.form + self.waits.last_answer)
        return BoltResponse(status=200, body=body or "")

    def _start(self, work: Coroutine[Any, Any, None], delivery: str | None) -> None:
        """Run in the background; Bolt and asyncio keep no reference to a task."""

        async def run() -> None:
            try:
                await work
            finally:
                if delivery:
                    self._completed.add(delivery)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # One way of running for each kind

    async def _act(self, interaction: Interaction, reply: Reply, handler: Route) -> None:
        """A command, a shortcut or a button: whatever happens, the person is told."""
        with self._measured(interaction) as act:
            async with self._errors_told(act, reply), self._still_working(reply):
                await handler(interaction, reply)

    async def _notice(self, event: Event, reply: Reply, handler: Route) -> None:
        """An event: nobody asked for anything, so errors are for the log alone."""
        with self._measured(event) as act:
            try:
                await handler(event, reply)
            except Exception as error:  # noqa: BLE001 - it is logged
                act.failed(error)

    async def _settled(self, event: Event, reply: Reply, handler: Route) -> bool:
        """An event that must not be lost; whether it needn't be delivered again."""
        with self._measured(event) as act:
            try:
                await handler(event, reply)
            except Exception as error:  # noqa: BLE001 - it is logged
                act.outcome = "unsettled"
                log_failure("unsettled", act.name, error)
                return False
            return True

    async def _options(self, request: OptionsRequest, reply: Reply, handler: Route) -> list[JSON]:
        """A select's options; none where there is an error or no answer in time."""
        with self._measured(request) as act:
            try:
                async with asyncio.timeout(self.waits.options):
                    found: list[JSON] = await handler(request, reply)
                    return found
            except KeyRejected as error:  # said once: here, since the next act finds no key any more
                act.outcome = "not_linked"
                offer = self._linking.offer(reply, reply.wording.sentence(error), "")
                self._start(last_resort(reply.privately(offer)), None)
            except Exception as error:  # noqa: BLE001 - it is logged
                act.failed(error)
            return []

    async def _submit(self, form: FormSubmission, reply: Reply, handler: Form, ack: Acknowledgement) -> None:
        """A form: its result is the acknowledgement where it comes in time, else it is put in its place."""
        reply = reply.at(Place.from_json(form.view.metadata.get("place")))
        with self._measured(form) as act:
            async with self._errors_told(act, reply, ack):
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
        work = asyncio.create_task(self._once(form, reply, handler))
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
            result = await followed(reply, work, progress, told, self.waits.progress)
            result = result.in_form(form.view.json)
            await self._failures.finish(reply, result)
            return result
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait({work})

    async def _once(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """The form's work, once however often it is submitted; given back where it didn't succeed."""
        claim = f"form:{form.key}"  # one form may have taken the place of another, under the same id
        if not handler.repeatable and not await self._deliveries.claim(claim):
            raise UserError(SENT_ALREADY)
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
    async def _errors_told(
        self, act: "Act", reply: Reply, ack: Acknowledgement | None = None
    ) -> AsyncIterator[None]:
        """Whatever is raised in the block is told to the person, once; a cancellation goes on."""
        tell, wording = self._failures.tell, reply.wording
        try:
            yield
        except asyncio.CancelledError:
            telling = tell(reply, INTERRUPTED, ack)
            await last_resort(asyncio.wait_for(telling, self.waits.last_answer))
            raise
        except NotLinked as error:
            act.outcome = "not_linked"
            await last_resort(self._offer_link(reply, error, ack))
        except Unauthorized as error:
            act.failed(error)
            await last_resort(self._key_refused(reply, error, ack))
        except BotError as error:
            act.failed(error)
            await last_resort(tell(reply, wording.sentence(error), ack))
        except FormNotShown as error:
            act.failed(error)
            await last_resort(self._offer_form(reply, reason(error)))
        except NotDelivered as error:
            act.failed(error)
        except Exception as error:  # noqa: BLE001 - it is logged
            act.failed(error)
            said = f"Something went wrong on my side; tell your administrator the reference {act.reference}."
            await last_resort(tell(reply, said, ack))

    async def _key_refused(self, reply: Reply, error: Unauthorized, ack: Acknowledgement | None) -> None:
        """A key that was good a moment ago: is it dead, or only not good for this?"""
        said: BotError = Forbidden(error.method, error.path)
        try:
            await self._linking.verify(reply.owner)
        except NotLinked as dead:
            await self._offer_link(reply, dead, ack)
            return
        except BotError:
            said = error
        await self._failures.tell(reply, reply.wording.sentence(said), ack)

    async def _offer_link(self, reply: Reply, why: NotLinked, ack: Acknowledgement | None = None) -> None:
        """Open the link form, and save what was asked so that it goes on once the person is linked."""
        saved = await self._saved.put(reply.owner, saveable(reply.interaction.payload))
        said = reply.wording.sentence(why)
        form = self._linking.form(reply, said, saved)
        if ack and ack.give(response_action="update", view=form):
            return
        if not await reply.shown(form):
            await reply.privately(self._linking.offer(reply, said, saved))

    async def _offer_form(self, reply: Reply, why: str | None) -> None:
        """Slack didn't show a form: a button that opens it, in its place."""
        if reply.view_id:
            if why != "not_found":  # then the person has closed it
                await self._failures.tell(reply, "Slack didn't show the form: try again.")
            return
        saved = await self._saved.put(reply.owner, saveable(reply.interaction.payload))
        slow = "Slack didn't wait long enough for the form to open."
        said = slow if why in TOO_LATE else "Slack didn't open the form."
        row = button_row("Open the form", "form.resume", saved)
        await reply.privately(Message(said, (section(said), row)))

    # Going on with what was saved

    async def resume(self, reply: Reply, payload: JSON) -> None:
        """Go on with what was asked before the person was linked; a form comes back as it was."""
        if view := payload.get("view"):
            said = "You are linked now: look it over and send it again."
            await self._failures.finish(reply, FormResult(view=forms.refilled(view, said), said=said))
            return
        interaction = read(payload)
        handler = self._handler(interaction)
        if interaction is None or handler is None:
            raise UserError(EXPIRED_FORM)
        interaction = replace(
            interaction, owner=reply.owner, trigger_id=reply.interaction.trigger_id, installation=(None, None)
        )
        going_on = Reply(reply.slack, interaction, self._platform, interaction.place, reply.view_id)
        if not isinstance(handler, Form):
            await self._act(interaction, going_on, handler)

    async def _resume_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """*Open form*: what was asked when Slack didn't wait long enough, once."""
        saved = await self._saved.take(reply.owner, press.value)
        if saved is None:
            raise UserError("That was carried out already, or is too old: ask again.")
        await self.resume(reply, saved)

    async def _reopen_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """*Open the form again*: what was in a form that was closed before its answer came."""
        saved = await self._saved.get(reply.owner, press.value)
        if saved is None or "view" not in saved:
            raise UserError(EXPIRED_FORM)
        await reply.show(saved["view"])

    # Watching

    @contextmanager
    def _measured(self, interaction: Interaction) -> Iterator["Act"]:
        """Count and time what is done in the block, and log its end in one line."""
        act = Act(f"{interaction.kind}:{interaction.name}", telemetry.reference())
        started = time.perf_counter()
        owner = interaction.owner
        who = {"reference": act.reference, "team": owner.team_id, "user": owner.user_id}
        with self._in_flight.track(), structlog.contextvars.bound_contextvars(**who):
            try:
                yield act
            except asyncio.CancelledError:
                act.outcome = "interrupted"
                raise
            finally:
                seconds = time.perf_counter() - started
                telemetry.COMMANDS.labels(act.name, act.outcome).inc()
                telemetry.COMPLETION_SECONDS.labels(act.name).observe(seconds)
                name = act.name
                log.info("done", action=name, outcome=act.outcome, ms=round(seconds * 1000))

    @asynccontextmanager
    async def _still_working(self, reply: Reply) -> AsyncIterator[None]:
        """Tell somebody who isn't in a form, and has seen nothing for a while, that the work goes on."""

        async def tell() -> None:
            await asyncio.sleep(self.waits.still_working)
            if not (reply.answered.is_set() or reply.view_id or reply.place.home):
                said = sentence(f"One moment: {reply.wording.service} takes its time.")
                await last_resort(reply.privately(said))

        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.wait({telling})


def _progress(reply: Reply, form: Form) -> str:
    """How far a form's work is, in mrkdwn."""
    return reply.progress() if reply.progress else form.doing.format(service=escape(reply.wording.service))


@dataclass
class Act:
    """One thing that somebody did, as the log and the metrics know it."""

    name: str
    reference: str
    outcome: str = "ok"

    def failed(self, error: Exception) -> None:
        """Note how it ended, and log what an operator has to know."""
        name = self.name
        match error:
            case UserError():
                self.outcome = "user_error"
            case BotError():
                self.outcome = type(error).__name__
                log.info("refused", action=name, error=str(error))
            case FormNotShown():
                self.outcome = "form_not_shown"
                log.warning("form not shown", action=name, error=reason(error) or "no answer")
            case NotDelivered():
                self.outcome = "not_delivered"
                log.warning("not delivered", action=name)
            case TimeoutError():
                self.outcome = "TimeoutError"
            case _:
                self.outcome = "failed"
                log_failure("failed", name, error)
