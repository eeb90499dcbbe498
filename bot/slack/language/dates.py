"""Dates and date ranges as users type them (docs/commands.md)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from bot.errors import UserError
from bot.service.filters import DateRange, TimeRange
from bot.slack.language.tokens import Word

Today = Callable[[], date]
"""Called only for what depends on today, because a person's time zone may be unknown."""
Towards = Literal["past", "future"]
"""Which way `7d` and `mon` point: creation dates lie in the past, due dates in the future."""

_NAMED = {
    "today": 0,
    "yesterday": -1,
    "tomorrow": 1,
    **dict.fromkeys(("day before yesterday", "the day before yesterday"), -2),
    **dict.fromkeys(("day after tomorrow", "the day after tomorrow"), 2),
}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_AWAY = {"last": -1, "past": -1, "this": 0, "next": 1}
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMERIC = re.compile(r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})")
_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.")
_IN_MONTH = re.compile(r"(?:(last|this|next) )?([a-z]{3,9})(?: ([0-9]{4}))?")
_MONTH_DAY = re.compile(r"([a-z]{3,9})\.? ([0-9]{1,2})(?:st|nd|rd|th)?(?:,? ([0-9]{4}))?")
_DAY_MONTH = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|\.)? ([a-z]{3,9})\.?(?:,? ([0-9]{4}))?")
_DISTANCE = re.compile(r"([+-]?)([0-9]{1,5})([dwMY])")  # months and years only in words: `_compact`
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_IN_WORDS = re.compile(rf"(in )?([0-9]{{1,5}}|an?|{'|'.join(NUMBERS)}) (day|week|month|year)s?( ago)?")
_NEAR_DAY = re.compile(r"(last|this|next) ([a-z]{3,9})")
_PERIOD = re.compile(r"(last|this|next) (week|month|year)")
_SPAN = re.compile(r"(last|past|next) ([0-9]{1,5} (?:day|week|month|year)s?)")
_COMPARISON = re.compile(r"(>=|<=|>|<)\s*(.+)")
_AGO = re.compile(rf"(?:[0-9]{{1,5}}|an?|{'|'.join(NUMBERS)}) (?:day|week|month|year)s? ago")
_END_OF = re.compile(r"(?:the )?end of (?:the |this |(next) )?(week|month|year)")
DAY_WORD = r"(?:today|yesterday|tomorrow|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}\.[0-9]{1,2}\.|[0-9]+[dw])"
_LONGEST_SAID = 4  # how many words a day may take: `on 31 Dec 2026`
_TAKES_DAY = frozenset(
    {
        *("about", "after", "as", "before", "by", "due", "for", "from", "of"),
        *("since", "than", "the", "till", "to", "until", "vs"),
    }
)
"""Words that a following day belongs to: `the report for last friday`."""
_QUOTED = 40  # characters
_FIRST, _LAST = date(1900, 1, 1), date(2999, 12, 31)
_ONE = timedelta(days=1)
_DAYS = "`2026-07-01`, `next friday`, `Dec 31`, or `+3d`"
_DAYS_OF_WORK = "`yesterday`, `last friday`, or `2026-07-01`"


class NotADate(UserError):
    """The text names no day; `examples` do."""

    says = "“{typed}” isn't a date. Try {examples}."
    typed: str
    examples: str


def day(text: str, today: Today, towards: Towards = "future") -> date:
    """A date as in docs/commands.md. `mon`, `Dec 31` and `7d` point towards the past or the future.

    Raises NotADate, and UserError for a date that could be day first or month first.
    """
    found = _day(_normal(text), today, 1 if towards == "future" else -1)
    if found is None or not _FIRST <= found <= _LAST:
        raise NotADate(text.strip()[:_QUOTED], _DAYS)
    return found


