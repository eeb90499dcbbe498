"""The transport that carries payloads to the app and brings back its acknowledgements."""

import asyncio
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.sandbox.workspace.shapes import JsonObject
from bot.sandbox.workspace.state import State

Kind = Literal["slash_commands", "interactive", "events_api"]
Outcome = Literal["acknowledged", "timeout", "refused", "offline"]


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
