"""Finds values that the service silently changed in a created issue."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from bot.service.inputs import CustomFieldInput, NewIssue
from bot.service.models import CustomFieldValue, Issue, Ref

HALF_MINUTE = Decimal(30) / 3600
"""Services round hours to minutes or to two places."""


def service_changes(asked: NewIssue, chosen: dict[str, Ref], got: Issue) -> tuple[str, ...]:
    """A sentence for each value that the service replaced or dropped, except privacy.

    `chosen` has the requested choices by label.
    """
    return (*_refs(chosen, got), *_values(asked, got), *_custom(asked, got))


def _refs(chosen: dict[str, Ref], got: Issue) -> Iterator[str]:
    answers = {
        "Tracker": got.tracker,
        "Status": got.status,
        "Priority": got.priority,
        "Category": got.category,
        "Target version": got.fixed_version,
        "Assignee": got.assigned_to,
    }
    for label, ref in chosen.items():
        answer = answers[label]
        if answer is None:
            yield f"{label} {ref.name} was not taken."
        elif answer.id != ref.id:
            yield f"{label} is {answer.name}, not {ref.name}."


def _values(asked: NewIssue, got: Issue) -> Iterator[str]:
    wanted_parent = f"#{asked.parent_issue_id}" if asked.parent_issue_id else None
    pairs: tuple[tuple[str, object, object], ...] = (
        ("Parent issue", wanted_parent, f"#{got.parent.id}" if got.parent else None),
        ("Start date", asked.start_date, got.start_date),
        ("Due date", asked.due_date, got.due_date),
        ("Estimated hours", asked.estimated_hours, got.estimated_hours),
        ("% Done", asked.done_ratio, got.done_ratio),
    )
    for label, wanted, answer in pairs:
        if wanted is None or _same(wanted, answer):
            continue
        if answer is None:
            yield f"{label} {_shown(wanted)} was not taken."
        else:
            yield f"{label} is {_shown(answer)}, not {_shown(wanted)}."


def _custom(asked: NewIssue, got: Issue) -> Iterator[str]:
    answers = {field.id: field for field in got.custom_fields}
    for field in asked.custom_fields:
        answer = answers.get(field.id)
        wanted, value = _texts(field), _texts(answer)
        if answer is None or not value:
            yield f"{answer.name if answer else f'cf_{field.id}'} was not taken."
        elif sorted(value) != sorted(wanted):
            yield f"{answer.name} is {', '.join(value)}, not {', '.join(wanted)}."


def _same(wanted: object, answer: object) -> bool:
    if isinstance(wanted, Decimal) and isinstance(answer, Decimal):
        return abs(wanted - answer) <= HALF_MINUTE
    return wanted == answer


def _shown(value: object) -> str:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return value.isoformat() if isinstance(value, date) else str(value)


def _texts(field: CustomFieldInput | CustomFieldValue | None) -> tuple[str, ...]:
    value = field.value if field else None
    return (value,) if isinstance(value, str) and value else tuple(value or ())
