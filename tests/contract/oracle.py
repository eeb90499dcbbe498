"""Computes what the issue list's filters should find from the issues themselves.

It reads all issues of the project `depot` once, raw and without a filter. From the values of their fields it
derives filters, each with a simple predicate that shares no code with the bot.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import combinations
from typing import Any
from zoneinfo import ZoneInfo

import aiohttp

from bot.service.filters import DateRange, IssueFilters, TimeRange
from tests.contract.world import World

Row = dict[str, Any]
Fits = Callable[[Row], bool]
UNKNOWN = 99_999
MANY = 10
LIKE_OPERATORS = (
    "~approximate",
    "!urgent",
    "*starred",
    "^upper",
    "$deposit",
    "=equal",
    ">over",
    "<under",
    "over|zebra",
)
ABSENT = {  # a value that no issue has, in the field's format
    "Attempts": "77",
    "Voltage": "0.125",
    "First seen": "2023-02-28",
    "Tester": str(UNKNOWN),
    "Broken since": str(UNKNOWN),
    "Building": str(UNKNOWN),
}


@dataclass(frozen=True)
class Way:
    """One filter: its field, the client's argument, the typed form, and a predicate for issues."""

    about: str
    given: dict[str, Any]
    typed: str
    fits: Fits


@dataclass(frozen=True)
class Depot:
    """The issues of `depot` and its subprojects as one user sees them."""

    project: int
    cellar: int
    rows: tuple[Row, ...]
    me: frozenset[int]
    zone: ZoneInfo

    def matches(self, *ways: Way) -> set[int]:
        """Returns the numbers of the issues that match all the filters."""
        return {row["id"] for row in self.rows if all(way.fits(row) for way in ways)}

    def filters(self, *ways: Way) -> IssueFilters:
        """Combines filters for the client, over the whole project and, by default, any status."""
        given: dict[str, Any] = {"project_id": self.project, "status": "any"}
        for way in ways:
            more = way.given.get("custom_fields", ())
            given |= way.given | {"custom_fields": (*given.get("custom_fields", ()), *more)}
        return IssueFilters(**given)

    def typed(self, *ways: Way) -> str:
        """Combines filters as a user types them."""
        status = "" if any(way.about == "status" for way in ways) else "status:any "
        return f"project:depot {status}{' '.join(way.typed for way in ways)}"

    def ways(self) -> list[Way]:
        """Returns every filter in every form, with values that issues have and one that no issue has."""
        return [
            *self._subprojects(),
            *self._refs("tracker", "tracker", "tracker_ids"),
            *self._refs("status", "status", "status"),
            *(_status(word) for word in ("open", "closed", "any")),
            *self._refs("assigned_to", "to", "assigned_to"),
            *_set_or_not("assigned_to", "to", "assigned_to", "nobody", "anybody"),
            *self._refs("author", "author", "author"),
            *self._mine(),
            *self._refs("priority", "priority", "priority_ids"),
            *self._refs("category", "category", "category_ids"),
            *_set_or_not("category", "category", "category_ids", "none", "any"),
            *self._refs("fixed_version", "version", "fixed_version_ids"),
            *_set_or_not("fixed_version", "version", "fixed_version_ids", "none", "any"),
            *self._numbers("parent", "parent_ids", lambda row: row.get("parent", {}).get("id")),
            *self._numbers("id", "issue_ids", lambda row: row["id"]),
            *(_subject(text) for text in ("pallet", "DOCK jams", "100%", "needs_a", "yesterday's", "zebra")),
            *(_subject(text) for text in LIKE_OPERATORS),
            *(way for name in ("created", "updated", "closed") for way in self._moments(name)),
            *(way for name in ("start", "due") for way in self._days(name)),
            *self._custom_fields(),
        ]

    def forms(self) -> list[tuple[Way, ...]]:
        """Returns each form of each filter once, with its most selective value; some combined with a word."""
        best: dict[str, tuple[tuple[bool, int], Way]] = {}
        for way in self.ways():
            form = re.sub(r"(?<=[:,=.])([0-9-]+|\"[^\"]*\")", "…", way.typed)
            fitting = (not self.matches(way), len(self.matches(way)))
            if form not in best or fitting < best[form][0]:
                best[form] = (fitting, way)
        word = _subject("pallet")
        return [(way, word) if fitting[1] > MANY else (way,) for fitting, way in best.values()]

    def pairs(self) -> list[tuple[Way, Way]]:
        """Returns the most telling pair of any two filters: few issues match both, more match each."""
        alone = [(way, self.matches(way)) for way in self.ways()]
        best: dict[tuple[str, str], tuple[tuple[bool, int], tuple[Way, Way]]] = {}
        for (one, ones), (other, others) in combinations(alone, 2):
            both = ones & others
            says = (bool(both) and both < ones and both < others, -len(both))
            about = (one.about, other.about)
            if one.about != other.about and (about not in best or says > best[about][0]):
                best[about] = (says, (one, other))
        return [pair for _, pair in best.values()]

    def _subprojects(self) -> Iterator[Way]:
        yield Way("subproject", {"subprojects": "none"}, "subproject:none", _among("project", self.project))
        named = {"subprojects": (self.cellar,)}
        yield Way("subproject", named, "subproject:cellar", _among("project", self.project, self.cellar))

    def _refs(self, key: str, option: str, argument: str) -> Iterator[Way]:
        names = {row[key]["id"]: row[key]["name"] for row in self.rows if key in row}
        first, *_, last = sorted(names)
        for numbers in (*((number,) for number in sorted(names)), (first, last), (UNKNOWN,)):
            names_typed = ",".join(
                f'"{names[n]}"' if names.get(n, "Closed") != "Closed" else f"#{n}" for n in numbers
            )
            yield Way(option, {argument: numbers}, f"{option}:{names_typed}", _among(key, *numbers))

    def _mine(self) -> Iterator[Way]:
        yield Way("to", {"assigned_to": ("me",)}, "to:me", _among("assigned_to", *self.me))
        [me, *_] = sorted(self.me)
        yield Way("author", {"author": ("me",)}, "author:me", _among("author", me))

    def _numbers(self, option: str, argument: str, value_of: Callable[[Row], int | None]) -> Iterator[Way]:
        numbers = sorted({number for row in self.rows if (number := value_of(row))})
        for chosen in ((numbers[0],), (numbers[0], numbers[-1]), (UNKNOWN,), (numbers[-1], UNKNOWN)):
            yield Way(
                option,
                {argument: chosen},
                f"{option}:{','.join(map(str, chosen))}",
                _one_of(value_of, chosen),
            )

    def _moments(self, option: str) -> Iterator[Way]:
        key = f"{option}_on"

        def day(row: Row) -> date | None:
            return _moment(row[key]).astimezone(self.zone).date() if row[key] else None

        for typed, since, until in _spans(day(row) for row in self.rows):
            span = TimeRange(
                datetime.combine(since, time.min, self.zone) if since else None,
                datetime.combine(until, time(23, 59, 59), self.zone) if until else None,
            )
            yield Way(option, {key: span}, f"{option}:{typed}", _within(day, since, until))

    def _days(self, option: str) -> Iterator[Way]:
        key = f"{option}_date"

        def day(row: Row) -> date | None:
            return date.fromisoformat(row[key]) if row[key] else None

        for typed, since, until in _spans(day(row) for row in self.rows):
            yield Way(option, {key: DateRange(since, until)}, f"{option}:{typed}", _within(day, since, until))

    def _custom_fields(self) -> Iterator[Way]:
        fields = {field["id"]: field["name"] for row in self.rows for field in row["custom_fields"]}
        for number, name in sorted(fields.items()):
            values = {value for row in self.rows for value in _custom(row, number)}
            for value in (*sorted(values), ABSENT.get(name, "nowhere")) if filterable(name) else ():
                yield _custom_field(number, value)


