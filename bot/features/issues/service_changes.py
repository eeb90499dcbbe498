"""Finds values that the service silently changed in a saved issue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.features.issues.fields import FIELDS, Field, Meant
from bot.service.inputs import CustomFieldInput
from bot.service.models import CustomFieldValue, Issue, Ref

HALF_MINUTE = Decimal(30) / 3600
"""Services round hours to minutes or to two places."""


@dataclass(frozen=True)
class ServiceChange:
    """A value that the service replaced, or dropped if `got` is None; `field` is None for a custom field."""

    label: str
    field: Field | None
    wanted: Meant
    got: Meant | None


def service_changes(
    meant: Mapping[str, Meant], custom_fields: Sequence[CustomFieldInput], got: Issue
) -> tuple[ServiceChange, ...]:
    """The values, by option key, that the service replaced or dropped, except privacy."""
    return (*_fields(meant, got), *_custom_fields(custom_fields, got))


def _fields(meant: Mapping[str, Meant], got: Issue) -> Iterator[ServiceChange]:
    for key, wanted in meant.items():
        field = FIELDS[key]
        answer = field.answered(got)
        if field.answer and not _same(wanted, answer):
            yield ServiceChange(field.label, field, wanted, answer)


def _same(wanted: Meant, answer: Meant | None) -> bool:
    if isinstance(wanted, Ref) and isinstance(answer, Ref):
        return wanted.id == answer.id
    if isinstance(wanted, Decimal) and isinstance(answer, Decimal):
        return abs(wanted - answer) <= HALF_MINUTE
    return wanted == answer


def _custom_fields(asked: Sequence[CustomFieldInput], got: Issue) -> Iterator[ServiceChange]:
    answers = {field.id: field for field in got.custom_fields}
    for field in asked:
        answer = answers.get(field.id)
        wanted, value = _texts(field), _texts(answer)
        if sorted(value) != sorted(wanted):
            label = answer.name if answer else f"cf_{field.id}"
            yield ServiceChange(label, None, ", ".join(wanted), ", ".join(value) or None)


def _texts(field: CustomFieldInput | CustomFieldValue | None) -> tuple[str, ...]:
    value = field.value if field else None
    return (value,) if isinstance(value, str) and value else tuple(value or ())
