"""Parses schedules, and calculates their due times in a time zone.

A schedule is five cron fields. cronsim parses them and finds the due times, also in the nights when clocks
change, like Debian's cron: a fixed time that the clock skips is due right after the gap, and one that the
clock shows twice is due once.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import cache
from itertools import chain, islice, pairwise, takewhile
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from bot.errors import UserError
from bot.spelling import DAY_NAMES, series
from bot.store.plans import LIVE

KEYWORDS = ("daily", "weekdays", "weekly", "hourly", "cron", "every", "everyday", LIVE)
"""The words that a schedule can start with."""

AS_THEY_HAPPEN = ["as", "they", "happen"]
_DAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
START = rf"(?:{'|'.join(KEYWORDS)}|(?:mon|tues|wednes|thurs|fri|satur|sun)days|{_DAY}-{_DAY})(?![^\s,])"
"""What a schedule may start with: `daily`, `mondays`, `mon-fri`."""
_KINDS = {
    **dict.fromkeys(("daily", "everyday", "every day", "every morning"), "daily"),
    **dict.fromkeys(("weekdays", "every weekday", "every weekdays"), "weekdays"),
    **dict.fromkeys(("hourly", "every hour"), "hourly"),
    **dict.fromkeys(("weekly", "every week"), "weekly"),
}
_TIME = re.compile(r"([01]?[0-9]|2[0-3])(?:[:.]([0-5][0-9]))?")
_HALF_DAY = re.compile(r"(0?[1-9]|1[0-2])(?:[:.]([0-5][0-9]))?\s*([ap])\.?m\.?")
_MINUTE = re.compile(r":?([0-5]?[0-9])")
_NOON = 12
MAX_DUE = 1000  # the most due times that are counted
_NAMED_TIMES = {"": "9:00", "noon": "12:00", "midnight": "0:00"}
_FILLERS = frozenset({"at", "on", "and", "oclock"})
_FIELDS = 5
_STEP = re.compile(r"every ([0-9]{1,2}) ?(m|h)(?:in|inute|r|our)?s?")
_PERIODS = {"m": 60, "h": 24}
_CLOCK = re.compile(r"\b([0-9]{2}):([0-9]{2})\b")
MAX_CRON_LENGTH = 200  # the most characters in a cron expression
QUOTES = str.maketrans(dict.fromkeys("\"'“”„‟«»"))
PERIODS = 8  # how many periods the chart shows
INSTANT = timedelta(microseconds=1)
_TIMES_COMPARED = 100  # more than a day of a schedule with a due time every 15 minutes
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_NOT_PLACES = frozenset({"localtime", "Factory"})
_NEAR = 3  # how many time zones to suggest for a mistyped one, and how many letters of a city that takes


class ScheduleError(UserError):
    """A schedule or a time zone can't be used; worded where it is raised."""

    __init__ = UserError.__init__


def needed() -> UserError:
    return UserError("Your personal digest needs a schedule, like `daily 9`.")


@dataclass(frozen=True)
class Schedule:
    """`text` is the canonical text, for which `parse` returns an equal schedule; `cron` has the fields."""

    text: str
    cron: str

    def in_words(self) -> str:
        """`every weekday at 9:00 AM`: the rest of a sentence, which `parse` reads unless it's cron."""
        kind, *words = self.text.split()
        match kind:
            case "daily":
                return f"every day at {_clock(words[0])}"
            case "weekdays":
                return f"every weekday at {_clock(words[0])}"
            case "weekly":
                chosen = words[0].split(",")
                days = series([day.capitalize() for day in DAY_NAMES if day[:3] in chosen], "and")
                return f"every {days} at {_clock(words[1])}"
            case "hourly":
                return f"every hour at {words[0]}" if words else "every hour"
            case "live":
                return " ".join(AS_THEY_HAPPEN)
        return _cron_in_words(self.cron)


