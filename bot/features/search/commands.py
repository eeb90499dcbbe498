"""`/issues` (docs/commands.md)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal
from zoneinfo import ZoneInfo

from bot.errors import UserError
from bot.service.conventions import SortField
from bot.service.filters import DateRange, Sort, TimeRange
from bot.service.models import Ref
from bot.slack.grammar import values
from bot.slack.grammar.dates import Towards, days, times
from bot.slack.grammar.options import CUSTOM_FIELD, Parsed, nearest, parse
from bot.slack.grammar.requests import Help, Person


@dataclass(frozen=True, kw_only=True)
class Search:
    """`/issues`: None or empty means no filter."""

    text: str = ""
    project: str | None = None
    subproject: tuple[str, ...] | Literal["none"] = ()
    tracker: tuple[str, ...] = ()
    status: tuple[str, ...] | Literal["open", "closed", "any"] | None = None
    to: tuple[Person, ...] | Literal["nobody", "anybody"] = ()
    author: tuple[Person, ...] = ()
    priority: tuple[str, ...] = ()
    category: tuple[str, ...] | Literal["none", "any"] = ()
    version: tuple[str, ...] | Literal["none", "any"] = ()
    parent: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    created: TimeRange | None = None
    updated: TimeRange | None = None
    closed: TimeRange | None = None
    start: DateRange | None = None
    due: DateRange | None = None
    query: int | None = None
    sort: tuple[Sort, ...] = ()
    custom_fields: Mapping[int, str] = field(default_factory=dict)


IssuesRequest = Search | Help


OPTIONS = (
    *("project", "subproject", "tracker", "status", "to", "author", "priority", "category", "version"),
    *("parent", "created", "updated", "closed", "start", "due", "query", "sort", "id", CUSTOM_FIELD),
)
SORTS: dict[str, SortField] = {
    "id": "id",
    "project": "project",
    "tracker": "tracker",
    "status": "status",
    "priority": "priority",
    "author": "author",
    "to": "assigned_to",
    "subject": "subject",
    "category": "category",
    "version": "fixed_version",
    "parent": "parent",
    "start": "start_date",
    "due": "due_date",
    "estimate": "estimated_hours",
    "done": "done_ratio",
    "created": "created_on",
    "updated": "updated_on",
    "closed": "closed_on",
}
MOST_SORTS = 3
"""The service uses only the first three (docs/service.md, Lists)."""


def issues_command(text: str, today: date, zone: ZoneInfo, fields: Collection[Ref] = ()) -> IssuesRequest:
    """Parse `/issues <text>` with the caller's date and time zone and the project's custom fields.

    Raises UserError, and UnknownOption for a key that may be a custom field name.
    """
    parsed = parse(text, OPTIONS, fields)
    if parsed.plain.lower() == "help" and not parsed.options:
        return Help()

    def time_range(key: str) -> TimeRange | None:
        typed = values.name(parsed, key)
        return times(typed, today, zone, "past") if typed else None

    def date_range(key: str, towards: Towards) -> DateRange | None:
        typed = values.name(parsed, key)
        return days(typed, today, towards) if typed else None

    return Search(
        text=" ".join(parsed.plain.split()),
        project=values.name(parsed, "project"),
        subproject=_subproject(values.names(parsed, "subproject")),
        tracker=values.names(parsed, "tracker"),
        status=_status(values.names(parsed, "status")),
        to=_assignee(parsed),
        author=values.people(parsed, "author"),
        priority=values.names(parsed, "priority"),
        category=_names_or_keyword(values.names(parsed, "category")),
        version=_names_or_keyword(values.names(parsed, "version")),
        parent=values.numbers(parsed, "parent"),
        ids=values.numbers(parsed, "id"),
        created=time_range("created"),
        updated=time_range("updated"),
        closed=time_range("closed"),
        start=date_range("start", "past"),
        due=date_range("due", "future"),
        query=_query(parsed),
        sort=_sort(parsed),
        custom_fields=values.custom_fields(parsed),
    )


def _subproject(found: tuple[str, ...]) -> tuple[str, ...] | Literal["none"]:
    return "none" if values.keyword(found, ("none",)) else found


def _status(found: tuple[str, ...]) -> tuple[str, ...] | Literal["open", "closed", "any"] | None:
    match values.keyword(found, ("open", "closed", "any", "all", "*")):
        case "open":
            return "open"
        case "closed":
            return "closed"
        case None:
            return found or None
        case _:
            return "any"


def _assignee(parsed: Parsed) -> tuple[Person, ...] | Literal["nobody", "anybody"]:
    match values.keyword(values.names(parsed, "to"), ("nobody", "none", "anybody", "any")):
        case "nobody" | "none":
            return "nobody"
        case "anybody" | "any":
            return "anybody"
        case _:
            return values.people(parsed, "to")


def _names_or_keyword(found: tuple[str, ...]) -> tuple[str, ...] | Literal["none", "any"]:
    match values.keyword(found, ("none", "any")):
        case "none":
            return "none"
        case "any":
            return "any"
        case _:
            return found


def _query(parsed: Parsed) -> int | None:
    typed = values.name(parsed, "query")
    if typed is None:
        return None
    number = values.issue_number(typed)
    if number is None:
        raise UserError("`query:` takes a saved query's number, the one in its address: write `query:7`.")
    return number


def _sort(parsed: Parsed) -> tuple[Sort, ...]:
    found = tuple(_sort_key(text) for text in values.names(parsed, "sort"))
    if len(found) > MOST_SORTS:
        raise UserError(f"`sort:` takes {MOST_SORTS} fields at most: write `sort:priority:desc,updated`.")
    if len({key.field for key in found}) < len(found):
        raise UserError("`sort:` names a field twice: leave one of them.")
    return found


def _sort_key(typed: str) -> Sort:
    field, _, order = typed.lower().removeprefix("-").partition(":")
    if order not in ("", "asc", "desc"):
        raise UserError("A field is sorted up or down: write `sort:updated:desc`.")
    known = next((column for key, column in SORTS.items() if field in (key, column)), None)
    if known is None:
        suggestion = nearest(field, SORTS)
        hint = (
            f"did you mean `sort:{suggestion}`?"
            if suggestion
            else f"it is one of {', '.join(f'`{s}`' for s in SORTS)}."
        )
        raise UserError(f"Issues can't be sorted by “{field[:40]}”: {hint}")
    return Sort(known, typed.startswith("-") or order == "desc")
