"""The issue list's filters, expressions such as `>=2026-01-01`, `1|2`, `!*` and `~printer`, and its order.

See docs/service.md, Lists: unknown or unavailable filters are ignored, so the list comes back unfiltered;
malformed ones are rejected with an error message.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import partial
from math import inf
from operator import attrgetter
from typing import Any
from zoneinfo import ZoneInfo

from bot.sandbox.tracker.access import Viewer
from bot.sandbox.tracker.call import ValidationError, as_int
from bot.sandbox.tracker.data import ACTIVE_PROJECT, CustomField, Data, Issue, Named, Project
from bot.sandbox.tracker.dates import span

Test = Callable[[Issue], bool]
Value = Callable[[Issue], Any]

_VALUELESS = frozenset({"*", "o", "c"})
_MAX_WORDS = 5
_DECIMAL = re.compile(r"[+-]?\d+(\.\d*)?", re.ASCII)
_INTEGERS = re.compile(r"[+-]?\d{1,18}(,[+-]?\d{1,18})*", re.ASCII)

_FIELDS: dict[str, tuple[str, str, Value]] = {
    "issue_id": ("Issue", "integer", lambda i: i.id),
    "tracker_id": ("Tracker", "list", lambda i: i.tracker_id),
    "status_id": ("Status", "status", lambda i: i.status_id),
    "assigned_to_id": ("Assignee", "optional", lambda i: i.assigned_to_id),
    "author_id": ("Author", "list", lambda i: i.author_id),
    "priority_id": ("Priority", "list", lambda i: i.priority_id),
    "category_id": ("Category", "optional", lambda i: i.category_id),
    "fixed_version_id": ("Target version", "optional", lambda i: i.version_id),
    "parent_id": ("Parent task", "tree", lambda i: i.parent_id),
    "subject": ("Subject", "text", lambda i: i.subject),
    "created_on": ("Created", "date", lambda i: i.created_on),
    "updated_on": ("Updated", "date", lambda i: i.updated_on),
    "closed_on": ("Closed", "date", lambda i: i.closed_on),
    "start_date": ("Start date", "date", lambda i: i.start_date),
    "due_date": ("Due date", "date", lambda i: i.due_date),
}

_CUSTOM_KINDS = {
    "string": "string",
    "link": "string",
    "text": "text",
    "int": "integer",
    "float": "number",
    "date": "date",
}
"""By a custom field's format; any other format is a choice from a list."""
_NEAR = 1e-5


@dataclass(frozen=True)
class FilterContext:
    """The requester and time zone of a filtered list, and its project if it has one."""

    data: Data
    viewer: Viewer
    zone: ZoneInfo
    project: Project | None


@dataclass(frozen=True)
class _Filter:
    name: str
    label: str
    operator: str
    values: list[str]
    value: Value
    context: FilterContext


def tests(params: Mapping[str, str], context: FilterContext) -> list[Test]:
    """Return the predicates an issue must satisfy, except visibility; raises ValidationError."""
    predicates: list[Test] = (
        [] if context.project is None else [_in_project(context.project, params, context.data)]
    )
    errors: list[str] = []
    for name, expression in ({"status_id": "open"} | dict(params)).items():
        known = _known(name, context)
        if known is None:
            continue
        label, kind, value = known
        parsed, values = _parse(expression, kind)
        operator = parsed.removeprefix("!") or "="
        if operator not in _VALUELESS and not any(values):
            errors.append(f"{label} cannot be blank")
            continue
        build = _has_value if operator == "*" else _KINDS[kind][0]
        try:
            test = build(_Filter(name, label, operator, values, value, context))
        except ValidationError as error:
            errors += error.errors
        else:
            predicates.append(_not(test) if parsed.startswith("!") else test)
    if errors:
        raise ValidationError(*errors)
    return predicates


def _known(name: str, context: FilterContext) -> tuple[str, str, Value] | None:
    if name == "category_id" and context.project is None:
        return None
    if name in _FIELDS:
        return _FIELDS[name]
    match = re.fullmatch(r"cf_(\d{1,9})", name, re.ASCII)
    field = context.data.custom_fields.get(int(match[1])) if match else None
    if field is None or not field.is_filter or not _in_scope(field, context):
        return None
    kind = _CUSTOM_KINDS.get(field.format, "optional")
    return field.name, kind, lambda i: _custom(field, i, context)


