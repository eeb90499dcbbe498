"""The issue list's order: `sort=priority:desc,updated_on`, up to three keys, unknown ones ignored."""

from collections.abc import Callable, Mapping
from typing import Any

from bot.sandbox.tracker.data import Data, Issue, Named

Value = Callable[[Issue], Any]


def order(issues: list[Issue], sort: str, data: Data) -> list[Issue]:
    """Return the issues in the requested order; ties go by number, newest first.

    Issues without a value come first, or last in descending order.
    """
    ordered = sorted(issues, key=lambda i: i.id, reverse=True)
    keys = _keys(data)
    for part in reversed([p for p in sort.split(",") if p][:3]):
        name, _, direction = part.partition(":")
        if name in keys:
            ordered.sort(key=_nullable(keys[name]), reverse=direction == "desc")
    return ordered


def _nullable(value: Value) -> Callable[[Issue], tuple[bool, Any]]:
    def key(issue: Issue) -> tuple[bool, Any]:
        held = value(issue)
        return (held is not None, 0 if held is None else held)

    return key


def _keys(data: Data) -> dict[str, Value]:
    minutes = data.minutes()

    def name(table: Mapping[int, Named], row_id: int | None) -> str | None:
        return None if row_id is None else table[row_id].name.casefold()

    def person(row_id: int | None) -> tuple[bool, str] | None:
        return None if row_id is None else (row_id in data.users, data.principal(row_id).casefold())

    keys: dict[str, Value] = {
        "id": lambda i: i.id,
        "project": lambda i: data.projects[i.project_id].name.casefold(),
        "tracker": lambda i: i.tracker_id,
        "status": lambda i: i.status_id,
        "priority": lambda i: i.priority_id,
        "parent": lambda i: i.parent_id,
        "subject": lambda i: i.subject.casefold(),
        "author": lambda i: person(i.author_id),
        "assigned_to": lambda i: person(i.assigned_to_id),
        "category": lambda i: name(data.categories, i.category_id),
        "fixed_version": lambda i: name(data.versions, i.version_id),
        "start_date": lambda i: i.start_date,
        "due_date": lambda i: i.due_date,
        "done_ratio": lambda i: i.done_ratio,
        "estimated_hours": lambda i: i.estimated_hours,
        "spent_hours": lambda i: minutes.get(i.id, 0),
        "created_on": lambda i: i.created_on,
        "updated_on": lambda i: i.updated_on,
        "closed_on": lambda i: i.closed_on,
    }
    return keys | {f"cf_{n}": _custom(n) for n in data.custom_fields}


def _custom(field_id: int) -> Value:
    return lambda i: str(i.custom.get(field_id) or "")
