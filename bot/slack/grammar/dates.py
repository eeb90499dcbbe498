"""Dates and date ranges as users type them (docs/commands.md)."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from bot.service.filters import DateRange, TimeRange
from bot.slack.grammar.errors import NoDaysInRange, NotADate, NotADayOfWork, TooFarAway

Towards = Literal["past", "future"]
"""Which way `7d` and `mon` point: creation dates lie in the past, due dates in the future."""

_NAMED = {"today": 0, "yesterday": -1, "tomorrow": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DISTANCE = re.compile(r"([+-]?)([0-9]{1,5})([dw])")
_COMPARISON = re.compile(r"(>=|<=|>|<)\s*(.+)")
_QUOTED = 40  # characters
_FIRST, _LAST = date(1900, 1, 1), date(2999, 12, 31)


def day(text: str, today: date, towards: Towards = "future") -> date:
    """`today`, `yesterday`, `tomorrow`, `2026-07-01`, `mon`…`sun` (today or the nearest such day), `+3d`,
    `-3d`, `7d` (seven days from today; `2w` two weeks). Raises NotADate.
    """
    typed = text.strip().lower()
    found = _day(typed, today, 1 if towards == "future" else -1)
    if found is None or not _FIRST <= found <= _LAST:
        raise NotADate(text.strip()[:_QUOTED])
    return found


def spent_day(text: str, today: date) -> date:
    """The date on which time was spent: `today`, `yesterday`, `mon`…`sun` (the latest before today) or
    `2026-07-01`. Raises NotADayOfWork.
    """
    typed = text.strip().lower()
    found = today - timedelta(days=7) if today.weekday() == _weekday(typed) else _day(typed, today, -1)
    if found is None or not _FIRST <= found <= _LAST:
        raise NotADayOfWork(text.strip()[:_QUOTED])
    return found


def is_weekday(text: str) -> bool:
    """Whether `text` names a weekday, such as `mon` or `Monday`."""
    return _weekday(text.strip().lower()) is not None


def days(text: str, today: date, towards: Towards) -> DateRange:
    """Parse `>=D`, `<=D`, `>D`, `<D`, `D..D`, `D..`, `..D`, `D`, or `7d`: seven days that end or start today.

    Raises NotADate, NoDaysInRange, TooFarAway.
    """
    typed = text.strip().lower()
    if match := _COMPARISON.fullmatch(typed):
        found = day(match[2], today, towards)
        one = timedelta(days=1)
        return {
            ">=": DateRange(since=found),
            "<=": DateRange(until=found),
            ">": DateRange(since=found + one),
            "<": DateRange(until=found - one),
        }[match[1]]
    if ".." in typed:
        since, until = (day(end, today, towards) if end.strip() else None for end in typed.split("..", 1))
        if (since is None and until is None) or (since and until and since > until):
            raise NoDaysInRange(typed[:_QUOTED])
        return DateRange(since, until)
    if (match := _DISTANCE.fullmatch(typed)) and not match[1] and int(match[2]):
        far = _day(typed, today, 1 if towards == "future" else -1)
        return _span(text, today, far, towards)
    found = day(text, today, towards)
    return DateRange(found, found)


def times(text: str, today: date, zone: ZoneInfo, towards: Towards) -> TimeRange:
    """As `days`, from the first second of the first day to the last second of the last one in `zone`.

    Raises NotADate, NoDaysInRange, TooFarAway.
    """
    span = days(text, today, towards)
    since = datetime.combine(span.since, time.min, zone) if span.since else None
    if span.until is None:
        return TimeRange(since, None)
    # in UTC: a day's last hour may repeat where daylight saving time ends at midnight
    after = datetime.combine(span.until + timedelta(days=1), time.min, zone).astimezone(UTC)
    return TimeRange(since, (after - timedelta(seconds=1)).astimezone(zone))


def _day(typed: str, today: date, direction: int) -> date | None:
    if typed in _NAMED:
        return today + timedelta(days=_NAMED[typed])
    if _ISO.fullmatch(typed):
        try:
            return date.fromisoformat(typed)
        except ValueError:
            return None
    if match := _DISTANCE.fullmatch(typed):
        sign = {"+": 1, "-": -1}.get(match[1], direction)
        return today + timedelta(days=sign * int(match[2]) * (7 if match[3] == "w" else 1))
    weekday = _weekday(typed)
    if weekday is None:
        return None
    away = (weekday - today.weekday()) * direction % 7
    return today + timedelta(days=away * direction)


def _weekday(typed: str) -> int | None:
    return next((n for n, name in enumerate(_WEEKDAYS) if typed in (name, name[:3])), None)


def _span(text: str, today: date, far: date | None, towards: Towards) -> DateRange:
    if far is None or not _FIRST <= far <= _LAST:
        raise TooFarAway(text.strip()[:_QUOTED])
    one = timedelta(days=1)
    return DateRange(today, far - one) if towards == "future" else DateRange(far + one, today)
