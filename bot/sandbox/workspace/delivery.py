"""How a payload reaches the app and what comes back."""

from dataclasses import dataclass
from typing import Literal, Protocol

from bot.sandbox.workspace.shapes import JsonObject

Kind = Literal["slash_commands", "interactive", "events_api"]
Outcome = Literal["acknowledged", "timeout", "refused", "offline"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a delivery; `payload` is the acknowledgement's JSON, its text, or None."""

    outcome: Outcome
    payload: object = None


@dataclass(frozen=True, slots=True)
class Retry:
    """The repetition of an event: its number from 1, and what went wrong before."""

    number: int
    reason: str


class Delivery(Protocol):
    """Socket Mode or HTTP: one of them carries every payload."""

    @property
    def connected(self) -> bool:
        """Whether the app can be reached as far as is known."""
        ...

    async def deliver(
        self, kind: Kind, payload: JsonObject, *, takes_answer: bool, retry: Retry | None = None
    ) -> Answer:
        """Hand one payload over and wait for its acknowledgement, `state.ack_seconds` at most."""
        ...

    async def close(self) -> None:
        """Let go of the app."""
        ...
