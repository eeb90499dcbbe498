"""When something is due again and again: what people type, and the moments it means in a time zone.

A schedule is five cron fields. cronsim reads them and finds the wall-clock times that fit; what these are
in UTC is decided here, as Debian's cron does it on the nights when the clock changes:

- A job at fixed times runs once for each of them: right after the gap when the clock skips the time, and
  the first time when the clock shows it twice.
- A job with a `*` in its minute or hour runs whenever the clock shows a time that fits.

cronsim can do this itself, but from within a doubled hour it answers with the past, and where clocks shift
by half an hour or at midnight it finds other times backwards than forwards (cronsim 2.8).
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import cache
from itertools import dropwhile, islice, pairwise, takewhile
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from bot.errors import UserError

KEYWORDS = ("daily", "weekdays", "weekly", "hourly", "cron")
"""What a schedule begins with."""

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"([01]?[0-9]|2[0-3])(?:[:.]([0-5][0-9]))?")
_HALF_DAY = re.compile(r"(0?[1-9]|1[0-2])(?:[:.]([0-5][0-9]))?\s*([ap])\.?m\.?")
_MINUTE = re.compile(r":?([0-5]?[0-9])")
_NOON = 12
_FILLERS = frozenset({"at", "on", "and"})
_FIELDS = 5
_LONGEST = 200
"""No cron line that people write is longer."""
_QUOTES = str.maketrans(dict.fromkeys("\"'“”„‟«»"))
_EXAMPLE = "`cron 0 9 * * 1-5`"
_ONE_MINUTE = timedelta(minutes=1)
_SET_BACK = timedelta(hours=3)
"""No clock is set back further than this."""
_FAR = timedelta(days=50 * 366)
"""What isn't due for so long never is: it bounds the search, as cronsim bounds each of its steps."""
_TIMES_COMPARED = 100
"""More than a day of a schedule that comes every quarter of an hour."""
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_OF_A_MACHINE = frozenset({"localtime", "Factory"})
_NEAR = 3
"""How many zones are offered to who mistyped one, and how many letters of a city are enough for that."""


@dataclass(frozen=True)
class Schedule:
    """A schedule: `text` as people read it (`parse(text)` gives the same again), `cron` its five fields."""

    text: str
    cron: str

    @property
    def fixed(self) -> bool:
        """Whether it names times of the day, rather than every so many minutes or hours."""
        return not any(field.startswith("*") for field in self.cron.split()[:2])


def parse(text: str) -> Schedule:
    """`daily 09:00`, `weekdays 9am`, `weekly mon,thu 9.30`, `hourly`, `hourly :30`, `cron 0 9 * * 1-5`.

    Case doesn't matter, and nine o'clock is meant where no time is given. Raises UserError with what to type;
    it never repeats what was typed, which may be a secret.
    """
    kind, *rest = text.lower().translate(_QUOTES).split() or [""]
    if kind == "cron":
        return _cron(rest)
    words = [word for word in " ".join(rest).replace(",", " ").split() if word not in _FILLERS]
    match kind:
        case "daily":
            return _at_time("daily", "*", words)
        case "weekdays":
            return _at_time("weekdays", "1-5", words)
        case "weekly":
            return _weekly(words)
        case "hourly":
            return _hourly(words)
    raise UserError(f"Say when: `daily 09:00`, `weekdays 09:00`, `weekly mon 09:00`, `hourly` or {_EXAMPLE}.")


def next_times(schedule: Schedule, zone: str, after: datetime, count: int) -> tuple[datetime, ...]:
    """The `count` due times that follow `after`, in UTC; fewer when there are no more within 50 years.

    `zone` is the name of a time zone, `after` aware.
    """
    found = dropwhile(lambda due: due <= after, _around(schedule, zone, after, ahead=True))
    return tuple(islice(found, count))


def due_times(
    schedule: Schedule, zone: str, since: datetime, until: datetime, most: int = 1000
) -> tuple[datetime, ...]:
    """The due times from `since` to `until`, both included, in UTC and in order: the first `most` of them."""
    found = dropwhile(lambda due: due < since, _around(schedule, zone, since, ahead=True))
    return tuple(islice(takewhile(lambda due: due <= until, found), most))


def previous_times(schedule: Schedule, zone: str, before: datetime, count: int) -> tuple[datetime, ...]:
    """The last `count` due times before `before`, in UTC, the oldest first; fewer as in `next_times`."""
    found = dropwhile(lambda due: due >= before, _around(schedule, zone, before, ahead=False))
    return tuple(islice(found, count))[::-1]


def shortest_gap(schedule: Schedule) -> timedelta:
    """The shortest time between two of its due times, as far as there is no summer time."""
    times = next_times(schedule, "UTC", _LONG_AGO, _TIMES_COMPARED)
    return min((later - earlier for earlier, later in pairwise(times)), default=_FAR)


def zone_named(text: str) -> str:
    """`europe/paris`, `America/New York`, `utc` → the time zone's name as ZoneInfo knows it.

    Raises UserError with the names that may be meant; it never repeats what was typed.
    """
    zones = _zones()
    typed = "_".join(text.lower().split())
    if typed in zones:
        return zones[typed]
    near = _zones_like(typed)
    if near:
        raise UserError(f"There is no time zone of that name: did you mean {' or '.join(near)}?")
    raise UserError("There is no time zone of that name: write one such as `Europe/Paris` or `UTC`.")


