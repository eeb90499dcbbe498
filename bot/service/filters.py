"""The issue list's filters, as a validated value.

A service silently ignores filters that it doesn't know or can't apply, and misreads some values
(docs/service.md, Lists). Such filters raise ValueError here, and `mismatch` detects a response in which the
service ignored one anyway.
"""

import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Literal

from bot.service import conventions
from bot.service.conventions import SEARCHED_WORDS, SORT_KEYS, IssueInclude, SortField
from bot.service.models import Issue, Ref

BESIDE_A_QUERY = {"query_id", "project_id", "include", "sort"}
WORDS = {"any": conventions.ANY, "anybody": conventions.ANY}
WORDS |= {"none": conventions.NONE, "nobody": conventions.NONE}


@dataclass(frozen=True)
class Sort:
    field: SortField
    descending: bool = False


@dataclass(frozen=True)
class TimeRange:
    """An inclusive range of times; either end may be open. Raises ValueError for naive datetimes."""

    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if any(moment is not None and moment.tzinfo is None for moment in (self.since, self.until)):
            raise ValueError("a moment needs a time zone")
        _check_order(self.since, self.until)

    def to_param(self) -> str:
        """Return the range in UTC and whole seconds, rounded inward, as services reject fractions."""
        since = self.since
        if since is not None and since.microsecond:
            since = since.replace(microsecond=0) + timedelta(seconds=1)
        return _between(_moment(since), _moment(self.until))


@dataclass(frozen=True)
class DateRange:
    """An inclusive range of days; either end may be open. Raises ValueError for datetimes."""

    since: date | None = None
    until: date | None = None

    def __post_init__(self) -> None:
        if any(isinstance(day, datetime) for day in (self.since, self.until)):
            raise ValueError("a day has no time")
        _check_order(self.since, self.until)

    def __contains__(self, day: date) -> bool:
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)

    def to_param(self) -> str:
        """Return the range as times in the middle of the day, which have the same date in every time zone.

        Redmine converts a bare date from the user's time zone to the server's, which can shift it by a day.
        """
        day_before = self.since - timedelta(days=1) if self.since else None
        return _between(_midday(day_before), _midday(self.until))


@dataclass(frozen=True)
class Except:
    """Every value but these, and none; `me` is the user."""

    ids: tuple[int | str, ...]


@dataclass(frozen=True, kw_only=True)
class IssueFilters:
    """Filters, sort order, and includes of an issue list. Fields left at their default don't filter.

    `status`: None means open issues, or any status if `issue_ids` is set. `subject`: matches issues whose
    subject contains all the words; see `searchable`. `query_id`: a saved query, combined only with a project
    and a sort order. `custom_fields`: pairs of ID and value; a value that starts like an operator doesn't
    match long text fields. `having`: a custom field that has a value, which isn't checked, as not every field
    is a filter.

    Raises ValueError for values that the service would ignore or misread.
    """

    include: frozenset[IssueInclude] = frozenset()
    issue_ids: tuple[int, ...] = ()
    project_id: int | None = None
    subprojects: Literal["none"] | tuple[int, ...] | None = None
    tracker_ids: tuple[int, ...] = ()
    status: Literal["open", "closed", "any"] | tuple[int, ...] | None = None
    assigned_to: tuple[int | Literal["me"], ...] | Except | Literal["nobody", "anybody"] = ()
    author: tuple[int | Literal["me"], ...] | Except = ()
    priority_ids: tuple[int, ...] = ()
    category_ids: tuple[int, ...] | Except | Literal["none", "any"] = ()
    fixed_version_ids: tuple[int, ...] | Except | Literal["none", "any"] = ()
    parent_ids: tuple[int, ...] = ()
    subject: str = ""
    created_on: TimeRange | None = None
    updated_on: TimeRange | None = None
    closed_on: TimeRange | None = None
    start_date: DateRange | Literal["none"] | None = None
    due_date: DateRange | Literal["none"] | None = None
    custom_fields: tuple[tuple[int, str], ...] = ()
    having: int | None = None
    query_id: int | None = None
    sort: tuple[Sort, ...] = ()

    def __post_init__(self) -> None:
        values = [getattr(self, each.name) for each in fields(self)]
        choices = chain.from_iterable(value if isinstance(value, tuple) else (value,) for value in values)
        numbers = [one for one in choices if isinstance(one, int)] + [one for one, _ in self.custom_fields]
        others = (each for each in fields(self) if each.name not in BESIDE_A_QUERY)
        problems = {
            "a category belongs to a project, so name the project, too": self.category_ids
            and self.project_id is None,
            "subprojects belong to a project, so name the project, too": self.subprojects
            and self.project_id is None,
            "a filter needs a value": self.status == () or self.subprojects == (),
            f"results can be sorted by at most {SORT_KEYS} fields": len(self.sort) > SORT_KEYS,
            "results can't be sorted by that field": any(
                key.field not in typing.get_args(SortField) for key in self.sort
            ),
            "the text has no words to search for": self.subject and not _words(self.subject),
            f"only {SEARCHED_WORDS} words of two or more letters can be searched for": (
                self.subject and len(_words(self.subject)) > len(searchable(self.subject).split())
            ),
            "a custom field's value can't be empty or contain | or line breaks": any(
                not text.strip() or conventions.OR in text or "\n" in text for _, text in self.custom_fields
            ),
            "numbers must be positive": any(number <= 0 for number in numbers),
            "a saved query can't be combined with other filters": (
                self.query_id is not None and any(getattr(self, one.name) != one.default for one in others)
            ),
        }
        for problem, is_broken in problems.items():
            if is_broken:
                raise ValueError(problem)

    def to_params(self) -> dict[str, str]:
        status = "any" if self.status is None and self.issue_ids else self.status
        spans: dict[str, TimeRange | DateRange | Literal["none"] | None] = {
            "created_on": self.created_on,
            "updated_on": self.updated_on,
            "closed_on": self.closed_on,
            "start_date": self.start_date,
            "due_date": self.due_date,
        }
        params: dict[str, str | None] = {
            "include": ",".join(sorted(self.include)),
            "issue_id": ",".join(map(str, self.issue_ids)),
            "project_id": None if self.project_id is None else str(self.project_id),
            "subproject_id": _choice(self.subprojects),
            "tracker_id": _choice(self.tracker_ids),
            "status_id": _choice(status),
            "assigned_to_id": _choice(self.assigned_to),
            "author_id": _choice(self.author),
            "priority_id": _choice(self.priority_ids),
            "category_id": _choice(self.category_ids),
            "fixed_version_id": _choice(self.fixed_version_ids),
            "parent_id": ",".join(map(str, self.parent_ids)),
            "subject": self.subject and conventions.CONTAINS + searchable(self.subject),
            **{
                name: _choice(span) if isinstance(span, str) else span.to_param()
                for name, span in spans.items()
                if span
            },
            **{f"cf_{field_id}": _exact(value) for field_id, value in self.custom_fields},
            **({} if self.having is None else {f"cf_{self.having}": conventions.ANY}),
            "query_id": None if self.query_id is None else str(self.query_id),
            "sort": ",".join(f"{key.field}:desc" if key.descending else key.field for key in self.sort),
        }
        return {name: value for name, value in params.items() if value}

    def mismatch(self, issue: Issue) -> str | None:
        """Return the name of a filter that the service ignored, as the issue doesn't match it, or None.

        Checks the filters that depend on configuration: a tracker may lack a category, a version, an
        assignee, or dates; a project may have no subprojects; a custom field may not be a filter. Doesn't
        check `me`, which includes the user's groups.
        """
        choices: tuple[tuple[str, object, Callable[[Issue], Ref | None]], ...] = (
            ("tracker", self.tracker_ids, lambda row: row.tracker),
            ("priority", self.priority_ids, lambda row: row.priority),
            ("category", self.category_ids, lambda row: row.category),
            ("version", self.fixed_version_ids, lambda row: row.fixed_version),
            ("assignee", self.assigned_to, lambda row: row.assigned_to),
            ("author", self.author, lambda row: row.author),
        )
        for name, choice, ref in choices:
            if choice and not _fits(choice, ref(issue)):
                return name

        if self.issue_ids and issue.id not in self.issue_ids:
            return "number"
        if self.parent_ids and (issue.parent is None or issue.parent.id not in self.parent_ids):
            return "parent"
        if self.subprojects is not None and not _fits(self._project_ids(), issue.project):
            return "subproject"

        for name, span, day in (
            ("start date", self.start_date, issue.start_date),
            ("due date", self.due_date, issue.due_date),
        ):
            if span and (day is not None if span == "none" else day is None or day not in span):
                return name
        for field_id, value in self.custom_fields:
            if not _holds(issue, field_id, value):
                return f"custom field {field_id}"
        return None

    def _project_ids(self) -> tuple[int | None, ...]:
        return (self.project_id, *(self.subprojects if isinstance(self.subprojects, tuple) else ()))


