"""Finds values that the service silently changed in a saved issue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.features.issues.fields import CHANGEABLE, Field, Meant
from bot.service.inputs import CustomFieldInput
from bot.service.models import CustomFieldValue, Issue, Ref

HALF_MINUTE = Decimal(30) / 3600
"""Services round hours to minutes or to two places."""


@dataclass(frozen=True)
class ServiceChange:
    """A value that the service replaced, or dropped if `got` is None; `field` is None for a custom field.

    `wanted` is None for a value that should be cleared.
    """

    label: str
    field: Field | None
    wanted: Meant | None
    got: Meant | None


def service_changes(
    meant: Mapping[str, Meant | None], custom_fields: Sequence[CustomFieldInput], got: Issue
) -> tuple[ServiceChange, ...]:
    """The values, by option key, that the service replaced or dropped, except privacy."""
    return (*_fields(meant, got), *_custom_fields(custom_fields, got))


def _fields(meant: Mapping[str, Meant | None], got: Issue) -> Iterator[ServiceChange]:
    for key, wanted in meant.items():
        if (field := CHANGEABLE.get(key)) and not same(wanted, answer := field.answered(got)):
            yield ServiceChange(field.label, field, wanted, answer)


def same(wanted: Meant | None, answer: Meant | None) -> bool:
    """Whether two values of a field are the same to the service."""
    if isinstance(wanted, Ref) and isinstance(answer, Ref):
        return wanted.id == answer.id
    if isinstance(wanted, Decimal) and isinstance(answer, Decimal):
        return abs(wanted - answer) <= HALF_MINUTE
    return wanted == answer


def _custom_fields(asked: Sequence[CustomFieldInput], got: Issue) -> Iterator[ServiceChange]:
    answers = {field.id: field for field in got.custom_fields}
    for field in asked:
        answer = answers.get(field.id)
        wanted, value = texts(field), texts(answer)
        if sorted(value) != sorted(wanted):
            label = answer.name if answer else f"cf_{field.id}"
            yield ServiceChange(label, None, ", ".join(wanted) or None, ", ".join(value) or None)


def texts(field: CustomFieldInput | CustomFieldValue | None) -> tuple[str, ...]:
    """A custom field's values."""
    value = field.value if field else None
    return (value,) if isinstance(value, str) and value else tuple(value or ())
