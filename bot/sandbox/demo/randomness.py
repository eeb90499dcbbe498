"""Chance that comes out the same every time."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import TypeVar

ItemT = TypeVar("ItemT")
_SATURDAY = 5


class Dice(Random):
    """A seeded source of believable choices; nothing secret comes of it."""

    def one(self, items: Sequence[ItemT], weights: Sequence[int] | None = None) -> ItemT:
        """One of the items, by weight if weights are given."""
        return self.choices(items, weights)[0]

    def chance(self, percent: int) -> bool:
        """True in that many of a hundred cases."""
        return self.random() * 100 < percent

    def office_time(self, first: date, last: date) -> datetime:
        """A moment between two days, on a weekday more often than not, in working hours."""
        day = first + timedelta(days=self.randint(0, max((last - first).days, 0)))
        if day.weekday() >= _SATURDAY and self.chance(80):
            day = max(first, day - timedelta(days=2))
        moment = time(self.randint(7, 16), self.randint(0, 59), self.randint(0, 59))
        return datetime.combine(day, moment, UTC)
