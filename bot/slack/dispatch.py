"""From Bolt to a listener and back: acknowledge first, run, and turn whatever happens into one sentence."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot import telemetry
from bot.errors import BotError, Forbidden, KeyRejected, NotLinked, Unauthorized, UserError
from bot.features.accounts import views as account_views
from bot.features.parts import Parts
from bot.service.conventions import account_url
from bot.slack import forms
from bot.slack.blocks import JSON, Message, actions, button, section, sentence
from bot.slack.posting import SLACK_FAILED, Untold, reason
from bot.slack.submissions import Reply, finish
from bot.slack.turn import Turn, Unshown, modal

log = structlog.get_logger(__name__)

Listener = Callable[[Turn], Awaitable[None]]
Submission = Callable[[Turn, AsyncAck], Awaitable[None]]
Options = Callable[[Turn, str], Awaitable[list[JSON]]]
BoltListener = Callable[[AsyncAck, JSON, AsyncWebClient, AsyncBoltContext], Awaitable[None]]
OPTIONS_TIME = 2.5
PATIENCE = 2.0
"""Seconds after which whoever asked hears that it goes on."""
LAST_WORD = 3
CUT_OFF = "I was stopped in the middle of this: look whether it was done before you try again."
DELIVERY = "delivery"
"""Under which name a delivery's key is in Bolt's context."""
TOO_LATE = frozenset({"expired_trigger_id", "exchanged_trigger_id", "trigger_expired"})


class Handling:
    """Runs listeners; knows them by name, so that what was asked before being linked can be resumed."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.listeners: dict[str, Listener] = {}

    def acting(self, name: str, listener: Listener) -> BoltListener:
        """For commands, shortcuts and actions: acknowledged at once, answered after."""
        self.listeners[name] = listener

        async def bolt_listener(
            ack: AsyncAck, body: JSON, client: AsyncWebClient, context: AsyncBoltContext
        ) -> None:
            await ack()
            turn = Turn.from_body(self._parts, client, body)
            with self._parts.finished.after(context[DELIVERY]):
                async with _patiently(turn):
                    await self._run(name, turn, listener(turn))

        return bolt_listener

    def noticing(self, name: str, listener: Listener) -> BoltListener:
        """For events: nobody asked for anything, so nobody is told what went wrong but the log."""

        async def bolt_listener(
            ack: AsyncAck, body: JSON, client: AsyncWebClient, _: AsyncBoltContext
        ) -> None:
            await ack()
            turn = Turn.from_body(self._parts, client, body)
            with self._measured(name, turn) as act:
                try:
                    await listener(turn)
                except (BotError, *SLACK_FAILED) as error:
                    act.outcome = type(error).__name__
                except Exception as error:  # noqa: BLE001 - it is noted
                    act.outcome = "failed"
                    noted("failed", name, error)

        return bolt_listener

    def settling(
        self, name: str, listener: Listener
    ) -> Callable[[JSON, AsyncWebClient], Awaitable[BoltResponse]]:
        """For events that must not be lost: acknowledged once the listener succeeds, else Slack repeats them.

        It is a Bolt middleware, since Bolt acknowledges an event before it runs the listener.
        """

        async def settle(body: JSON, client: AsyncWebClient) -> BoltResponse:
            turn = Turn.from_body(self._parts, client, body)
            with self._measured(name, turn) as act:
                try:
                    await listener(turn)
                except Exception as error:  # noqa: BLE001 - it is noted
                    act.outcome = "unsettled"
                    noted("unsettled", name, error)
                    return BoltResponse(status=503, body="")
            return BoltResponse(status=200, body="")

        return settle

    def submitting(self, name: str, submission: Submission) -> BoltListener:
        """For forms: the submission acknowledges itself, since the acknowledgement carries its errors."""

        async def bolt_listener(
            ack: AsyncAck, body: JSON, client: AsyncWebClient, context: AsyncBoltContext
        ) -> None:
            turn = Turn.from_body(self._parts, client, body)
            with self._parts.finished.after(context[DELIVERY]):
                await self._run(name, turn, submission(turn, ack), ack)
                if ack.response is None:
                    await ack()

        return bolt_listener

    def suggesting(self, name: str, options: Options) -> BoltListener:
        """For selects that are searched as one types; no answer in time or an error is an empty list."""

        async def bolt_listener(
            ack: AsyncAck, body: JSON, client: AsyncWebClient, _: AsyncBoltContext
        ) -> None:
            turn = Turn.from_body(self._parts, client, body)
            found: list[JSON] = []
            with self._measured(name, turn) as act:
                try:
                    async with asyncio.timeout(OPTIONS_TIME):
                        found = await options(turn, str(body.get("value") or ""))
                except KeyRejected as error:  # said once: here, since the next act finds no key any more
                    act.outcome = "not_linked"
                    await ack(options=[])
                    said = error.sentence(turn.service)
                    await last_resort(turn.answer(account_views.link_offer(turn.service, said, None, "")))
                    return
                except (BotError, TimeoutError) as error:
                    act.outcome = type(error).__name__
                except Exception as error:  # noqa: BLE001 - it is noted
                    act.outcome = "failed"
                    noted("failed", name, error)
                await ack(options=found[:100])

        return bolt_listener

    async def resume(self, turn: Turn, payload: JSON) -> None:
        """Carry out what was asked before the person was linked; a form comes back as it was."""
        if view := payload.get("view"):
            said = "You are linked now: look it over and send it again."
            await finish(turn, Reply(view=forms.refilled(view, said), said=said))
            return
        name = name_of(payload)
        resumed = Turn.from_body(self._parts, turn.slack, payload)
        resumed.owner, resumed.view_id, resumed.trigger_id = turn.owner, turn.view_id, turn.trigger_id
        if listener := self.listeners.get(name):
            await self._run(name, resumed, listener(resumed))

    async def reopen(self, turn: Turn) -> None:
        """The button *Open the form again*: what was in a form that was closed before its answer came."""
        kept = await self._parts.store.continuations.get(turn.owner, str(turn.action.get("value")))
        if kept is None or "view" not in kept:
            raise UserError("That form is too old to be opened again: begin anew.")
        await turn.show(kept["view"])

    async def resume_pressed(self, turn: Turn) -> None:
        """The button *Open the form*: what was asked when Slack didn't wait long enough; carried out once."""
        kept = await self._parts.store.continuations.take(turn.owner, str(turn.action.get("value")))
        if kept is None:
            raise UserError("That was carried out already, or is too old: ask again.")
        await self.resume(turn, kept)

    async def _unshown(self, turn: Turn, why: str | None) -> None:
        if turn.view_id and why == "not_found":
            return  # the person has closed the form
        if turn.view_id:
            await failed(turn, "Slack didn't show the form: try again.")
            return
        kept = await self._parts.store.continuations.put(turn.owner, kept_of(turn.body))
        slow = "Slack didn't wait long enough for the form to open."
        said = slow if why in TOO_LATE else "Slack didn't open the form."
        open_it = actions([button("Open the form", "form.resume", kept, style="primary")])
        await turn.answer(Message(said, (section(said), open_it)))

    async def _key_refused(self, turn: Turn, error: Unauthorized, ack: AsyncAck | None) -> None:
        """A key that was good a moment ago: is it dead, or only not good for this?"""
        try:
            await self._parts.accounts.whoami(turn.owner)
        except NotLinked as dead:
            await self.offer_link(turn, dead, ack)
        except BotError:
            await failed(turn, error.sentence(turn.service), ack)
        else:
            await failed(turn, Forbidden(error.method, error.path).sentence(turn.service), ack)

    async def offer_link(self, turn: Turn, why: NotLinked, ack: AsyncAck | None = None) -> None:
        """Open the link form, keeping what was asked so that it is carried out once the person is linked."""
        kept = await self._parts.store.continuations.put(turn.owner, kept_of(turn.body))
        form = account_views.link_form(
            turn.service,
            account_url(self._parts.client.base_url),
            said=why.sentence(turn.service),
            waiting=turn.typed,
            metadata=json.dumps({"continue": kept, "place": turn.place.as_json()}),
        )
        if ack is not None and ack.response is None:
            await ack(response_action="update", view=form)
            return
        if not await turn.shown(form):
            await turn.answer(
                account_views.link_offer(turn.service, why.sentence(turn.service), turn.typed, kept)
            )

    async def _run(self, name: str, turn: Turn, work: Awaitable[None], ack: AsyncAck | None = None) -> None:
        with self._measured(name, turn) as act:
            try:
                await work
            except asyncio.CancelledError:
                await last_resort(asyncio.wait_for(failed(turn, CUT_OFF, ack), LAST_WORD))
                raise
            except NotLinked as error:
                act.outcome = "not_linked"
                await last_resort(self.offer_link(turn, error, ack))
            except Unauthorized as error:
                act.outcome = "Unauthorized"
                await last_resort(self._key_refused(turn, error, ack))
            except UserError as error:
                act.outcome = "user_error"
                await last_resort(failed(turn, error.sentence(turn.service), ack))
            except BotError as error:
                act.outcome = type(error).__name__
                log.info("refused", action=name, error=str(error))
                await last_resort(failed(turn, error.sentence(turn.service), ack))
            except Unshown as error:
                act.outcome = "unshown"
                log.warning("unshown", action=name, error=reason(error) or "broke off")
                await last_resort(self._unshown(turn, reason(error)))
            except Untold:
                act.outcome = "untold"
                log.warning("untold", action=name)
            except Exception as error:  # noqa: BLE001 - it is noted
                act.outcome = "failed"
                noted("failed", name, error)
                said = (
                    f"Something went wrong on my side; tell your administrator the reference {act.reference}."
                )
                await last_resort(failed(turn, said, ack))

    @contextmanager
    def _measured(self, name: str, turn: Turn) -> Iterator["_Act"]:
        """Counts and times what is done in the block, and logs its end in one line."""
        act, started = _Act(telemetry.reference()), time.perf_counter()
        who = {"reference": act.reference, "team": turn.owner.team_id, "user": turn.owner.user_id}
        with self._parts.in_flight.track(), structlog.contextvars.bound_contextvars(**who):
            try:
                yield act
            except asyncio.CancelledError:
                act.outcome = "cut_off"
                raise
            finally:
                seconds = time.perf_counter() - started
                telemetry.COMMANDS.labels(name, act.outcome).inc()
                telemetry.COMPLETION_SECONDS.labels(name).observe(seconds)
                log.info("done", action=name, outcome=act.outcome, ms=round(seconds * 1000))


