"""The issue list's filters: short expressions such as `>=2026-01-01`, `1|2`, `!*` and `~printer`.

Forms as in service-interface.md section 4 and service-facts.md "Lists": what is unknown or unavailable is
ignored, so that the list comes back unfiltered; what can't be read is refused with a sentence.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from math import inf
from zoneinfo import ZoneInfo

from bot.sandbox.tracker.access import Viewer
from bot.sandbox.tracker.call import Invalid, as_int
from bot.sandbox.tracker.data import ACTIVE_PROJECT, CustomField, Data, Issue, Project
from bot.sandbox.tracker.dates import span

Test = Callable[[Issue], bool]

_OPERATORS = {  # longer ones first, as `!` begins `!*`
    "list": ("=", "!"),
    "optional": ("!*", "=", "!", "*"),
    "status": ("=", "!", "o", "c", "*"),
    "integer": (">=", "<=", "><", "!*", "=", "*"),
    "tree": ("!*", "=", "~", "*"),
    "number": (">=", "<=", "><", "!*", "=", "*"),
    "text": ("!~", "!*", "~", "^", "$", "*"),
    "string": ("!~", "!*", "~", "=", "!", "^", "$", "*"),
    "date": (">=", "<=", "><", "!*", "=", "*"),
}
_VALUELESS = frozenset({"!*", "*", "o", "c"})
_MOST_WORDS = 5
_DECIMAL = re.compile(r"[+-]?\d+(\.\d*)?", re.ASCII)
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

_CUSTOM_KINDS = {
    "string": "string",
    "link": "string",
    "text": "text",
    "int": "integer",
    "float": "number",
    "date": "date",
}
"""By a custom field's format; all others are chosen from a list."""
_NEAR = 1e-5


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
    if field is None or not field.is_filter or not _in_scope(field, asker):
        return None
    kind = _CUSTOM_KINDS.get(field.format, "optional")
    return field.name, kind, lambda i: _custom(field, i, asker)


def _custom(field: CustomField, issue: Issue, asker: Asker) -> object:
    if field not in asker.data.fields(issue.project_id, issue.tracker_id):
        return None
    held = issue.custom.get(field.id)
    if field.format != "date" or not isinstance(held, str):
        return held
    return datetime.combine(date.fromisoformat(held), time.min, asker.zone)  # a day there is the reader's


def _in_scope(field: CustomField, asker: Asker) -> bool:
    if field.project_ids is None or asker.project is None:
        return True
    return bool(
        field.project_ids & {asker.project.id, *(p.id for p in asker.data.subprojects(asker.project))}
    )


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
        named = {int(v) for v in values if as_int(v)}
        wanted = {
            "!*": {project.id},
            "*": wanted,
            "=": {project.id} | named,
            "!": wanted - (below & named),
        }[operator]
    return lambda issue: issue.project_id in wanted


def _list(parsed: _Filter, name: str, asker: Asker) -> Test:
    wanted = set(parsed.values)
    if "me" in wanted and name in ("assigned_to_id", "author_id", *_of_people(asker.data)):
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


def _of_people(data: Data) -> list[str]:
    return [f"cf_{field.id}" for field in data.custom_fields.values() if field.format == "user"]


def _status(parsed: _Filter, name: str, asker: Asker) -> Test:
    closed = {s.id for s in asker.data.statuses.values() if s.is_closed}
    if parsed.operator == "*":
        return lambda _: True
    if parsed.operator in ("o", "c"):
        wants_closed = parsed.operator == "c"
        return lambda i: (i.status_id in closed) == wants_closed
    return _list(parsed, name, asker)


def _integer(parsed: _Filter, name: str, asker: Asker) -> Test:
    if parsed.operator not in _VALUELESS and not all(_INTEGERS.fullmatch(v) for v in parsed.values if v):
        raise Invalid(f"{parsed.label} is invalid")
    if parsed.operator == "=":  # commas separate, what follows a bar is not looked at
        wanted = {float(v) for v in parsed.values[0].split(",")}
        return lambda i: _number_of(parsed.value(i)) in wanted
    first_of_each = [v.partition(",")[0] for v in parsed.values]
    return _number(replace(parsed, values=first_of_each), name, asker)


def _number(parsed: _Filter, _name: str, _asker: Asker) -> Test:
    if parsed.operator in _VALUELESS:
        return lambda i: (_number_of(parsed.value(i)) is None) == (parsed.operator == "!*")
    if not all(_DECIMAL.fullmatch(v) for v in parsed.values if v):
        raise Invalid(f"{parsed.label} is invalid")
    first, *rest = (float(v) if v else 0.0 for v in parsed.values)
    lower, upper = {
        "=": (first - _NEAR, first + _NEAR),
        ">=": (first, inf),
        "<=": (-inf, first),
        "><": (first, rest[0] if rest else 0.0),
    }[parsed.operator]

    def test(issue: Issue) -> bool:
        held = _number_of(parsed.value(issue))
        return held is not None and lower <= held <= upper

    return test


def _number_of(held: object) -> float | None:
    return float(held) if isinstance(held, int | str) and held != "" else None


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
    distinct = dict.fromkeys(word.strip('"') for word in wanted.split())
    words = [word for word in distinct if len(word) > 1][:_MOST_WORDS] or [wanted]

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
        held = _held_moment(parsed.value(issue))
        if held is None:
            return False
        return (lower is None or held >= lower[0]) and (upper is None or held <= upper[1])

    return test


def _held_moment(value: object) -> datetime | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time.min, UTC)  # a day begins where the service runs
    return value if isinstance(value, datetime) else None


_BUILDERS: dict[str, Callable[[_Filter, str, Asker], Test]] = {
    "list": _list,
    "optional": _list,
    "status": _status,
    "integer": _integer,
    "number": _number,
    "tree": _tree,
    "text": _text,
    "string": _text,
    "date": _date,
}
