"""Dates and date ranges as users type them (docs/commands.md)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import chain
from typing import Literal

from bot.errors import UserError
from bot.service.filters import DateRange, TimeRange
from bot.slack.language.durations import NUMBERS
from bot.slack.language.tokens import Word
from bot.spelling import DAY_NAMES

Today = Callable[[], date]
"""Called only for what depends on today, because a person's time zone may be unknown."""
Towards = Literal["past", "future"]
"""Which way `7d` and `mon` point: creation dates lie in the past, due dates in the future."""
_Reader = Callable[[re.Match[str], Today, int], date | None]

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAY_WORD = (
    r"(?:today|yesterday|yday|tomorrow|tmrw|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}\.[0-9]{1,2}\.|[0-9]+[dw])"
)
_NAMED = {
    "today": 0,
    "yesterday": -1,
    "yday": -1,
    "tomorrow": 1,
    "tmrw": 1,
    "day before yesterday": -2,
    "day after tomorrow": 2,
}
_WAY = {"past": -1, "future": 1}
_AWAY = {"last": -1, "past": -1, "this": 0, "next": 1}
MONTH_FORMS = tuple(chain.from_iterable((name, name[:3]) for name in MONTHS))
WEEKDAY_FORMS = tuple(chain.from_iterable((name, name[:3]) for name in DAY_NAMES))
MONTH = f"({'|'.join(MONTH_FORMS)}|sept)"
_WEEKDAY = f"({'|'.join(WEEKDAY_FORMS)})"
_AMOUNT = (
    rf"(?P<number>[0-9]{{1,5}}|an?|{'|'.join(NUMBERS)})"
    r"(?P<unit>(?<=[0-9])[dw]| (?:day|week|month|year)s?)"
)
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
    return _checked(_day(_normal(text), today, _WAY[towards]), text, _DAYS)


def spent_day(text: str, today: Today) -> date:
    """Return the date on which time was spent, like `day`, but `mon`…`sun` is the latest one before today.

    Raises UserError as `day` does.
    """
    typed = _normal(text)
    is_today = re.fullmatch(_WEEKDAY, typed) and _index(typed, DAY_NAMES) == today().weekday()
    spent_on = today() - timedelta(days=7) if is_today else _day(typed, today, -1)
    return _checked(spent_on, text, _DAYS_OF_WORK)


def _checked(value: date | None, text: str, examples: str) -> date:
    if value is None or not _FIRST <= value <= _LAST:
        raise NotADate(text.strip()[:_QUOTED], examples)
    return value


@dataclass(frozen=True)
class SaidDay:
    """A day that a text names, by `count` of its words from `at`. If it isn't `sure`, it may be text."""

    day: date
    at: int
    count: int
    sure: bool


def said_day(words: Sequence[Word], today: Today) -> SaidDay | None:
    """The day that a text names at its start or end: `last friday`, `on friday`, `yesterday`, `2026-12-31`.

    A weekday or a date without its year needs `on`, as in `on Dec 31`, or a colon after it, unless it is the
    whole text. If there is nothing else, `Dec 31` isn't sure.

    Weekdays are as in `spent_day`. Quoted words name no day. Raises UserError as `day` does,
    but for text that may be no date only if it looks like one: `on Feb 30`.
    """
    unsure = None
    for end in (False, True):
        for count in range(min(_LONGEST_SAID, len(words)), 0, -1):
            at = len(words) - count if end else 0
            phrase, before = words[at : at + count], words[at - 1].text.lower() if at else ""
            if before in _TAKES_DAY or not all(word.is_plain for word in phrase):
                continue

            alone = count == len(words)
            typed = bare(_normal(" ".join(word.text for word in phrase)).rstrip(":"))
            labels = not at and phrase[-1].text.endswith(":")
            named = typed.removeprefix("for " if (alone or labels) and typed.startswith("for ") else "on ")
            dated = labels or named != typed
            here = {"anywhere": True, "first": at == 0 or dated, "alone": alone or dated}
            clear = next((where.split() for where, form, _ in _FORMS if form.fullmatch(named)), [])
            sure = any(map(here.get, clear))
            if not sure and (unsure or "unsure" not in clear):
                continue

            try:
                read = SaidDay(spent_day(named, today), at, count, sure)
            except UserError as error:
                if sure and (dated or "unsure" in clear or not isinstance(error, NotADate)):
                    raise  # such as Feb 30: no comment
                continue
            if sure:
                return read
            unsure = read
    return unsure