def filterable(name: str) -> bool:
    """Returns whether the custom field can be filtered by and has values in the depot."""
    return name not in ("Shelf", "Environment")


async def depot(world: World, login: str, zone: str) -> Depot:
    """Reads all the issues that the user sees in the depot, once per service; `zone` is the user's own."""
    if login not in world.depots:
        world.depots[login] = await _read(world, login)
    ids, rows = world.depots[login]
    crew = {row["assigned_to"]["id"] for row in rows if "Depot crew" in str(row.get("assigned_to"))}
    me = frozenset({world.users[login]} | (crew if login == "ana" else set()))
    return Depot(ids["depot"], ids["cellar"], tuple(rows), me, ZoneInfo(zone))


async def _read(world: World, login: str) -> tuple[dict[str, int], list[Row]]:
    async with aiohttp.ClientSession(headers={world.key_header: world.keys[login]}) as session:

        async def read(path: str, **params: str | int) -> Any:
            async with session.get(f"{world.url}/{path}.json", params=params) as answer:
                return await answer.json()

        projects = (await read("projects", limit=100))["projects"]
        ids = {project["identifier"]: project["id"] for project in projects}
        rows: list[Row] = []
        while True:
            page = await read("issues", project_id=ids["depot"], status_id="*", limit=100, offset=len(rows))
            rows += page["issues"]
            if len(rows) >= page["total_count"]:
                break
    return ids, rows