def _custom(field: CustomField, issue: Issue, context: FilterContext) -> object:
    if field not in context.data.fields(issue.project_id, issue.tracker_id):
        return None
    value = issue.custom.get(field.id)
    if field.format != "date" or not isinstance(value, str):
        return value
    return datetime.combine(date.fromisoformat(value), time.min, context.zone)  # in the reader's time zone


def _in_scope(field: CustomField, context: FilterContext) -> bool:
    if field.project_ids is None or context.project is None:
        return True
    below = {project.id for project in context.data.subprojects(context.project)}
    return bool(field.project_ids & {context.project.id, *below})


def _parse(expression: str, kind: str) -> tuple[str, list[str]]:
    operator = next((o for o in _KINDS[kind][1] if expression.startswith(o)), None)
    rest = expression if operator is None else expression[len(operator) :]
    return operator or "=", rest.split("|")


def _in_project(project: Project, params: Mapping[str, str], data: Data) -> Test:
    below = {p.id for p in data.subprojects(project)}
    project_ids = below | {project.id}
    expression = params.get("subproject_id")
    if expression and any(data.projects[p].status == ACTIVE_PROJECT for p in below):
        operator, values = _parse(expression, "optional")
        named = {int(v) for v in values if as_int(v)}
        project_ids = {
            "!*": {project.id},
            "*": project_ids,
            "=": {project.id} | named,
            "!": project_ids - (below & named),
        }[operator]
    return lambda issue: issue.project_id in project_ids


def _not(test: Test) -> Test:
    return lambda issue: not test(issue)


def _has_value(parsed: _Filter) -> Test:
    return lambda issue: parsed.value(issue) not in (None, "", [])


def _list(parsed: _Filter) -> Test:
    accepted = set(parsed.values)
    data, viewer = parsed.context.data, parsed.context.viewer
    of_people = {f"cf_{field.id}" for field in data.custom_fields.values() if field.format == "user"}
    if "me" in accepted and parsed.name in {"assigned_to_id", "author_id"} | of_people:
        accepted |= {str(n) for n in viewer.me(groups=parsed.name == "assigned_to_id")}

    def test(issue: Issue) -> bool:
        value = parsed.value(issue)
        if value in (None, ""):
            return False
        values = value if isinstance(value, list) else [value]
        return not accepted.isdisjoint(map(str, values))

    return test


def _status(parsed: _Filter) -> Test:
    closed = {s.id for s in parsed.context.data.statuses.values() if s.is_closed}
    if parsed.operator in ("o", "c"):
        wants_closed = parsed.operator == "c"
        return lambda i: (i.status_id in closed) == wants_closed
    return _list(parsed)


def _integer(parsed: _Filter) -> Test:
    if not all(_INTEGERS.fullmatch(v) for v in parsed.values if v):
        raise ValidationError(f"{parsed.label} is invalid")
    if parsed.operator == "=":  # commas separate values; anything after a bar is ignored
        numbers = {float(v) for v in parsed.values[0].split(",")}
        return lambda i: _number_of(parsed.value(i)) in numbers
    first_of_each = [v.partition(",")[0] for v in parsed.values]
    return _number(replace(parsed, values=first_of_each))


def _number(parsed: _Filter) -> Test:
    if not all(_DECIMAL.fullmatch(v) for v in parsed.values if v):
        raise ValidationError(f"{parsed.label} is invalid")
    first, *rest = (float(v) if v else 0.0 for v in parsed.values)
    lower, upper = {
        "=": (first - _NEAR, first + _NEAR),
        ">=": (first, inf),
        "<=": (-inf, first),
        "><": (first, rest[0] if rest else 0.0),
    }[parsed.operator]

    def test(issue: Issue) -> bool:
        number = _number_of(parsed.value(issue))
        return number is not None and lower <= number <= upper

    return test


def _number_of(value: object) -> float | None:
    return float(value) if isinstance(value, int | str) and value != "" else None


def _tree(parsed: _Filter) -> Test:
    parent_ids = {int(n) for n in re.findall(r"\d{1,18}", parsed.values[0], re.ASCII)}
    if parsed.operator == "~":
        children = parsed.context.data.children()
        below = list(parent_ids)
        for issue_id in below:
            below += [child.id for child in children.get(issue_id, ())]
        parent_ids.update(below)
    return lambda i: i.parent_id in parent_ids