def parse(text: str) -> Schedule:
    """`daily 09:00`, `weekdays 9am`, `weekly mon,thu 9.30`, `hourly`, `hourly :30`, `cron 0 9 * * 1-5`.

    Reads `every weekday at 9:00 AM` and `mon thu 9` too, and `live` or `as they happen`, which is due every
    minute. Ignores case; the default time is 9:00. Raises ScheduleError, which never repeats the input: that
    may be a secret.
    """
    typed = text.lower().translate(QUOTES).split()
    if typed in ([LIVE], AS_THEY_HAPPEN):
        return Schedule(LIVE, "* * * * *")
    if LIVE in typed or typed[:3] == AS_THEY_HAPPEN:
        raise ScheduleError("A live feed has no schedule. Leave out `live` or the schedule.")
    if typed[:1] == ["cron"]:
        return _cron(typed[1:])

    spaced = " ".join("every" if word == "each" else word for word in typed).replace(",", " ")
    words = [word for word in spaced.split() if word not in _FILLERS]
    if step := _STEP.fullmatch(" ".join(words)):
        return _stepped(int(step[1]), step[2])
    count = next((count for count in (2, 1) if " ".join(words[:count]) in _KINDS), 0)
    kind, rest = _KINDS.get(" ".join(words[:count])), words[count:]
    if kind == "hourly":
        return _hourly(rest)
    if kind == "weekly" or (kind is None and _names_days(words)):
        return _weekly(rest)
    if kind:
        return _at_time(kind, "*" if kind == "daily" else "1-5", rest)
    raise ScheduleError(
        "When should I post? Try `daily 9`, `weekdays 9:30`, `weekly mon 9am`, `hourly`, or "
        "`cron 0 9 * * 1-5`."
    )


def is_schedule(text: str) -> bool:
    with suppress(ScheduleError):
        return bool(parse(text))
    return False


def starts(word: str) -> bool:
    """Whether a schedule may start with this word."""
    return re.fullmatch(START, word) is not None


def changed(text: str, schedule: str) -> Schedule:
    """Return the schedule at another time, such as `10am`, or another schedule. Raises ScheduleError."""
    kind, *rest = schedule.split()
    kept = [kind, *(rest[:1] if kind == "weekly" else []), text]
    return parse(text if is_schedule(text) or kind not in ("daily", "weekdays", "weekly") else " ".join(kept))


def next_times(schedule: Schedule, zone: str, after: datetime, count: int) -> tuple[datetime, ...]:
    """The next `count` due times after `after`, in UTC; fewer if there are no more within 50 years.

    `zone` is a time zone's name, and `after` is timezone-aware.
    """
    return tuple(islice(_times(schedule, zone, after), count))


def due_times(schedule: Schedule, zone: str, since: datetime, until: datetime) -> tuple[datetime, ...]:
    """The first MAX_DUE due times from `since` to `until`, both inclusive, in UTC and in order."""
    times = _times(schedule, zone, since - INSTANT)
    return tuple(islice(takewhile(lambda due: due <= until, times), MAX_DUE))


def previous_times(schedule: Schedule, zone: str, before: datetime, count: int) -> tuple[datetime, ...]:
    """The last `count` due times before `before`, in UTC, oldest first; fewer as in `next_times`."""
    return tuple(islice(_times(schedule, zone, before, ahead=False), count))[::-1]


def ends_around(schedule: Schedule, zone: str, now: datetime) -> tuple[datetime, ...]:
    """When periods end: the start of the first one, then the ends of the past ones and the current one."""
    return (*previous_times(schedule, zone, now + INSTANT, PERIODS + 1), *next_times(schedule, zone, now, 1))


def counted(
    ends: Sequence[datetime],
    before: Iterable[tuple[datetime, int]],
    opened: Iterable[datetime],
    *,
    since: datetime,
) -> list[tuple[datetime, int]]:
    """The issues in each period since `since`, by its end: the counts in `before` plus the `opened` ones."""
    known_ends = [end for end in ends[1:] if end >= since]
    counts = dict.fromkeys(known_ends, 0) | {end: n for end, n in before if end in known_ends}
    for moment in opened:
        place = bisect_left(ends, moment)
        if 0 < place < len(ends) and ends[place] in counts:
            counts[ends[place]] += 1
    return sorted(counts.items())