def bare(text: str) -> str:
    """The text without the punctuation at its end, unless that is a date's: `20.11.`."""
    stripped = text.rstrip(".,;!?")
    dotted = text.endswith(".") and re.search(r"[0-9]{1,2}\.[0-9]{1,2}\Z", stripped)
    return f"{stripped}." if dotted else stripped


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
    if match := re.fullmatch(r"(>=|<=|>|<)\s*(.+)", typed):
        period = _period(match[2], today, towards)
        return {
            ">=": DateRange(since=period.since),
            "<=": DateRange(until=period.until),
            ">": DateRange(since=period.until + _ONE if period.until else None),
            "<": DateRange(until=period.since - _ONE if period.since else None),
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
    if match := re.fullmatch(r"(last|past|next) ([0-9]+ .+)", typed):
        typed, towards = match[2], "future" if match[1] == "next" else "past"
    if (match := re.fullmatch(_AMOUNT, typed)) and _count(match):
        far = _day(typed, today, _WAY[towards])
        if far is None or not _FIRST <= far <= _LAST:
            raise UserError(
                "“{typed}” is out of range. Use a shorter period, such as `30d`.",
                typed=text.strip()[:_QUOTED],
            )
        return DateRange(today(), far - _ONE) if towards == "future" else DateRange(far + _ONE, today())
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


def _period(text: str, today: Today, towards: Towards) -> DateRange:
    """A week, month or year near today, or a single day."""
    typed = text.strip()
    if match := re.fullmatch(r"(last|this|next) (week|month|year)", typed):
        away = _AWAY[match[1]]
        return DateRange(_start(match[2], today, away), _start(match[2], today, away + 1) - _ONE)
    if match := re.fullmatch(rf"(?:(last|this|next) )?{MONTH}(?: ([0-9]{{4}}))?", typed):
        now, month = today(), _index(match[2], MONTHS) + 1
        nearest = -(month > now.month) if towards == "past" else month < now.month
        away = {"last": -(month >= now.month), "this": 0, "next": month <= now.month}.get(match[1], nearest)
        first = _checked(_date(int(match[3] or now.year + away), month, 1), text, _DAYS)
        return DateRange(first, (first + timedelta(days=31)).replace(day=1) - _ONE)
    single_day = day(typed, today, towards)
    return DateRange(single_day, single_day)


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
    matches = ((form.fullmatch(typed), read) for _, form, read in _FORMS)
    return next((read(match, today, direction) for match, read in matches if match), None)


def _count(amount: re.Match[str]) -> int:
    typed = amount["number"]
    if typed.isdigit():
        return int(typed)
    return NUMBERS.index(typed) + 1 if typed in NUMBERS else 1


def _away(amount: re.Match[str], today: Today, direction: int) -> date | None:
    """The day so many days, weeks, months or years from today."""
    count, unit, now = _count(amount) * direction, amount["unit"].strip()[0], today()
    if unit in "dw":
        return now + timedelta(days=count * (7 if unit == "w" else 1))
    year, month = divmod(now.year * 12 + now.month - 1 + count * (12 if unit == "y" else 1), 12)
    return next(filter(None, (_date(year, month + 1, now.day - less) for less in range(4))), None)


def _near_weekday(named: re.Match[str], today: Today, direction: int) -> date:
    """`mon`, `last monday`, `this monday` or `next monday`."""
    now = today()
    away = _index(named[2], DAY_NAMES) - now.weekday()
    if not named[1]:
        return now + timedelta(days=away * direction % 7 * direction)
    way = _AWAY[named[1]]
    return now + timedelta(days=(away * way % 7 or 7) * way if way else away)


def _numeric(typed: re.Match[str], today: Today, direction: int) -> date | None:
    """`31/12/2026`, `12/31` or `31.12.2026`. Raises UserError if both could be the month."""
    first, second, year = int(typed[1]), int(typed[3]), typed[4]
    day_first = _nearest(year, second, first, today, direction)
    month_first = _nearest(year, first, second, today, direction)
    if typed[2] == "." or month_first is None or day_first == month_first:
        return day_first
    if day_first:
        raise UserError(
            "“{typed}” could be {one} or {other}. Type `{month_first}` or `{day_first}`.",
            typed=typed[0],
            one=f"{month_first:%B} {month_first.day}",
            other=f"{day_first:%B} {day_first.day}",
            month_first=month_first,
            day_first=day_first,
        )
    return month_first


def _month_day(typed: re.Match[str], today: Today, direction: int) -> date | None:
    """`Dec 31`, in the nearest year in that direction unless one is given."""
    month, number, year = (typed[part] for part in ("month", "number", "year"))
    at = int(month) if month.isdigit() else _index(month, MONTHS) + 1
    return _nearest(year, at, int(number), today, direction)


def _nearest(year: str | None, month: int, number: int, today: Today, direction: int) -> date | None:
    """A day of the year, or without one the nearest such day in that direction."""
    if year:
        return _date(int(year), month, number)
    now = today()
    nearest = _date(now.year, month, number)
    passed = nearest is not None and (nearest - now).days * direction < 0
    return _date(now.year + direction, month, number) if passed else nearest


def _index(typed: str, names: Sequence[str]) -> int:
    return next(n for n, name in enumerate(names) if name.startswith(typed[:3]))


def _date(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


_DAY_NUMBER, _IN_YEAR = "(?P<number>[0-9]{1,2})", "(?:,? (?P<year>[0-9]{4}))?"
_FORMS: tuple[tuple[str, re.Pattern[str], _Reader], ...] = tuple(
    (clear, re.compile(form), read)
    for clear, form, read in (
        (
            "anywhere",
            f"(?:the (?=day ))?({'|'.join(_NAMED)})",
            lambda match, today, _: today() + timedelta(days=_NAMED[match[1]]),
        ),
        ("anywhere", f"{_AMOUNT} ago", lambda match, today, _: _away(match, today, -1)),
        ("", rf"(?:in |\+){_AMOUNT}", lambda match, today, _: _away(match, today, 1)),
        ("", f"-{_AMOUNT}", lambda match, today, _: _away(match, today, -1)),
        ("", _AMOUNT, _away),
        ("", "next (week|month|year)", lambda match, today, _: _start(match[1], today, 1)),
        (
            "",
            "(?:the )?end of (?:the |this |(next) )?(week|month|year)",
            lambda match, today, _: _start(match[2], today, 2 if match[1] else 1) - _ONE,
        ),
        ("alone", f"(){_WEEKDAY}", _near_weekday),
        ("anywhere", f"(last|this|next) {_WEEKDAY}", _near_weekday),
        ("anywhere", "(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<number>[0-9]{2})", _month_day),
        ("anywhere", r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})", _numeric),
        ("alone", "([0-9]{1,2})(/)([0-9]{1,2})()", _numeric),
        ("first", rf"{_DAY_NUMBER}\.(?P<month>[0-9]{{1,2}})\.(?P<year>)?", _month_day),
        ("alone unsure", rf"(?P<month>{MONTH})\.? {_DAY_NUMBER}(?:st|nd|rd|th)?{_IN_YEAR}", _month_day),
        ("alone unsure", rf"{_DAY_NUMBER}(?:st|nd|rd|th|\.)? (?P<month>{MONTH})\.?{_IN_YEAR}", _month_day),
    )
)
"""How a day is written, and where in a comment that is clear: `anywhere`, `first`, or `alone`; the latter two
also after *on*. If the comment is `unsure`, a month's name is clear, too.
"""