def spent_day(text: str, today: Today) -> date:
    """Return the date on which time was spent, like `day`, but `mon`…`sun` is the latest one before today.

    Raises UserError as `day` does.
    """
    typed = _normal(text)
    weekday = _weekday(typed)
    is_today = weekday is not None and weekday == today().weekday()
    found = today() - timedelta(days=7) if is_today else _day(typed, today, -1)
    if found is None or not _FIRST <= found <= _LAST:
        raise NotADate(text.strip()[:_QUOTED], _DAYS_OF_WORK)
    return found


@dataclass(frozen=True)
class SaidDay:
    """A day that a text names, by `count` of its words from `at`."""

    day: date
    at: int
    count: int


def said_day(words: Sequence[Word], today: Today, *, sure: bool = True) -> SaidDay | None:
    """The day that a text names at its start or end: `last friday`, `on friday`, `yesterday`, `2026-12-31`.

    A weekday or a date without its year needs `on`, as in `on Dec 31`, unless it is the whole text. Without
    `sure`, `Dec 31` doesn't.

    Weekdays are as in `spent_day`. Quoted words name no day. Raises UserError as `day` does,
    but for text that may be no date only if it looks like one: `on Feb 30`.
    """
    for end in (False, True):
        for count in range(min(_LONGEST_SAID, len(words)), 0, -1):
            at = len(words) - count if end else 0
            phrase, before = words[at : at + count], words[at - 1].text.lower() if at else ""
            if before in _TAKES_DAY or any(
                atom.quoted or atom.user for word in phrase for atom in word.atoms
            ):
                continue
            typed = bare(_normal(" ".join(word.text for word in phrase)))
            if found := _said(typed, today, alone=count == len(words), first=at == 0, sure=sure):
                return SaidDay(found, at, count)
    return None


def _said(typed: str, today: Today, *, alone: bool, first: bool, sure: bool) -> date | None:
    """The day that the whole phrase names."""
    named = typed.removeprefix("for " if alone and typed.startswith("for ") else "on ")
    near = _NEAR_DAY.fullmatch(named)
    certain = (near and _weekday(near[2]) is not None) or any(
        form.fullmatch(named) for form in (_ISO, _NUMERIC, _AGO)
    )
    dated = alone or named != typed
    first = first or named != typed
    certain = certain or (bool(_DOTTED.fullmatch(named)) and (alone or first))
    certain = certain or named in _NAMED or (dated and _weekday(named) is not None)
    certain = certain or ((dated or not sure) and _is_month_day(named))
    try:
        return spent_day(named, today) if certain else None
    except NotADate:
        if _is_month_day(named):  # such as Feb 30: no comment
            raise
        return None


def _is_month_day(typed: str) -> bool:
    match = _MONTH_DAY.fullmatch(typed) or _DAY_MONTH.fullmatch(typed)
    return match is not None and any(_month(name) for name in match.groups() if name)


def bare(text: str) -> str:
    """The text without the punctuation at its end, unless that is a date's: `20.11.`."""
    stripped = text.rstrip(".,;!?")
    return (
        f"{stripped}." if text.endswith(".") and _DOTTED.search(f" {stripped}.".split(" ")[-1]) else stripped
    )


def is_date(text: str) -> bool:
    try:
        days(text, lambda: date(2024, 1, 1), "future")
    except NotADate:
        return False
    except UserError:
        return True
    return True