def shortest_gap(schedule: Schedule) -> timedelta:
    """The shortest time between two due times, ignoring daylight saving time."""
    times = next_times(schedule, "UTC", _LONG_AGO, _TIMES_COMPARED)
    return min((later - earlier for earlier, later in pairwise(times)), default=timedelta.max)


def zone_named(text: str) -> str:
    """`europe/paris`, `America/New York`, `utc` → ZoneInfo's name for the time zone.

    Raises ScheduleError with suggestions; it never repeats the input.
    """
    zones = _zones()
    typed = "_".join(text.lower().split())
    if typed in zones:
        return zones[typed]
    near = series([f"`{zone}`" for zone in _zones_like(typed)])
    if not near:
        raise ScheduleError("I don't know that time zone. Try one like `Europe/Paris` or `UTC`.")
    raise ScheduleError("I don't know that time zone. Did you mean {near}?", near=near)


def zones_matching(text: str) -> tuple[str, ...]:
    """The time zones with `text` in their name, those whose city starts with it first."""
    sought = "_".join(text.lower().split())
    keys = [key for key in _zones() if sought in key]
    keys.sort(key=lambda key: not key.rpartition("/")[2].startswith(sought))
    return tuple(_zones()[key] for key in keys)


def _clock(time: str) -> str:
    """`09:00` → `9:00 AM`."""
    hour, minute = map(int, time.split(":"))
    return f"{hour % _NOON or _NOON}:{minute:02} {'AM' if hour < _NOON else 'PM'}"


def _cron_in_words(cron: str) -> str:
    match cron.split():
        case [minute, "*", "*", "*", "*"] if minute.startswith("*/"):
            return f"every {minute[2:]} minutes"
        case ["0", hour, "*", "*", "*"] if hour.startswith("*/"):
            return f"every {hour[2:]} hours"
        case [minute, "*", "*", "*", "*"] if minute.isdecimal():
            return f"every hour at :{int(minute):02}" if int(minute) else "every hour"
        case [minute, hour, "*", "*", "1-5" | "MON-FRI"] if (minute + hour).isdecimal():
            return f"every weekday at {_clock(f'{hour}:{minute}')}"
    sentence = _CLOCK.sub(lambda time: _clock(time[0]), CronSim(cron, _LONG_AGO).explain())
    return sentence[0].lower() + sentence[1:]


def _stepped(many: int, unit: str) -> Schedule:
    if not many or _PERIODS[unit] % many:
        raise ScheduleError("I can post every 15, 20, or 30 minutes, or every 1, 2, 3, 4, 6, 8, or 12 hours.")
    return _cron([f"*/{many}", *"****"] if unit == "m" else ["0", f"*/{many}", *"***"])


def _names_days(words: list[str]) -> bool:
    """Whether a schedule begins with days: `every monday`, `mondays`, `mon-fri`, or `mon 9`."""
    first = "".join(words[words[:1] == ["every"] :][:1])
    return bool(_days(first)) and (words[0] == "every" or starts(first) or not _days(words[-1]))


def _at_time(begin: str, days: str, words: list[str]) -> Schedule:
    text = " ".join(words)
    text = _NAMED_TIMES.get(text, text)
    if match := _TIME.fullmatch(text):
        hour = int(match[1])
    elif match := _HALF_DAY.fullmatch(text):
        hour = int(match[1]) % _NOON + (_NOON if match[3] == "p" else 0)
    else:
        raise ScheduleError(
            "I can only read a time after `{words}`. Try `{words} 9:00` or `{words} 5:30 pm`.", words=begin
        )
    minute = int(match[2] or 0)
    return Schedule(f"{begin} {hour:02}:{minute:02}", f"{minute} {hour} * * {days}")


