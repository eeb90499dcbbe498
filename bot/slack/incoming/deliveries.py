"""Slack's deliveries: recognizes a repetition (docs/slack.md, Delivery), keeps a person's messages in order,
and records which deliveries are complete.
"""

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

import structlog
from slack_bolt.response import BoltResponse

from bot.errors import UserError
from bot.slack.incoming.feature import Form, On
from bot.slack.incoming.measurement import log_if_undelivered
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import sentence
from bot.slack.surfaces.drafts import saveable
from bot.slack.surfaces.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    Interaction,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    UserMessage,
)
from bot.store.claims import Claim, Claims
from bot.store.jobs import Jobs
from bot.store.owner import Owner

REQUEST = "request"
"""The kind of job that a delivery is while a person waits for it: its content is their request, so that
another process can notify them if this one crashes. That is the owner's name, the installation that it came
to, and the parts of Slack's payload that are needed to reply to it.
"""

IN_EVENT = (
    *("type", "user", "channel", "ts", "event_ts", "tab", "view_id", "unfurl_id", "function_execution_id"),
)
IN_OTHERS = ("trigger_id", "command", "callback_id", "type", "action_ts")
"""The fields that distinguish deliveries."""

log = structlog.get_logger(__name__)


def delivery_key(interaction: Interaction, handler: object) -> str | None:
    """An idempotency key for a delivery; None for what may be handled any number of times.

    Slack repeats an event under several `event_id`s, so its content is the key.
    """
    body = interaction.payload
    if isinstance(interaction, OptionsRequest) or (isinstance(handler, On) and handler.repeatable):
        return None
    if isinstance(interaction, UserMessage):  # a mention in a direct message may come as two events
        content = {"message": interaction.event.get("ts"), "channel": interaction.place.channel_id}
        content["team"] = interaction.owner.team_id
    elif isinstance(interaction, Event):
        content = {name: interaction.event.get(name) for name in IN_EVENT} | {"team": body.get("team_id")}
    else:
        content = {name: body.get(name) for name in IN_OTHERS} | {"team": interaction.owner.team_id}
        acted = body.get("actions") or ()
        content["actions"] = [(one.get("action_id"), one.get("action_ts")) for one in acted]
        content["view"] = (body.get("view") or {}).get("id")
        if content["trigger_id"] is None and content["view"] is None and not content["actions"]:
            content = body
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _unclaimed(interaction: Interaction, text: str) -> BoltResponse:
    """The response when a delivery can't be claimed, and so must not be handled.

    Says so to the user if the response can. An event is rejected, so that Slack delivers it again.
    """
    match interaction:
        case SlashCommand():
            return BoltResponse(status=200, body={"response_type": "ephemeral", "text": text})
        case FormSubmission(view=view):
            blocks, values = view.json.get("blocks") or (), view.json.get("state", {}).get("values")
            inputs = (block["block_id"] for block in blocks if block.get("type") == "input")
            first = next(inputs, None) or next(iter(values or ()), "")
            return BoltResponse(status=200, body={"response_action": "errors", "errors": {first: text}})
        case Event() | UserMessage():
            return BoltResponse(status=503, body="")
    return BoltResponse(status=200, body="")


class Deliveries:
    """Claims each delivery once; records completed ones in batches, so that no request waits for that."""

    def __init__(self, jobs: Jobs, claims: Claims, batch_seconds: float, retry_seconds: float = 5) -> None:
        self._batch_seconds = batch_seconds
        self._retry_seconds = retry_seconds
        self._jobs, self._claims = jobs, claims
        self._completed: set[str] = set()
        self._recording: asyncio.Task[None] | None = None

    async def claim(self, reply: Reply, delivery: str | None, handler: object) -> BoltResponse | Claim | None:
        """Claim a delivery in the database, with the request if a user waits for it, and a form's work.

        Returns the response if the delivery must not be handled here, or else the claim of the work of a form
        that acts once.
        """
        if delivery is None:
            return None

        interaction, claim = reply.interaction, None
        try:
            waiting = handler.resumed if isinstance(handler, On) else not isinstance(interaction, FormClosed)
            if not waiting:
                fresh = await self._claims.record_done(delivery)
            else:
                asked = [interaction.owner.name, interaction.installation, saveable(interaction.payload)]
                acts_once = isinstance(handler, Form) and not handler.repeatable
                if acts_once and isinstance(interaction, FormSubmission):
                    putting = self._jobs.putting_held(REQUEST, delivery, asked)
                    claim = await self._claims.claim_in(putting, interaction.key)
                    fresh = claim is not None
                else:
                    fresh = await self._jobs.put_held(REQUEST, delivery, asked)
        except Exception:
            reference = secrets.token_hex(4)
            log.exception("could not claim a delivery", action="delivery.unclaimed", reference=reference)
            why = UserError(
                "I can't reach my database. Ask your Issue Bot administrator to look up reference "
                "{reference}.",
                reference=reference,
            )
            message = reply.wording.sentence(why)
            if isinstance(interaction, Shortcut | ButtonPress):
                await log_if_undelivered(reply.privately(sentence(message)))
            return _unclaimed(interaction, message)

        if fresh:
            return claim
        log.info("repeated delivery", action="delivery.repeated", user=interaction.owner.user_id)
        if isinstance(interaction, FormSubmission):  # an empty response would close it as if it had succeeded
            return _unclaimed(interaction, reply.wording.sentence(submitted_before()))
        return BoltResponse(status=200, body="")

    def complete(self, delivery: str) -> None:
        self._completed.add(delivery)
        if self._recording is None:
            self._recording = asyncio.create_task(self._record())

    async def stop(self) -> None:
        if self._recording is not None:
            self._recording.cancel()
        try:
            if self._completed:
                await self._jobs.settle_as_done(self._completed)
        except Exception:
            log.exception("completed deliveries not recorded", action="delivery.not_left")

    async def _record(self) -> None:
        pause = self._batch_seconds
        while self._completed:
            await asyncio.sleep(pause)
            batch = frozenset(self._completed)
            try:
                await self._jobs.settle_as_done(batch)
            except Exception:
                log.exception(
                    "completed deliveries not recorded", action="delivery.not_finished", count=len(batch)
                )
                pause = self._retry_seconds
            else:
                self._completed -= batch
                pause = self._batch_seconds
        self._recording = None


def submitted_before() -> UserError:
    return UserError(
        "You already submitted this form. Check whether it went through before you submit another."
    )


class PersonLocks:
    """Handles each person's messages one after the other, in the order in which they arrived."""

    def __init__(self) -> None:
        self._arriving: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()
        self._handling: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    def arriving(self, owner: Owner) -> asyncio.Lock:
        """Held from a message's arrival until it waits for its turn, so that no later one overtakes it."""
        return self._arriving.setdefault(owner, asyncio.Lock())

    @asynccontextmanager
    async def turn(self, owner: Owner, seconds: float) -> AsyncIterator[None]:
        """A message's turn. Raises UserError if the ones before it take longer than these seconds."""
        lock = self._handling.setdefault(owner, asyncio.Lock())
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(seconds):
                    await stack.enter_async_context(lock)
            except TimeoutError:
                raise UserError(
                    "I'm still answering your earlier messages. Send this one again when I've caught up."
                ) from None
            yield
