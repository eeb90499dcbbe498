"""The transport that carries payloads to the app and brings back its acknowledgements, and what else every
user interaction with the app shares: triggers, response URLs and error reports.
"""

import asyncio
import logging
import secrets
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bot.sandbox.workspace.model import JsonObject, User
from bot.sandbox.workspace.response_urls import ResponseUrls
from bot.sandbox.workspace.state import ApiError, BackgroundTasks, State

Kind = Literal["slash_commands", "interactive", "events_api"]
Outcome = Literal["acknowledged", "timeout", "refused", "offline"]
KEPT_SECONDS = 600.0
LOG = logging.getLogger("issuebot.sandbox.delivered")
UNANSWERED = {
    "timeout": ("operation_timeout", "The app didn't acknowledge this within 3 seconds."),
    "refused": ("dispatch_failed", "The app returned an error."),
    "offline": ("dispatch_failed", "The app isn't connected."),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a delivery; `payload` is the acknowledgement's JSON, its text, or None."""

    outcome: Outcome
    payload: object = None


@dataclass(frozen=True, slots=True)
class Retry:
    """An event's redelivery: the attempt number, from 1, and the reason the last attempt failed."""

    number: int
    reason: str


async def before_timeout(state: State, acknowledgement: asyncio.Future[Answer]) -> Answer:
    """Return the acknowledgement, or a timeout when it takes longer than `state.ack_seconds`."""
    timer = asyncio.create_task(state.clock.sleep(state.ack_seconds))
    try:
        await asyncio.wait((acknowledgement, timer), return_when=asyncio.FIRST_COMPLETED)
        answer = acknowledgement.result() if acknowledgement.done() else Answer("timeout")
        state.received("acknowledgement", answer.payload)
        return answer
    finally:
        timer.cancel()


class Delivery(Protocol):
    """The interface of the transport for all payloads: Socket Mode or HTTP."""

    @property
    def connected(self) -> bool: ...

    async def deliver(
        self, kind: Kind, payload: JsonObject, *, takes_answer: bool, retry: Retry | None = None
    ) -> Answer:
        """Send one payload and wait up to `state.ack_seconds` for its acknowledgement."""
        ...

    async def close(self) -> None: ...


@dataclass(slots=True)
class Trigger:
    """A user's recent interaction."""

    user: str
    at: float
    in_modal: bool
    used: bool = False


@dataclass
class Triggers:
    """The triggers of the last few minutes: each is valid once, for 3 seconds.

    Source: https://docs.slack.dev/reference/methods/views.open
    """

    state: State
    _known: dict[str, Trigger] = field(default_factory=dict, init=False)

    def issue(self, user: str, *, in_modal: bool = False) -> str:
        now = self.state.clock.now()
        self._known = {key: known for key, known in self._known.items() if known.at > now - KEPT_SECONDS}
        trigger_id = f"{secrets.randbelow(10**10)}.{int(now)}.{secrets.token_hex(16)}"
        self._known[trigger_id] = Trigger(user, now, in_modal)
        return trigger_id

    def redeem(self, trigger_id: str) -> Trigger:
        """Return a trigger and mark it as used.

        Raises ApiError for an unknown, expired or used one.
        """
        trigger = self._known.get(trigger_id)
        if trigger is None:
            raise ApiError("invalid_trigger_id", "This trigger_id is unknown or has expired.")
        if trigger.used:
            raise ApiError("exchanged_trigger_id", "This trigger_id was already used.")
        age, maximum = self.state.clock.now() - trigger.at, self.state.trigger_seconds
        if age > maximum:
            detail = f"A trigger_id expires after {maximum:g} seconds. This one was {age:.1f} seconds old."
            raise ApiError("expired_trigger_id", detail)
        trigger.used = True
        return trigger


@dataclass(frozen=True, slots=True)
class Exchange:
    state: State
    delivery: Delivery
    triggers: Triggers
    response_urls: ResponseUrls
    background_tasks: BackgroundTasks

    async def deliver(
        self, kind: Kind, payload: JsonObject, *, takes_answer: bool, retry: Retry | None = None
    ) -> Answer:
        """As `Delivery.deliver`; logs it at debug level, where handlers find the payload in the record."""
        answer = await self.delivery.deliver(kind, payload, takes_answer=takes_answer, retry=retry)
        LOG.debug(kind, extra={"kind": kind, "payload": payload, "outcome": answer.outcome})
        return answer

    def missed(self, user: User, where: str, answer: Answer) -> bool:
        """Return whether no acknowledgement came; if so, notify the user (and the panel unless offline)."""
        if answer.outcome == "acknowledged":
            return False
        error, detail = UNANSWERED[answer.outcome]
        notice = f"{where} failed with the error “{error}”."
        if answer.outcome == "offline":
            notice += f" {detail}"
        else:
            self.state.violate(where, error, detail)
        self.state.toast(user.id, notice)
        return True


class PageError(Exception):
    """The request can't be done; the page shows the message."""


class Gone(PageError):
    """The form or message closed or changed before the user's action arrived."""