def _weekly(words: list[str]) -> Schedule:
    """`mon,thu 9:00`, `mondays 8am thursdays`, `mon-fri 8:30`, with or without `every`."""
    named = sorted(set(chain.from_iterable(map(_days, words))))
    if not named:
        raise ScheduleError("Which day? Try `weekly mon 9:00`, or `weekly mon,thu 9:00` for several days.")
    time = [word for word in words if word != "every" and not _days(word)]
    if named == [*range(5)] and any("-" in word for word in words):
        return _at_time("weekdays", "1-5", time)
    begin = f"weekly {','.join(DAY_NAMES[day][:3] for day in named)}"
    return _at_time(begin, ",".join(str((day + 1) % 7) for day in named), time)


def _days(word: str) -> list[int]:
    """The weekdays of a name, abbreviation, plural, or range; 0 is Monday."""
    ends = [part.removesuffix("s") for part in word.split("-")]
    numbers = [number for end in ends if (number := _day(end)) is not None]
    return [*range(numbers[0], numbers[-1] + 1)] if len(numbers) == len(ends) <= 2 else []  # noqa: PLR2004 - a range


def _day(name: str) -> int | None:
    return next((n for n, day in enumerate(DAY_NAMES) if name[:3] == day[:3] and day.startswith(name)), None)


def _hourly(words: list[str]) -> Schedule:
    match = _MINUTE.fullmatch(" ".join(words) or "0")
    if match is None:
        raise ScheduleError(
            "I couldn't read the minute after `hourly`. Try `hourly`, or `hourly :30` for half past."
        )
    minute = int(match[1])
    return Schedule(f"hourly :{minute:02}" if minute else "hourly", f"{minute} * * * *")


def _cron(fields: list[str]) -> Schedule:
    cron = " ".join(fields).upper()
    if len(fields) != _FIELDS or len(cron) > MAX_CRON_LENGTH:
        raise ScheduleError(
            "A cron expression has five fields, from the minute to the day of the week, and at most {most} "
            "characters. Try `cron 0 9 * * 1-5`.",
            most=MAX_CRON_LENGTH,
        )
    try:
        first = next(CronSim(cron, _LONG_AGO), None)
    except CronSimError as error:
        raise ScheduleError(
            "The {field} in that cron expression isn't valid. Try one like `cron 0 9 * * 1-5`.",
            field=str(error).removeprefix("Bad ").replace("-of-", " of the "),
        ) from None
    if first is None:
        raise ScheduleError("That cron expression never matches a date. Try one like `cron 0 9 * * 1-5`.")
    return Schedule(f"cron {cron}", cron)


def _times(schedule: Schedule, zone: str, start: datetime, *, ahead: bool = True) -> Iterator[datetime]:
    """The due times after `start` in UTC, each after the one before; if not `ahead`, before it, backward."""
    last = start
    for moment in CronSim(schedule.cron, start.astimezone(ZoneInfo(zone)), reverse=not ahead):
        due = moment.astimezone(UTC)
        if due != last and (due > last) == ahead:  # in a repeated hour, cronsim returns past times
            yield due
            last = due


@cache
def _zones() -> dict[str, str]:
    """The time zones' names by their lowercase names."""
    return {name.lower(): name for name in sorted(available_timezones() - _NOT_PLACES)}


def _zones_like(typed: str) -> list[str]:
    """Suggestions by city. None for offsets: the signs of the Etc zones are inverted."""
    if any(sign.isdigit() for sign in typed):
        return []
    by_city: dict[str, list[str]] = {}
    for key, name in _zones().items():
        if not key.startswith("etc/"):
            by_city.setdefault(key.rpartition("/")[2], []).append(name)
    typed_city = typed[:MAX_CRON_LENGTH].rpartition("/")[2]
    starting = [city for city in by_city if len(typed_city) >= _NEAR and city.startswith(typed_city)]
    if typed_city in by_city:
        starting = [typed_city]
    near = starting or get_close_matches(typed_city, by_city, _NEAR, 0.8)
    return list(islice(chain.from_iterable(by_city[city] for city in near), _NEAR))