@dataclass
class _Act:
    """One thing that somebody did, as the log and the metrics know it."""

    reference: str
    outcome: str = "ok"


@asynccontextmanager
async def _patiently(turn: Turn) -> AsyncIterator[None]:
    """Says that it goes on, where somebody who isn't in a form has seen nothing for a while."""
    saying: list[asyncio.Task[None]] = []

    def say() -> None:
        if not (turn.heard.is_set() or turn.view_id or turn.at_home):
            moment = sentence(f"One moment: {turn.service} takes its time.")
            saying.append(asyncio.create_task(last_resort(turn.answer(moment))))

    timer = asyncio.get_running_loop().call_later(PATIENCE, say)
    try:
        yield
    finally:
        timer.cancel()
        for task in saying:
            task.cancel()
            await asyncio.wait({task})


async def last_resort(answer: Awaitable[None]) -> None:
    """An answer that can't be given is only worth a log line: there is nobody left to tell."""
    try:
        await answer
    except Untold:
        log.warning("untold", action="answer.untold")
    except Exception as error:  # noqa: BLE001 - it is noted
        noted("unanswered", "answer.failed", error)


def noted(event: str, action: str, error: Exception) -> None:
    """Logs an error: in a line where Slack has said what it is, else with all that leads to it."""
    if why := reason(error):
        log.warning(event, action=action, error=why)
    else:
        log.error(event, action=action, exc_info=error)