def searchable(text: str) -> str:
    """Return the words of a text that the service searches for: the first few with two letters or more.

    Treats `|` and quotes as spaces, because the service gives them a meaning. A text of one-letter words
    returns the first of them.
    """
    words = _words(text)
    return " ".join([word for word in words if len(word) > 1][:SEARCHED_WORDS] or words[:1])


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(text.replace(conventions.OR, " ").replace('"', " ").split()))


def _check_order(since: date | None, until: date | None) -> None:
    if since is None and until is None:
        raise ValueError("a range needs a beginning or an end")
    if since is not None and until is not None and since > until:
        raise ValueError("a range ends after it begins")


def _midday(day: date | None) -> str | None:
    return None if day is None else f"{day.isoformat()}{conventions.MIDDAY}"


def _moment(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _between(since: str | None, until: str | None) -> str:
    if since and until:
        return f"{conventions.BETWEEN}{since}{conventions.OR}{until}"
    return f"{conventions.SINCE}{since}" if since else f"{conventions.UNTIL}{until}"


def _choice(choice: str | Iterable[int | str] | Except | None) -> str | None:
    if choice is None:
        return None
    if isinstance(choice, Except):
        return f"{conventions.NOT}{_choice(choice.ids)}"
    if isinstance(choice, str):
        return WORDS.get(choice, choice)
    return conventions.OR.join(map(str, choice))


def _exact(value: str) -> str:
    """Escape a value that starts like an operator."""
    return conventions.EQUALS + value if value.startswith(conventions.OPERATORS) else value


def _fits(choice: object, ref: Ref | None) -> bool:
    if isinstance(choice, Except):
        return ref is None or ref.id not in choice.ids
    if isinstance(choice, tuple):
        return "me" in choice or (ref is not None and ref.id in choice)
    return (ref is None) == (choice in ("none", "nobody"))


def _holds(issue: Issue, field_id: int, text: str) -> bool:
    if text == "me":
        return True
    for field in issue.custom_fields:
        if field.id == field_id:
            values = field.value if isinstance(field.value, tuple) else (field.value or "",)
            return any(_alike(value, text) for value in values)
    return False


def _alike(value: str, text: str) -> bool:
    """Compare like the service: text fields by substring, numbers by value."""
    if text.casefold() in value.casefold():
        return True
    try:
        return Decimal(value) == Decimal(text)
    except InvalidOperation:
        return False
