"""The issue list's filters: short expressions such as `>=2026-01-01`, `1|2`, `!*` and `~printer`.

Forms as in service-interface.md section 4 and service-facts.md "Lists": what is unknown or unavailable is
ignored, so that the list comes back unfiltered; what can't be read is refused with a sentence.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from bot.sandbox.tracker.access import Viewer
from bot.sandbox.tracker.call import Invalid, as_int
from bot.sandbox.tracker.data import ACTIVE_PROJECT, CustomField, Data, Issue, Project
from bot.sandbox.tracker.dates import Span, day_span, span

Test = Callable[[Issue], bool]

_OPERATORS = {  # longer ones first, as `!` begins `!*`
    "list": ("=", "!"),
    "optional": ("!*", "=", "!", "*"),
    "status": ("=", "!", "o", "c", "*"),
    "integer": (">=", "<=", "><", "!*", "=", "*"),
    "tree": ("!*", "=", "~", "*"),
    "text": ("!~", "!*", "~", "=", "!", "^", "$", "*"),
    "date": (">=", "<=", "><", "!*", "=", "*"),
}
_VALUELESS = frozenset({"!*", "*", "o", "c"})
_INTEGERS = re.compile(r"[+-]?\d{1,18}(,[+-]?\d{1,18})*", re.ASCII)

_FIELDS: dict[str, tuple[str, str, Callable[[Issue], object]]] = {
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


@dataclass(frozen=True)
class _Filter:
    label: str
    operator: str
    values: list[str]
    value: Callable[[Issue], object]


@dataclass(frozen=True)
class Asker:
    """For whom a list is filtered, in which zone, and in which project if in one."""

    data: Data
    viewer: Viewer
    zone: ZoneInfo
    project: Project | None


def tests(params: Mapping[str, str], asker: Asker) -> list[Test]:
    """The tests that an issue must pass, without those of visibility; raises Invalid."""
    found: list[Test] = [] if asker.project is None else [_in_project(asker.project, params, asker.data)]
    errors: list[str] = []
    for name, expression in ({"status_id": "open"} | dict(params)).items():
        known = _known(name, asker)
        if known is None:
            continue
        label, kind, value = known
        operator, values = _parse(expression, kind)
        if operator not in _VALUELESS and not any(values):
            errors.append(f"{label} cannot be blank")
            continue
        try:
            found.append(_BUILDERS[kind](_Filter(label, operator, values, value), name, asker))
        except Invalid as error:
            errors += error.errors
    if errors:
        raise Invalid(*errors)
    return found


def _known(name: str, asker: Asker) -> tuple[str, str, Callable[[Issue], object]] | None:
    if name == "category_id" and asker.project is None:
        return None
    if name in _FIELDS:
        return _FIELDS[name]
    match = re.fullmatch(r"cf_(\d{1,9})", name, re.ASCII)
    field = asker.data.custom_fields.get(int(match[1])) if match else None
    if field is None or not field.is_filter or not _in_scope(field, asker.project):
        return None
    kind = "optional" if field.format == "list" else "text"
    field_id = field.id
    return field.name, kind, lambda i: i.custom.get(field_id)


def _in_scope(field: CustomField, project: Project | None) -> bool:
    return field.project_ids is None or (project is not None and project.id in field.project_ids)


def _parse(expression: str, kind: str) -> tuple[str, list[str]]:
    operator = next((o for o in _OPERATORS[kind] if expression.startswith(o)), None)
    rest = expression if operator is None else expression[len(operator) :]
    return operator or "=", rest.split("|")


def _in_project(project: Project, params: Mapping[str, str], data: Data) -> Test:
    below = {p.id for p in data.subprojects(project)}
    wanted = below | {project.id}
    expression = params.get("subproject_id")
    if expression and any(data.projects[p].status == ACTIVE_PROJECT for p in below):
        operator, values = _parse(expression, "optional")
        named = {as_int(v) for v in values}
        wanted = {
            "!*": {project.id},
            "*": wanted,
            "=": {project.id} | (below & named),
            "!": wanted - (below & named),
        }[operator]
    return lambda issue: issue.project_id in wanted


def _list(parsed: _Filter, name: str, asker: Asker) -> Test:
    wanted = set(parsed.values)
    if name in ("assigned_to_id", "author_id") and "me" in wanted:
        wanted |= {str(n) for n in asker.viewer.me(groups=name == "assigned_to_id")}

    def held(issue: Issue) -> set[str]:
        value = parsed.value(issue)
        if value is None or value in ("", []):
            return set()
        return {str(v) for v in value} if isinstance(value, list) else {str(value)}

    tests: dict[str, Test] = {
        "=": lambda i: bool(held(i) & wanted),
        "!": lambda i: not held(i) & wanted,
        "*": lambda i: bool(held(i)),
        "!*": lambda i: not held(i),
    }
    return tests[parsed.operator]


def _status(parsed: _Filter, name: str, asker: Asker) -> Test:
    closed = {s.id for s in asker.data.statuses.values() if s.is_closed}
    if parsed.operator == "*":
        return lambda _: True
    if parsed.operator in ("o", "c"):
        wants_closed = parsed.operator == "c"
        return lambda i: (i.status_id in closed) == wants_closed
    return _list(parsed, name, asker)


def _integers(parsed: _Filter) -> list[list[int]]:
    if not all(_INTEGERS.fullmatch(v) for v in parsed.values if v or len(parsed.values) == 1):
        raise Invalid(f"{parsed.label} is invalid")
    return [[int(n) for n in v.split(",")] if v else [] for v in parsed.values]


def _integer(parsed: _Filter, _name: str, _asker: Asker) -> Test:
    if parsed.operator in _VALUELESS:
        return lambda _: parsed.operator == "*"
    groups = _integers(parsed)
    first = groups[0]  # commas separate, what follows a bar is not looked at
    if parsed.operator == "=":
        wanted = set(first)
        return lambda i: i.id in wanted
    if parsed.operator == ">=":
        return lambda i: i.id >= first[0]
    if parsed.operator == "<=":
        return lambda i: i.id <= first[0]
    last = groups[1] if len(groups) > 1 else []
    return lambda i: (not first or i.id >= first[0]) and (not last or i.id <= last[0])


def _tree(parsed: _Filter, _name: str, asker: Asker) -> Test:
    if parsed.operator in _VALUELESS:
        return lambda i: (i.parent_id is None) == (parsed.operator == "!*")
    wanted = {int(n) for n in re.findall(r"\d{1,18}", parsed.values[0], re.ASCII)}
    if parsed.operator == "~":
        children = asker.data.children()
        below = list(wanted)
        for issue_id in below:
            below += [child.id for child in children.get(issue_id, ())]
        wanted.update(below)
    return lambda i: i.parent_id in wanted


def _text(parsed: _Filter, _name: str, _asker: Asker) -> Test:
    wanted = parsed.values[0].casefold()
    words = wanted.split()

    def held(issue: Issue) -> str:
        return str(parsed.value(issue) or "").casefold()

    tests: dict[str, Test] = {
        "~": lambda i: all(word in held(i) for word in words),
        "!~": lambda i: not all(word in held(i) for word in words),
        "^": lambda i: held(i).startswith(wanted),
        "$": lambda i: held(i).endswith(wanted),
        "=": lambda i: parsed.value(i) in parsed.values,
        "!": lambda i: parsed.value(i) not in parsed.values,
        "*": lambda i: bool(held(i)),
        "!*": lambda i: not held(i),
    }
    return tests[parsed.operator]


def _date(parsed: _Filter, _name: str, asker: Asker) -> Test:
    if parsed.operator in _VALUELESS:
        return lambda i: (parsed.value(i) is None) == (parsed.operator == "!*")
    spans = [span(v, asker.zone) if v else None for v in parsed.values]
    if any(v and s is None for v, s in zip(parsed.values, spans, strict=True)):
        raise Invalid(f"{parsed.label} is invalid")
    lower = None if parsed.operator == "<=" else spans[0]
    upper = {">=": None, "><": spans[1] if len(spans) > 1 else None}.get(parsed.operator, spans[0])

    def test(issue: Issue) -> bool:
        held = _held_span(parsed.value(issue), asker.zone)
        if held is None:
            return False
        return (lower is None or held[1] >= lower[0]) and (upper is None or held[0] <= upper[1])

    return test


def _held_span(value: object, zone: ZoneInfo) -> Span | None:
    if isinstance(value, datetime):
        return value, value
    return day_span(value, zone) if isinstance(value, date) else None


_BUILDERS: dict[str, Callable[[_Filter, str, Asker], Test]] = {
    "list": _list,
    "optional": _list,
    "status": _status,
    "integer": _integer,
    "tree": _tree,
    "text": _text,
    "date": _date,
}
