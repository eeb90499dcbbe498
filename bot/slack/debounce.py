"""Where people pause while they type into a form: the only moment at which it is worth looking something up.

What is found is put into the form with the hash of the form that it was looked up for, so that Slack refuses
it when the form has become another one meanwhile. Replicas need not know of each other for that.
"""

import asyncio
from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

PAUSE = 0.5
REMEMBERED = 500
OWN_UPDATES = 50
"""How many of its own updates of a form the bot remembers: actions in flight name one of the latest."""


class Pauses:
    """What was typed last into each form, and what the bot's own updates made of the forms' hashes."""

    def __init__(self) -> None:
        self._latest: OrderedDict[str, float] = OrderedDict()
        self._hashes: OrderedDict[str, list[str]] = OrderedDict()

    async def come(self, form: str, typed_at: float) -> bool:
        """Wait for a pause; whether nothing more was typed before it came.

        `typed_at` is Slack's time of the action: what was typed later may well be worked on earlier.
        """
        if typed_at < self._latest.get(form, 0.0):
            return False
        _keep(self._latest, form, typed_at)
        await asyncio.sleep(PAUSE)
        return self.is_latest(form, typed_at)

    def is_latest(self, form: str, typed_at: float) -> bool:
        """Whether nothing more was typed since."""
        return self._latest.get(form) == typed_at

    def updated(self, form: str, before: str, after: str) -> None:
        """An update of the bot's own turned a form with the hash `before` into one with `after`."""
        hashes = self._hashes.get(form, [])
        if hashes[-1:] != [before]:
            hashes = [before]
        _keep(self._hashes, form, [*hashes, after][-OWN_UPDATES:])

    def hash_now(self, form: str, known: str) -> str:
        """The hash that a form has by now, as far as the bot itself has updated it."""
        hashes = self._hashes.get(form, [])
        return hashes[-1] if known in hashes else known


def _keep(kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)