def _text(parsed: _Filter) -> Test:
    phrase = parsed.values[0].casefold()
    distinct = dict.fromkeys(word.strip('"') for word in phrase.split())
    words = [word for word in distinct if len(word) > 1][:_MAX_WORDS] or [phrase]

    def test(issue: Issue) -> bool:
        text = str(parsed.value(issue) or "").casefold()
        match parsed.operator:
            case "~":
                return all(word in text for word in words)
            case "^":
                return text.startswith(phrase)
            case "$":
                return text.endswith(phrase)
        return parsed.value(issue) in parsed.values

    return test


def _date(parsed: _Filter) -> Test:
    spans = [span(v, parsed.context.zone) if v else None for v in parsed.values]
    if any(v and s is None for v, s in zip(parsed.values, spans, strict=True)):
        raise ValidationError(f"{parsed.label} is invalid")
    lower = None if parsed.operator == "<=" else spans[0]
    upper = {">=": None, "><": spans[1] if len(spans) > 1 else None}.get(parsed.operator, spans[0])

    def test(issue: Issue) -> bool:
        moment = parsed.value(issue)
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime.combine(moment, time.min, UTC)  # a date starts at midnight in the server's zone
        if not isinstance(moment, datetime):
            return False
        return (lower is None or moment >= lower[0]) and (upper is None or moment <= upper[1])

    return test


_KINDS: dict[str, tuple[Callable[[_Filter], Test], tuple[str, ...]]] = {
    "list": (_list, ("=", "!")),
    "optional": (_list, ("!*", "=", "!", "*")),
    "status": (_status, ("=", "!", "o", "c", "*")),
    "integer": (_integer, (">=", "<=", "><", "!*", "=", "*")),
    "tree": (_tree, ("!*", "=", "~", "*")),
    "number": (_number, (">=", "<=", "><", "!*", "=", "*")),
    "text": (_text, ("!~", "!*", "~", "^", "$", "*")),
    "string": (_text, ("!~", "!*", "~", "=", "!", "^", "$", "*")),
    "date": (_date, (">=", "<=", "><", "!*", "=", "*")),
}
"""How each kind of filter is tested, and its operators: longer ones first, as `!` is a prefix of `!*`."""


def order(issues: list[Issue], sort: str, data: Data) -> list[Issue]:
    """Return the issues in the requested order; ties go by number, newest first.

    Issues without a value come first, or last in descending order.
    """
    ordered = sorted(issues, key=lambda i: i.id, reverse=True)
    keys = _keys(data)
    for part in reversed([p for p in sort.split(",") if p][:3]):
        name, _, direction = part.partition(":")
        if name in keys:
            ordered.sort(key=partial(_rank, keys[name]), reverse=direction == "desc")
    return ordered


def _rank(value: Value, issue: Issue) -> tuple[bool, Any]:
    key = value(issue)
    return key is not None, 0 if key is None else key


def _keys(data: Data) -> dict[str, Value]:
    minutes = data.minutes()

    def name(table: Mapping[int, Named], row_id: int | None) -> str | None:
        return None if row_id is None else table[row_id].name.casefold()

    def person(row_id: int | None) -> tuple[bool, str] | None:
        return None if row_id is None else (row_id in data.users, data.principal(row_id).casefold())

    plain = ("id", "start_date", "due_date", "done_ratio", "estimated_hours")
    moments = ("created_on", "updated_on", "closed_on")
    keys: dict[str, Value] = {key: attrgetter(key) for key in (*plain, *moments)}
    keys |= {key: attrgetter(f"{key}_id") for key in ("tracker", "status", "priority", "parent")}
    keys |= {
        "project": lambda i: data.projects[i.project_id].name.casefold(),
        "subject": lambda i: i.subject.casefold(),
        "author": lambda i: person(i.author_id),
        "assigned_to": lambda i: person(i.assigned_to_id),
        "category": lambda i: name(data.categories, i.category_id),
        "fixed_version": lambda i: name(data.versions, i.version_id),
        "spent_hours": lambda i: minutes.get(i.id, 0),
    }
    return keys | {f"cf_{n}": _custom_text(n) for n in data.custom_fields}


def _custom_text(field_id: int) -> Value:
    return lambda i: str(i.custom.get(field_id) or "")
