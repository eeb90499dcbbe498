"""The path of every payload, once it is parsed and Bolt has found its workspace's token:

    find the handler → claim → acknowledge → run → reply

A middleware that handles everything itself; Bolt's listeners aren't used. Errors, metrics, logs and "still
working" notices are handled here and nowhere else.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import InProgress, OutcomeUnknown, Refused, UserError, WrongField
from bot.slack.incoming.deliveries import Deliveries, PersonLocks, delivery_key, submitted_before
from bot.slack.incoming.failures import Failures
from bot.slack.incoming.feature import Feature, Form, Interrupted, On, merged
from bot.slack.incoming.form_results import finish, follow
from bot.slack.incoming.measurement import UNEXPECTED, log_failure, log_if_undelivered, measured
from bot.slack.outgoing.replies import Acknowledgement, Platform, Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, sentence
from bot.slack.surfaces.drafts import RESUMES, FormExpired, ReopenForm, ResumeRequest
from bot.slack.surfaces.forms import FormResult, notice
from bot.slack.surfaces.interaction import (
    ButtonPress,
    Destination,
    DetailsEdit,
    Event,
    FormClosed,
    FormSubmission,
    Interaction,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    UserMessage,
    form_claim,
    read,
)
from bot.slack.text.mrkdwn import escape
from bot.slack.workspaces.tokens import NOT_INSTALLED_MESSAGE, Workspaces
from bot.slack.workspaces.web_client import for_team
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.store.claims import Claim, State
from bot.store.store import Store
from bot.tasks import Tasks, cancel
from bot.timings import Delays

log = structlog.get_logger(__name__)

Route = Callable[[Any, Reply], Awaitable[Any]]
"""A handler of any kind; each is typed where its feature registers it."""


@dataclass(eq=False)
class Dispatch(AsyncMiddleware):
    features: Feature
    platform: Platform
    store: Store
    failures: Failures
    in_flight: Tasks
    delays: Delays
    deliveries: Deliveries = field(init=False)
    turns: PersonLocks = field(default_factory=PersonLocks, init=False)

    def __post_init__(self) -> None:
        self.deliveries = Deliveries(self.store.jobs, self.store.claims, self.delays.completed)
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
        interaction: Interaction | None = req.context.get("interaction")
        handler = self._handler(interaction)
        if interaction is None or handler is None:
            return await next()
        if isinstance(interaction, Event | UserMessage):
            known = interaction.bot_user_id or req.context.bot_user_id or ""
            interaction = replace(interaction, bot_user_id=known)
        if interaction.ignored:
            return BoltResponse(status=200, body="")
        interaction = replace(interaction, installation=(req.context.enterprise_id, req.context.team_id))

        reply = Reply(req.context.client, interaction, self.platform)
        delivery = delivery_key(interaction, handler)
        written = isinstance(interaction, UserMessage)
        async with self.turns.arriving(interaction.owner) if written else nullcontext():
            claim = await self.deliveries.claim(reply, delivery, handler)
            if isinstance(claim, BoltResponse):
                return claim
            return await self._acknowledge(interaction, reply, handler, delivery, claim)

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
                of_details = isinstance(interaction, DetailsEdit)
                return features.edits.get(name) if of_details else features.forms.get(name)
            case FormClosed(name=name):
                return features.closed.get(name)
            case OptionsRequest(name=name):
                return features.options.get(name)
            case Event(name=name) | UserMessage(name=name):
                return features.events.get(name) or features.messages.get(name)
        return None

    async def _acknowledge(
        self,
        interaction: Interaction,
        reply: Reply,
        handler: Route | Form,
        delivery: str | None,
        claim: Claim | None,
    ) -> BoltResponse:
        """Start the work and respond to Slack right away, unless the response carries the result.

        A form's response is its result, or a progress view.
        """
        if isinstance(handler, Form):
            reply.acknowledgement = Acknowledgement()
            if isinstance(interaction, FormSubmission):
                self._start(self._submit(interaction, reply, handler, claim), delivery)
            body = await reply.acknowledgement.body(self.delays.form + self.delays.last_answer)
            return BoltResponse(status=200, body=body or "")

        match interaction:
            case Event() if isinstance(handler, On):
                work = self._handle_event(interaction, reply, handler)
                if handler.must_succeed:
                    return BoltResponse(status=200 if await self.in_flight.start(work) else 503, body="")
                self._start(work, delivery, resumed=handler.resumed)
            case DetailsEdit():
                reply.acknowledgement = Acknowledgement()
                self._start(self._run(interaction, reply, handler), delivery)
                return BoltResponse(status=200, body=await reply.acknowledgement.body(self.delays.form) or "")
            case OptionsRequest():
                options = await self.in_flight.start(self._options(interaction, reply, handler))
                return BoltResponse(status=200, body={"options": options[:MAX_SELECT_OPTIONS]})
            case UserMessage(owner=owner):
                turn = self.turns.turn(owner, self.delays.turn)
                self._start(self._run(interaction, reply, handler, turn), delivery)
            case _:
                self._start(self._run(interaction, reply, handler), delivery)
        return BoltResponse(status=200, body="")

    def _start(
        self, work: Coroutine[Any, Any, object], delivery: str | None, *, resumed: bool = False
    ) -> None:
        """Start the work of a delivery; if it is cut off and `resumed`, another process continues it."""

        def ended(task: asyncio.Task[Any]) -> None:
            if delivery and not (resumed and task.cancelled()):
                self.deliveries.complete(delivery)

        self.in_flight.start(work).add_done_callback(ended)

    # One method for each kind of handler

    async def _run(
        self,
        interaction: Interaction,
        reply: Reply,
        handler: Route,
        turn: AbstractAsyncContextManager[None] = nullcontext(),  # noqa: B008 - it has no state
    ) -> None:
        """Run a handler when it is its turn."""
        with measured(interaction) as act:
            async with self.failures.reported(act, reply, self.delays.last_answer), turn:
                notifying = asyncio.create_task(self._notify_if_slow(reply))
                try:
                    if saved := await handler(interaction, reply):
                        await self.resume(reply, saved)
                finally:
                    await cancel(notifying)

    async def _handle_event(self, event: Event, reply: Reply, on: On) -> bool:
        """Run an event's handler and return whether it succeeded, without a progress notice."""
        retries = self.delays.event_retries if on.retries else ()
        for pause in (*retries, None):
            with measured(event) as act:
                try:
                    await on(event, reply)
                except Exception as error:  # noqa: BLE001 - it is logged
                    if on.must_succeed:
                        act.outcome = "unsettled"
                        log_failure("unsettled", act.name, error)
                    else:
                        act.failed(error)
                else:
                    return True
            if pause is None or act.outcome not in UNEXPECTED:
                break
            await asyncio.sleep(pause)
        return False

    async def _options(self, request: OptionsRequest, reply: Reply, handler: Route) -> list[JSON]:
        """A select's options; empty after an error or timeout."""
        with measured(request) as act:
            try:
                async with asyncio.timeout(self.delays.options):
                    options: list[JSON] = await handler(request, reply)
                    return options
            except Exception as error:  # noqa: BLE001 - it is logged
                act.failed(error)
            return []

    async def _submit(self, form: FormSubmission, reply: Reply, handler: Form, claim: Claim | None) -> None:
        reply = reply.at(Destination.from_json(form.view.metadata.get("place")))
        with measured(form) as act:
            async with self.failures.reported(act, reply, self.delays.last_answer):
                result = await self._result(form, reply, handler, claim)
                if result.errors or result.warning:
                    act.outcome = "user_error"
                if result.then:
                    await result.then()
                if result.resume:
                    await asyncio.sleep(self.delays.acknowledged)
                    await self.resume(reply, result.resume)
            reply.acknowledge()
            if reply.place.home:
                await reply.refresh_home()

    async def _result(
        self, form: FormSubmission, reply: Reply, handler: Form, claim: Claim | None
    ) -> FormResult:
        """Run a form; its result is the acknowledgement if it comes in time, or else updates the form."""
        work = asyncio.create_task(self._submit_once(form, reply, handler, claim))
        try:
            if (await asyncio.wait({work}, timeout=self.delays.form))[0]:
                result = work.result()
                reply.acknowledge(**result.acknowledgement())
                return result
            progress = partial(_progress, reply, handler)
            text = progress()
            reply.acknowledge(response_action="update", view=notice("One moment", text))
            await asyncio.sleep(self.delays.acknowledged)
            result = (await follow(reply, work, progress, text, self.delays.progress)).in_form(form.view.json)
            await finish(reply, result)
            return result
        finally:
            await cancel(work)

    async def _submit_once(
        self, form: FormSubmission, reply: Reply, handler: Form, claim: Claim | None
    ) -> FormResult:
        """Run a form's work once, however often it is submitted."""
        if claim is None:
            return await self._placed(form, reply, handler)
        warned = forms.warns(form.view.json, reply.wording.sentence(Interrupted()))
        async with self._once(claim, reply, submitted_before(), looks=handler.looks, warned=warned):
            result = await self._placed(form, reply, handler)
            if not (result.errors or result.warning):
                reply.committed = True
        return result

    @asynccontextmanager
    async def _once(
        self, claim: Claim, reply: Reply, done: UserError, *, looks: bool = False, warned: bool = False
    ) -> AsyncIterator[None]:
        """Do the claimed work: it is done if the reply is `committed`; otherwise free the claim.

        After a crash or an unknown outcome the block `looks` up what was done, or the user does, after a
        warning. Raises `done`, InProgress, Interrupted.
        """
        state = None
        try:
            if not claim.won:
                raise done if claim.done else InProgress
            if claim.tried_at and not looks:
                claim = replace(claim, tried_at=None)
                if not warned:
                    raise Interrupted
            reply.tried_at = claim.tried_at
            yield
        except (asyncio.CancelledError, OutcomeUnknown):
            state = State.UNKNOWN if looks else None
            raise
        finally:
            await self.store.claims.settle(claim, State.DONE if reply.committed else state)

    async def _placed(self, form: FormSubmission, reply: Reply, handler: Form) -> FormResult:
        """A form's result; a refusal is placed at the fields that it names."""
        try:
            return await handler.submit(form, reply)
        except (Refused, WrongField) as error:
            placed = forms.placed(form.view.json, error, reply.wording.sentence(error))
            if not placed:
                raise
            return FormResult(errors=placed)

    # Resuming saved requests

    async def run_event(self, event: Event, reply: Reply) -> None:
        """Handle an event again that another process began."""
        handler = self._handler(event)
        if isinstance(handler, On):
            await self._handle_event(event, reply, handler)

    async def resume(self, reply: Reply, payload: JSON) -> None:
        """Resume a user's request from before linking; a form comes back filled in.

        A saved request is resumed once, but opens its form as often as the user asks for it.
        """
        if (view := payload.get("view")) and view["type"] == "modal":
            message = "You're linked now. Check the form and submit it again."
            await finish(reply, FormResult.again(view, message))
            return
        interaction = read(payload)
        handler = self._handler(interaction)
        if interaction is None or handler is None:
            raise FormExpired
        interaction = replace(
            interaction, owner=reply.owner, trigger_id=reply.interaction.trigger_id, installation=(None, None)
        )
        resumed = Reply(reply.slack, interaction, self.platform)
        resumed.view_id, resumed.answered = reply.view_id, reply.answered
        if isinstance(handler, Form):
            return
        route, saved_id = handler, payload.get(RESUMES)

        async def once(interaction: Interaction, resumed: Reply) -> JSON | None:
            done = UserError("I already did this. Check the conversation for my reply.")
            async with self._once(await self.store.claims.claim(f"resume:{saved_id}"), resumed, done):
                following: JSON | None = await route(interaction, resumed)
                resumed.committed = not following and resumed.view_id == reply.view_id
            return {RESUMES: saved_id} | following if following else None

        await self._run(interaction, resumed, once if saved_id else route)

    async def _resume_pressed(self, press: ButtonPress[ResumeRequest], _reply: Reply) -> JSON:
        """*Open form*, and the buttons that run a command."""
        return press.button.resumed

    async def _reopen_pressed(self, press: ButtonPress[ReopenForm], reply: Reply) -> None:
        """*Reopen form*: restore a form that was closed before its result arrived."""
        closed = press.button
        if closed.claim:  # before the form can be submitted, it has to stand for the same work
            await reply.show(forms.loading(closed.view["title"]["text"]))
            if reply.view_id:
                reopened = form_claim(reply.owner, reply.view_id, closed.view["callback_id"])
                await self.store.claims.pass_on(closed.claim, reopened)
        await reply.show(closed.view)

    async def _notify_if_slow(self, reply: Reply) -> None:
        """Notify a user who isn't in a form if there is no reply after a while."""
        await asyncio.sleep(self.delays.still_working)
        if not (reply.answered.is_set() or reply.view_id or reply.place.home):
            message = sentence(f"{reply.wording.service} is slow right now. Still working on it…")
            await log_if_undelivered(reply.privately(message))


def _progress(reply: Reply, form: Form) -> str:
    return reply.progress() if reply.progress else form.doing.format(service=escape(reply.wording.service))


def bolt_app(slack: AsyncWebClient, workspaces: Workspaces, dispatch: Dispatch) -> AsyncApp:
    """The app, with dispatch as its only middleware; `http` has already verified signatures."""
    bolt = logging.getLogger("slack_bolt")
    bolt.setLevel(logging.ERROR)  # else it warns about a token in the environment
    app = AsyncApp(
        name="issuebot",  # else Bolt reads the source of every caller to find one
        logger=bolt,
        # With a token, Bolt would call auth.test first and reject requests until then.
        client=for_team(slack, None, None),
        authorize=workspaces,  # type: ignore[arg-type] # Bolt accepts its own class too
        user_facing_authorize_error_message=NOT_INSTALLED_MESSAGE,
        signing_secret="-",  # noqa: S106 - unused: requests are verified already
        request_verification_enabled=False,
        attaching_function_token_enabled=False,  # a step's own token can't do all that the bot's can
    )
    bolt.setLevel(logging.WARNING)
    app.use(dispatch)
    return app
