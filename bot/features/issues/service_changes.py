"""Finds values that the service silently changed in a saved issue."""

from collections.abc import Mapping, Sequence
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
    found = []
    for key, wanted in meant.items():
        if (field := CHANGEABLE.get(key)) and not same(wanted, answer := field.answered(got)):
            found.append(ServiceChange(field.label, field, wanted, answer))
    answers = {custom.id: custom for custom in got.custom_fields}
    for custom in custom_fields:
        held = answers.get(custom.id)
        asked, values = texts(custom), texts(held)
        if sorted(values) != sorted(asked):
            label = held.name if held else f"cf_{custom.id}"
            found.append(ServiceChange(label, None, ", ".join(asked) or None, ", ".join(values) or None))
    return tuple(found)


def same(wanted: Meant | None, answer: Meant | None) -> bool:
    """Whether two values of a field are the same to the service."""
    if isinstance(wanted, Ref) and isinstance(answer, Ref):
        return wanted.id == answer.id
    if isinstance(wanted, Decimal) and isinstance(answer, Decimal):
        return abs(wanted - answer) <= HALF_MINUTE
    return wanted == answer


def texts(field: CustomFieldInput | CustomFieldValue | None) -> tuple[str, ...]:
    """A custom field's values."""
    value = field.value if field else None
    return (value,) if isinstance(value, str) and value else tuple(value or ())
