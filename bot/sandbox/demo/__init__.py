"""The demo data: a small company, Harbor, that sells online, and half a year of its work."""

from datetime import UTC, datetime

from bot.sandbox.demo.company import company
from bot.sandbox.demo.extras import add_extras
from bot.sandbox.demo.history import add_history
from bot.sandbox.demo.randomness import Dice
from bot.sandbox.tracker.data import Data

SEED = 20_251
__all__ = ["demo_data"]


def demo_data(now: datetime) -> Data:
    """People, projects and hundreds of issues up to `now` (with a zone); the same for the same `now`."""
    now = now.astimezone(UTC).replace(microsecond=0)
    dice = Dice(SEED)
    data = company(now)
    add_history(data, now, dice)
    add_extras(data, now, dice)
    return data