def days(text: str, today: Today, towards: Towards) -> DateRange:
    """Parse `>=D`, `<=D`, `>D`, `<D`, `D..D`, `D..`, `..D`, `D`, or `7d`: seven days that end or start today.

    D is a day, `last week`, `this month` or the like. Raises UserError as `day` does, and for a range
    without days or out of the calendar.
    """
    typed = _normal(text)
    if match := _COMPARISON.fullmatch(typed):
        found = _period(match[2], today, towards)
        return {
            ">=": DateRange(since=found.since),
            "<=": DateRange(until=found.until),
            ">": DateRange(since=found.until + _ONE if found.until else None),
            "<": DateRange(until=found.since - _ONE if found.since else None),
        }[match[1]]
    if ".." in typed:
        start, end = typed.split("..", 1)
        since = _period(start, today, towards).since if start.strip() else None
        until = _period(end, today, towards).until if end.strip() else None
        if (since is None and until is None) or (since and until and since > until):
            raise UserError(
                "“{typed}” ends before it starts. Put the earlier date first, such as "
                "`2026-07-01..2026-07-31`.",
                typed=typed[:_QUOTED],
            )
        return DateRange(since, until)
    if match := _SPAN.fullmatch(typed):
        typed, towards = match[2], "future" if match[1] == "next" else "past"
    if (match := _DISTANCE.fullmatch(_compact(typed))) and not match[1] and int(match[2]):
        far = _day(typed, today, 1 if towards == "future" else -1)
        return _span(text, today, far, towards)
    return _period(typed, today, towards)


def times(text: str, today: Today, zone: Callable[[], tzinfo], towards: Towards) -> TimeRange:
    """Return the range of `days` from its first to its last second in `zone`.

    Raises UserError as `days` does.
    """
    span, there = days(text, today, towards), zone()
    since = datetime.combine(span.since, time.min, there) if span.since else None
    if span.until is None:
        return TimeRange(since, None)
    # in UTC: a day's last hour may repeat where daylight saving time ends at midnight
    after = datetime.combine(span.until + _ONE, time.min, there).astimezone(UTC)
    return TimeRange(since, (after - timedelta(seconds=1)).astimezone(there))


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def _period(typed: str, today: Today, towards: Towards) -> DateRange:
    """A week, month or year near today, or a single day."""
    if match := _PERIOD.fullmatch(typed.strip()):
        away = _AWAY[match[1]]
        return DateRange(_start(match[2], today, away), _start(match[2], today, away + 1) - _ONE)
    if (match := _IN_MONTH.fullmatch(typed.strip())) and _month(match[2]):
        return _whole_month(_month(match[2]), match[1], match[3], today, towards)
    found = day(typed, today, towards)
    return DateRange(found, found)


def _whole_month(month: int, near: str | None, year: str | None, today: Today, towards: Towards) -> DateRange:
    """`october`, `last october` or `october 2025`: without a year, the nearest one in that direction."""
    now = today()
    backward = near == "last" or (near is None and towards == "past")
    later = month > now.month if near is None else month >= now.month
    earlier = month < now.month if near is None else month <= now.month
    guess = now.year + (-1 if backward and later else 1 if not backward and earlier else 0)
    first = date(int(year) if year else guess, month, 1)
    return DateRange(first, (first + timedelta(days=31)).replace(day=1) - _ONE)


def _start(unit: str, today: Today, away: int) -> date:
    """The first day of a week, month or year, `away` of them from today's."""
    now = today()
    if unit == "week":
        return now + timedelta(days=7 * away - now.weekday())
    if unit == "year":
        return date(now.year + away, 1, 1)
    year, month = divmod(now.year * 12 + now.month - 1 + away, 12)
    return date(year, month + 1, 1)


def _day(typed: str, today: Today, direction: int) -> date | None:
    if typed in _NAMED:
        return today() + timedelta(days=_NAMED[typed])
    if match := _DISTANCE.fullmatch(_compact(typed)):
        sign = {"+": 1, "-": -1}.get(match[1], direction)
        return _away(today(), sign * int(match[2]), match[3])
    if (match := _PERIOD.fullmatch(typed)) and match[1] == "next":
        return _start(match[2], today, 1)
    if match := _END_OF.fullmatch(typed):
        return _start(match[2], today, 2 if match[1] else 1) - _ONE
    return _near_day(typed, today, direction) or _calendar_day(typed, today, direction)


def _away(now: date, count: int, unit: str) -> date | None:
    """The day so many days, weeks, months (`M`) or years (`Y`) from now."""
    if unit in "dw":
        return now + timedelta(days=count * (7 if unit == "w" else 1))
    year, month = divmod(now.year * 12 + now.month - 1 + count * (12 if unit == "Y" else 1), 12)
    return next(filter(None, (_date(year, month + 1, now.day - less) for less in range(4))), None)


