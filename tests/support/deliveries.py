"""What becomes of what Slack sends to the bot."""

from collections.abc import Callable
from typing import Any

import pytest

from bot.sandbox.workspace.delivery import Answer
from bot.sandbox.workspace.http import HttpDelivery
from bot.sandbox.workspace.model import JsonObject
from bot.sandbox.workspace.socket import SocketDelivery

Heard = Callable[[JsonObject, str], None]
"""Gets a payload and its outcome: Slack tells the user of anything but "acknowledged"."""


def listen(monkeypatch: pytest.MonkeyPatch, heard: Heard) -> None:
    """Calls `heard` after each delivery."""
    for delivery in (HttpDelivery, SocketDelivery):

        async def delivered(
            self: object, kind: str, payload: JsonObject, *, deliver: Any = delivery.deliver, **how: Any
        ) -> Answer:
            answer: Answer = await deliver(self, kind, payload, **how)
            heard(payload, answer.outcome)
            return answer

        monkeypatch.setattr(delivery, "deliver", delivered)
