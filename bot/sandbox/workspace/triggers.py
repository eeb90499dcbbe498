"""Trigger IDs: valid once, for 3 seconds (https://docs.slack.dev/reference/methods/views.open)."""

import secrets
from dataclasses import dataclass, field

from bot.sandbox.workspace.shapes import ApiError
from bot.sandbox.workspace.state import State

KEPT_SECONDS = 600.0


@dataclass(slots=True)
class Trigger:
    """A user's recent interaction."""

    user: str
    at: float
    in_modal: bool
    used: bool = False


@dataclass
class Triggers:
    """The triggers of the last few minutes."""

    state: State
    _known: dict[str, Trigger] = field(default_factory=dict, init=False)

    def issue(self, user: str, *, in_modal: bool = False) -> str:
        """Return a new trigger ID for an interaction by `user`."""
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