def zones_called(text: str) -> tuple[str, ...]:
    """The time zones with `text` in their name, those whose city begins with it first."""
    sought = "_".join(text.lower().split())
    found = [key for key in _zones() if sought in key]
    found.sort(key=lambda key: not key.rpartition("/")[2].startswith(sought))
    return tuple(_zones()[key] for key in found)


def _at_time(begin: str, days: str, words: list[str]) -> Schedule:
    said = " ".join(words) or "09:00"
    if match := _TIME.fullmatch(said):
        hour = int(match[1])
    elif match := _HALF_DAY.fullmatch(said):
        hour = int(match[1]) % _NOON + (_NOON if match[3] == "p" else 0)
    else:
        raise UserError(
            f"After `{begin}` comes a time and nothing else: write `{begin} 09:00` or `{begin} 5:30 pm`."
        )
    minute = int(match[2] or 0)
    return Schedule(f"{begin} {hour:02}:{minute:02}", f"{minute} {hour} * * {days}")


def _weekly(words: list[str]) -> Schedule:
    days = list(takewhile(lambda day: day is not None, map(_weekday, words)))
    named = sorted({day for day in days if day is not None})
    if not named:
        raise UserError("Say on which day: `weekly mon 09:00`, or `weekly mon,thu 09:00` for several.")
    begin = f"weekly {','.join(_DAYS[day][:3] for day in named)}"
    return _at_time(begin, ",".join(str((day + 1) % 7) for day in named), words[len(days) :])


def _weekday(word: str) -> int | None:
    """0 for Monday, by its name or the beginning of it; `mondays` too."""
    begun = word.removesuffix("s")
    return next((n for n, day in enumerate(_DAYS) if day[:3] == begun[:3] and day.startswith(begun)), None)


def _hourly(words: list[str]) -> Schedule:
    match = _MINUTE.fullmatch(" ".join(words) or "0")
    if match is None:
        raise UserError("After `hourly` comes a minute or nothing: write `hourly` or `hourly :30`.")
    minute = int(match[1])
    return Schedule(f"hourly :{minute:02}" if minute else "hourly", f"{minute} * * * *")


def _cron(fields: list[str]) -> Schedule:
    cron = " ".join(fields).upper()
    if len(fields) != _FIELDS or len(cron) > _LONGEST:
        raise UserError(
            f"A cron line has five short fields, from the minute to the day of the week: {_EXAMPLE}."
        )
    try:
        comes = next(CronSim(cron, _LONG_AGO), None)
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-of-", " of the ")
        raise UserError(
            f"The {field} of that cron line can't be read or never comes: write one such as {_EXAMPLE}."
        ) from None
    if comes is None:
        raise UserError(f"No day ever fits that cron line: write one such as {_EXAMPLE}.")
    return Schedule(f"cron {cron}", cron)


def _around(schedule: Schedule, zone: str, start: datetime, *, ahead: bool) -> Iterator[datetime]:
    """The due times from a little before `start` on; when not `ahead`, from a little after it back."""
    place = ZoneInfo(zone)
    wall = start.astimezone(place).replace(tzinfo=None)
    begin = wall - _SET_BACK if ahead else wall + _SET_BACK
    fitting: Iterable[datetime] = CronSim(schedule.cron, begin, reverse=not ahead)
    walls = takewhile(lambda found: abs(found - wall) < _FAR, fitting)
    return _once_each(walls, place) if schedule.fixed else _as_shown(walls, place, ahead=ahead)


def _once_each(walls: Iterable[datetime], place: ZoneInfo) -> Iterator[datetime]:
    """One moment for each wall-clock time; those of one gap fall together."""
    last = None
    for wall in walls:
        shown = wall
        while not _exists(shown, place):
            shown += _ONE_MINUTE
        moment = _moment(shown, place)
        if moment != last:
            yield moment
        last = moment


def _as_shown(walls: Iterable[datetime], place: ZoneInfo, *, ahead: bool) -> Iterator[datetime]:
    """The moments when the clock shows one of `walls`: none in a gap, two where it is set back."""
    again: deque[datetime] = deque()
    for wall in walls:
        if not _exists(wall, place):
            continue
        here, there = (_moment(wall, place, fold=fold) for fold in ((0, 1) if ahead else (1, 0)))
        while again and (again[0] < here) == ahead:
            yield again.popleft()
        yield here
        if there != here:
            again.append(there)
    yield from again


def _exists(wall: datetime, place: ZoneInfo) -> bool:
    return _moment(wall, place).astimezone(place).replace(tzinfo=None) == wall


def _moment(wall: datetime, place: ZoneInfo, fold: int = 0) -> datetime:
    return wall.replace(tzinfo=place, fold=fold).astimezone(UTC)


@cache
def _zones() -> dict[str, str]:
    """The time zones' names by how they read in lower case."""
    return {name.lower(): name for name in sorted(available_timezones() - _OF_A_MACHINE)}


def _zones_like(typed: str) -> list[str]:
    """The few zones that may be meant, by their city. Offsets are like none: those of Etc count backwards."""
    if any(sign.isdigit() for sign in typed):
        return []
    by_city: dict[str, list[str]] = {}
    for key, name in _zones().items():
        if not key.startswith("etc/"):
            by_city.setdefault(key.rpartition("/")[2], []).append(f"`{name}`")
    wanted = typed[:_LONGEST].rpartition("/")[2]
    begun = [city for city in by_city if len(wanted) >= _NEAR and city.startswith(wanted)]
    near = [wanted] if wanted in by_city else begun or get_close_matches(wanted, by_city, _NEAR, 0.8)
    return [name for city in near for name in by_city[city]][:_NEAR]