async def failed(turn: Turn, text: str, ack: AsyncAck | None = None) -> None:
    """Say what went wrong, and give back what the person typed: the form as it was, or the command."""
    text = account_views.keyless(turn.worded(text))
    if view := modal(turn.body):
        again = forms.refilled(view, text)
        if ack is not None and ack.response is None:
            await ack(response_action="update", view=again)
        else:
            await finish(turn, Reply(view=again, said=text))
    elif not turn.typed or " " not in turn.typed:
        await turn.say(text)
    else:
        said = sentence(text)
        message = Message(said.text, (*said.blocks, account_views.typed(turn.typed)))
        if not (turn.view_id and await turn.shown(forms.said("That didn't work", message.blocks))):
            await turn.answer(message)


def name_of(body: JSON) -> str:
    """A payload's name in the register: `command:/issue`, `shortcut:create_issue`, `action:issue.show`."""
    if "command" in body:
        return f"command:{body['command']}"
    if body.get("type") == "block_actions":
        return f"action:{body['actions'][0].get('action_id')}"
    return f"shortcut:{body.get('callback_id')}"


KEPT = (
    "type",
    "command",
    "text",
    "channel_id",
    "response_url",
    "callback_id",
    "channel",
    "container",
    "message",
    "actions",
    "view",
)
KEPT_OF_MESSAGE = ("text", "blocks", "attachments", "user", "username", "bot_profile", "ts", "thread_ts")


def kept_of(body: JSON) -> JSON:
    """What is needed to carry a payload out later: no tokens, triggers or secrets, nothing about others."""
    kept = {key: body[key] for key in KEPT if key in body}
    kept.pop("view", None)
    if view := modal(body):
        kept["view"] = forms.without_secrets(view)
    if "message" in kept:
        kept["message"] = message_kept(kept["message"])
    return kept


def message_kept(message: JSON) -> JSON:
    """What is needed of a message to make something of it later; its files are looked up anew then."""
    files = [
        {"id": file["id"], "file_access": "check_file_info"}
        for file in message.get("files") or ()
        if "id" in file
    ]
    kept = {key: message[key] for key in KEPT_OF_MESSAGE if key in message}
    return kept | ({"files": files} if files else {})
