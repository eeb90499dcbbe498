"""Delays until a user stops typing in a form, before anything is looked up.

The result updates the form with the hash it was looked up for, so Slack rejects it if the form has changed
since. Replicas need no coordination.
"""

import asyncio
from collections import OrderedDict
from typing import Any, TypeVar

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.interaction import ButtonPress
from bot.slack.workspaces.slack_errors import SLACK_FAILED, why

log = structlog.get_logger(__name__)

K = TypeVar("K")
V = TypeVar("V")

MAX_REMEMBERED = 500
OWN_UPDATES = 50
"""How many of the bot's own updates of a form are remembered: actions in flight refer to a recent one."""


class Debouncer:
    """Tracks the latest input in each form and the hashes that the bot's own updates gave it."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._latest: OrderedDict[str, float] = OrderedDict()
        self._hashes: OrderedDict[str, list[str]] = OrderedDict()

    async def wait(self, form: str, typed_at: float) -> bool:
        """Wait for a pause in typing; returns False if the user typed more in the meantime.

        `typed_at` is Slack's time of the action, because actions may be handled out of order.
        """
        if not self.begin(form, typed_at):
            return False
        await asyncio.sleep(self._pause)
        return self.is_latest(form, typed_at)

    def begin(self, form: str, typed_at: float) -> bool:
        """Record an input at Slack's time; returns False if a later one is known."""
        if typed_at < self._latest.get(form, 0.0):
            return False
        _keep(self._latest, form, typed_at)
        return True

    def is_latest(self, form: str, typed_at: float) -> bool:
        """Whether nothing was typed since `typed_at`."""
        return self._latest.get(form) == typed_at

    async def update(
        self, slack: AsyncWebClient, press: ButtonPress[Any], form: JSON, view: JSON, action: str
    ) -> None:
        """Replace `form`, unless it has changed since; logs that as `action`."""
        now = self.hash_now(press.form_key, form["hash"])
        try:
            answer = await slack.views_update(view_id=form["id"], view=view, hash=now)
        except SLACK_FAILED as error:  # most likely the form was submitted or closed
            log.info("form changed before the update", action=action, error=why(error))
            return
        self.updated(press.form_key, now, (answer.get("view") or {}).get("hash") or now)

    def updated(self, form: str, before: str, after: str) -> None:
        """Record that the bot's own update changed a form's hash from `before` to `after`."""
        hashes = self._hashes.get(form, [])
        if hashes[-1:] != [before]:
            hashes = [before]
        _keep(self._hashes, form, [*hashes, after][-OWN_UPDATES:])

    def hash_now(self, form: str, known: str) -> str:
        """The form's current hash, if only the bot's own updates have changed it since `known`."""
        hashes = self._hashes.get(form, [])
        return hashes[-1] if known in hashes else known


def _keep(kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MAX_REMEMBERED:
        kept.popitem(last=False)
