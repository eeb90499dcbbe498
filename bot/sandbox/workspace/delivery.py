"""The transport that carries payloads to the app and brings back its acknowledgements."""

from dataclasses import dataclass
from typing import Literal, Protocol

from bot.sandbox.workspace.shapes import JsonObject

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


class Delivery(Protocol):
    """The interface of the transport for all payloads: Socket Mode or HTTP."""

    @property
    def connected(self) -> bool:
        """Return whether the app is reachable, as far as the transport knows."""
        ...

    async def deliver(
        self, kind: Kind, payload: JsonObject, *, takes_answer: bool, retry: Retry | None = None
    ) -> Answer:
        """Send one payload and wait up to `state.ack_seconds` for its acknowledgement."""
        ...

    async def close(self) -> None:
        """Disconnect from the app."""
        ...
