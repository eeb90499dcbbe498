"""The demo data: Harbor, a small online retailer, and half a year of its work."""

from datetime import UTC, datetime

from bot.sandbox.demo.harbor import company
from bot.sandbox.demo.history import SeededRandom, add_extras, add_history
from bot.sandbox.tracker.data import Data

SEED = 20_251
__all__ = ["demo_data"]


def demo_data(now: datetime) -> Data:
    """Return users, projects and hundreds of issues up to `now` (timezone-aware), always the same for it."""
    now = now.astimezone(UTC).replace(microsecond=0)
    rng = SeededRandom(SEED)
    data = company(now)
    add_history(data, now, rng)
    add_extras(data, now, rng)
    return data
