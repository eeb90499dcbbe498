"""Trigger ids: 3 seconds, once (https://docs.slack.dev/reference/methods/views.open)."""

import itertools
import secrets
from dataclasses import dataclass

from bot.sandbox.workspace.shapes import Refused
from bot.sandbox.workspace.state import State

KEPT_SECONDS = 600.0


@dataclass(slots=True)
class Trigger:
    """Proof that a person has just done something, and where."""

    user: str
    channel: str | None
    at: float
    in_modal: bool
    used: bool = False


class Triggers:
    """All of the last minutes."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._known: dict[str, Trigger] = {}
        self._counter = itertools.count(1_000_000_000)

    def issue(self, user: str, channel: str | None, *, in_modal: bool = False) -> str:
        """A new trigger id for what `user` has just done."""
        now = self._state.clock.now()
        self._known = {key: known for key, known in self._known.items() if known.at > now - KEPT_SECONDS}
        trigger_id = f"{next(self._counter)}.{int(now)}.{secrets.token_hex(16)}"
        self._known[trigger_id] = Trigger(user, channel, now, in_modal)
        return trigger_id

    def redeem(self, trigger_id: str) -> Trigger:
        """The trigger of an id, which is used up by asking.

        Raises Refused for an unknown, old or used one.
        """
        trigger = self._known.get(trigger_id)
        if trigger is None:
            raise Refused("invalid_trigger_id", "This trigger_id was never given out, or long ago.")
        if trigger.used:
            raise Refused("exchanged_trigger_id", "A trigger_id opens one view; this one was used before.")
        age, most = self._state.clock.now() - trigger.at, self._state.trigger_seconds
        if age > most:
            detail = f"A trigger_id lives {most:g} seconds; this was {age:.1f} s old."
            raise Refused("expired_trigger_id", detail)
        trigger.used = True
        return trigger