def _near_day(typed: str, today: Today, direction: int) -> date | None:
    """`mon`, `last monday`, `this monday` or `next monday`."""
    near = _NEAR_DAY.fullmatch(typed)
    weekday = _weekday(near[2] if near else typed)
    if weekday is None:
        return None
    now = today()
    away = weekday - now.weekday()
    if near is None:
        return now + timedelta(days=away * direction % 7 * direction)
    way = _AWAY[near[1]]
    return now + timedelta(days=(away * way % 7 or 7) * way if way else away)


def _calendar_day(typed: str, today: Today, direction: int) -> date | None:
    """`2026-12-31`, `31/12/2026`, `Dec 31` or `31 Dec 2026`. Raises UserError as `_numeric` does."""
    if _ISO.fullmatch(typed):
        return _date(*map(int, typed.split("-")))
    if match := _NUMERIC.fullmatch(typed):
        return _numeric(typed, int(match[1]), int(match[3]), int(match[4]), dotted=match[2] == ".")
    if match := _DOTTED.fullmatch(typed):
        return _month_day(int(match[2]), int(match[1]), None, today, direction)
    if match := _MONTH_DAY.fullmatch(typed):
        return _month_day(_month(match[1]), int(match[2]), match[3], today, direction)
    if match := _DAY_MONTH.fullmatch(typed):
        return _month_day(_month(match[2]), int(match[1]), match[3], today, direction)
    return None


def _compact(typed: str) -> str:
    """Return `+3d` for `in 3 days`, `-2w` for `2 weeks ago`, and anything else unchanged."""
    match = _IN_WORDS.fullmatch(typed)
    if match is None or (match[1] and match[4]):
        return typed
    count = match[2] if match[2].isdigit() else NUMBERS.index(match[2]) + 1 if match[2] in NUMBERS else 1
    unit = match[3][0].upper() if match[3] in ("month", "year") else match[3][0]
    return f"{'+' if match[1] else '-' if match[4] else ''}{count}{unit}"


def _numeric(typed: str, first: int, second: int, year: int, *, dotted: bool) -> date | None:
    """`31/12/2026`, `12/31/2026` or `31.12.2026`. Raises UserError if both could be the month."""
    day_first, month_first = _date(year, second, first), _date(year, first, second)
    if dotted or month_first is None or day_first == month_first:
        return day_first
    if day_first:
        raise UserError(
            "“{typed}” could be {one} or {other}. Type `{month_first}` or `{day_first}`.",
            typed=typed,
            one=f"{month_first:%B} {month_first.day}",
            other=f"{day_first:%B} {day_first.day}",
            month_first=month_first,
            day_first=day_first,
        )
    return month_first


def _month_day(month: int, number: int, year: str | None, today: Today, direction: int) -> date | None:
    """`Dec 31`, in the nearest year in that direction unless one is given."""
    if year:
        return _date(int(year), month, number)
    now = today()
    found = _date(now.year, month, number)
    passed = found is not None and (found - now).days * direction < 0
    return _date(now.year + direction, month, number) if passed else found


def _month(name: str) -> int:
    """The month's number, or 0."""
    return next((n for n, known in enumerate(MONTHS, 1) if name in (known, known[:3])), 0)


def _date(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _weekday(typed: str) -> int | None:
    return next((n for n, name in enumerate(WEEKDAYS) if typed in (name, name[:3])), None)


def _span(text: str, today: Today, far: date | None, towards: Towards) -> DateRange:
    if far is None or not _FIRST <= far <= _LAST:
        raise UserError(
            "“{typed}” is out of range. Use a shorter period, such as `30d`.", typed=text.strip()[:_QUOTED]
        )
    return DateRange(today(), far - _ONE) if towards == "future" else DateRange(far + _ONE, today())