def _among(key: str, *numbers: int) -> Fits:
    return lambda row: key in row and row[key]["id"] in numbers


def _one_of(value_of: Callable[[Row], int | None], chosen: Collection[int]) -> Fits:
    return lambda row: value_of(row) in chosen


def _set_or_not(key: str, option: str, argument: str, none: str, any_: str) -> Iterator[Way]:
    yield Way(option, {argument: none}, f"{option}:{none}", lambda row: key not in row)
    yield Way(option, {argument: any_}, f"{option}:{any_}", lambda row: key in row)


def _status(word: str) -> Way:
    closed_states = {"open": (False,), "closed": (True,), "any": (False, True)}[word]
    return Way(
        "status", {"status": word}, f"status:{word}", lambda row: row["status"]["is_closed"] in closed_states
    )


def _subject(text: str) -> Way:
    words = text.casefold().split()

    def fits(row: Row) -> bool:
        return all(word in row["subject"].casefold() for word in words)

    return Way("subject", {"subject": text}, text, fits)


def _custom(row: Row, number: int) -> list[str]:
    [value] = [field["value"] for field in row["custom_fields"] if field["id"] == number]
    return [one for one in (value if isinstance(value, list) else [value]) if one]


def _custom_field(number: int, value: str) -> Way:
    given = {"custom_fields": ((number, value),)}
    return Way(f"cf_{number}", given, f'cf_{number}:"{value}"', lambda row: value in _custom(row, number))


def _spans(dates: Iterable[date | None]) -> Iterator[tuple[str, date | None, date | None]]:
    days = sorted(day for day in dates if day)
    early, late = days[len(days) // 3], days[-len(days) // 3]
    day_before, day_after = early - timedelta(days=1), late + timedelta(days=1)
    long_ago = days[0] - timedelta(days=400)
    yield f">={day_after}", day_after, None
    yield f"<={day_before}", None, day_before
    yield f"{early}..{late}", early, late
    for day in (*days[:: max(1, len(days) // 4)], long_ago):
        yield str(day), day, day


def _within(date_of: Callable[[Row], date | None], since: date | None, until: date | None) -> Fits:
    def fits(row: Row) -> bool:
        day = date_of(row)
        return day is not None and (since is None or day >= since) and (until is None or day <= until)

    return fits


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def differing(results: Iterable[tuple[str, set[int], set[int]]]) -> dict[str, tuple[set[int], set[int]]]:
    """Returns the filters whose results differ from what they should find: missing issues, and extra ones."""
    return {
        name: (expected - numbers, numbers - expected)
        for name, numbers, expected in results
        if numbers != expected
    }
