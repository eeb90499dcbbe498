"""Validate and normalize the custom field values a client sends."""

import re
from collections.abc import Callable

from bot.sandbox.tracker.data import CustomField, Data, Project
from bot.sandbox.tracker.dates import day

Kept = str | list[str] | None
_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)
_CHOICES: dict[str, Callable[[CustomField, Data, Project], set[str]]] = {
    "list": lambda field, _data, _project: set(field.options),
    "enumeration": lambda field, _data, _project: {str(n) for n in range(1, len(field.options) + 1)},
    "user": lambda _field, data, project: {str(n) for n in data.assignable(project) if n in data.users},
    "version": lambda _field, data, project: {
        str(version.id) for version in data.versions.values() if version.project_id == project.id
    },
}


def kept(field: CustomField, sent: object) -> Kept:
    """Return the value in the field's type; a list stays a list, so that `error_message` can reject it."""
    if field.multiple:
        values = sent if isinstance(sent, list) else [sent]
        return [str(value) for value in values if value not in (None, "")]
    if isinstance(sent, list):
        return [str(value) for value in sent] if len(sent) > 1 else kept(field, sent[0] if sent else None)
    return None if sent is None else str(sent)


def error_message(field: CustomField, value: Kept, data: Data, project: Project) -> str | None:
    """Return the error message for an invalid value, or None."""
    values = [each for each in (value if isinstance(value, list) else [value]) if each]
    problem = next((found for each in values if (found := _problem(field, each, data, project))), None)
    if problem is None and isinstance(value, list) and not field.multiple:
        problem = "is invalid"
    if problem is None and field.required and not values:
        problem = "cannot be blank"
    return problem and f"{field.name} {problem}"


def _problem(field: CustomField, value: str, data: Data, project: Project) -> str | None:
    if field.format in _CHOICES:
        allowed = _CHOICES[field.format](field, data, project)
        return None if value in allowed else "is not included in the list"
    if field.format == "int" and not _NUMBER.fullmatch(value.strip()):
        return "is not a number"
    if field.format == "float" and not _is_float(value):
        return "is invalid"
    if field.format == "date" and day(value) is None:
        return "is not a valid date"
    return None


def _is_float(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
