"""The inputs of an issue's fields in forms, and reading them back."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from bot.features.issues.fields import FIELDS, Field, Kind, Meant, Value, typed_hours
from bot.features.projects.catalog import CustomField
from bot.option_keys import carried, is_key
from bot.service.models import Ref
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Element, option, text_option

EXAMPLES = 4
"""How many values a custom field gives as examples."""
PARENT_QUERY, HOURS_LENGTH, STEP = 1, 20, 10
Written = Callable[[JSON], str]
"""Converts rich text to the service's format."""


def field_input(
    field: Field,
    value: Meant | None,
    refs: Sequence[Ref],
    tag: str,
    *,
    dispatch: bool = False,
    needed: bool = False,
) -> Block:
    """A field with its value and its choices; `tag` makes a refresh forget what was chosen."""
    searched = field.choices or field.kind is Kind.ISSUE
    return forms.field(
        field.name + (tag if searched else ""),
        field.label,
        _element(field, f"issue.{field.name}" if searched else field.name, value, refs),
        optional=not needed,
        dispatch=dispatch,
    )


def _element(
    field: Field,
    action_id: str,
    value: Any,  # noqa: ANN401 - its type depends on the field's kind
    refs: Sequence[Ref],
) -> Element:
    known = [(str(ref.id), ref.name) for ref in refs]
    match field.kind:
        case Kind.CHOICE | Kind.PERSON:
            return forms.choice(action_id, known, str(value.id) if value else None, field.placeholder)
        case Kind.PEOPLE:
            return forms.choices(action_id, known, [str(ref.id) for ref in value or ()], field.placeholder)
        case Kind.ISSUE:
            chosen = option(f"#{value}", str(value)) if value else None
            return forms.searched(action_id, chosen, field.placeholder, PARENT_QUERY)
        case Kind.DAY:
            return forms.day(action_id, value if isinstance(value, date) else None)
        case Kind.PERCENT:
            steps = {*range(0, 101, STEP)} | ({value} if isinstance(value, int) else set())
            percents = [(str(step), f"{step}%") for step in sorted(steps)]
            held = str(value) if value is not None else None
            return forms.choice(action_id, percents, held, field.placeholder)
        case Kind.HOURS:
            typed = typed_hours(value) if value and isinstance(value, Decimal) else value
            return forms.text(action_id, typed, placeholder=field.placeholder, most=HOURS_LENGTH)
        case Kind.FLAG:
            return forms.checkbox(action_id, field.placeholder, checked=bool(value))
    raise ValueError(f"{field.label} has an input of its own")


def custom_input(
    custom: CustomField,
    held: str | tuple[str, ...] | None,
    tag: str,
    *,
    needed: bool = False,
    hint: str | None = None,
) -> Block:
    name, given = f"cf_{custom.id}", (held,) if isinstance(held, str) else held or ()
    values = [value for value in map(custom.known, given) if not is_key(value)]
    if custom.is_list or (needed and custom.values):
        name += tag
        initial = [text_option(value) for value in values]
        if custom.multiple:
            element = forms.several_searched("issue.custom", initial, "Choose or type values")
        else:
            element = forms.searched(
                "issue.custom", initial[0] if initial else None, "Choose or type a value"
            )
    else:
        examples = ", ".join(custom.values[:EXAMPLES])
        placeholder = f"e.g. {examples}" if examples else None
        typed = ", ".join(values)
        element = forms.text(name, typed, placeholder=placeholder, multiline="\n" in typed)
    label = custom.name or f"Field {custom.id}"
    return forms.field(name, label, element, optional=not needed, hint=hint)


def focus(blocks: Sequence[Block], name: str | None) -> None:
    """Give the focus to the field with that name, if the form has it."""
    for block in blocks:
        if block["type"] == "input" and block["block_id"].partition(":")[0] == name:
            block["element"]["focus_on_load"] = True


def custom_values(custom: CustomField, typed: str) -> list[JSON]:
    """Options for a custom field: matching known values, and what was typed, since there may be others."""
    typed = typed.strip()
    found = [value for value in custom.values if typed.casefold() in value.casefold()]
    if typed and typed == carried(typed) and custom.known(typed) not in found:
        found.append(typed)
    return [text_option(value) for value in found[: forms.LIST]]


def names_in(view: JSON) -> frozenset[str]:
    """The names of the form's fields."""
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return frozenset(block_id.partition(":")[0] for block_id in inputs)


def entered_hours(values: forms.Values) -> dict[str, str]:
    """The durations as typed, by option key."""
    typed = {key: values.text(field.name) for key, field in FIELDS.items() if field.kind is Kind.HOURS}
    return {key: text for key, text in typed.items() if text}


def entered(
    values: forms.Values, field: Field, written: Written | None, what: Literal["value", "text"] = "value"
) -> Value | bool | None:
    """What a field holds, except hours; choices by ID, or by name if `what` is `text`."""
    mark = "#" if what == "value" else ""
    match field.kind:
        case Kind.CHOICE | Kind.PERSON:
            chosen = values.chosen(field.name, what)
            return mark + chosen if chosen else None
        case Kind.PEOPLE:
            return tuple(mark + person for person in values.all_chosen(field.name, what))
        case Kind.ISSUE | Kind.PERCENT:
            return values.number(field.name)
        case Kind.DAY:
            return values.day(field.name)
        case Kind.FLAG:
            return bool(values.all_chosen(field.name))
        case Kind.TEXT:
            rich = values.rich_text(field.name)
            return written(rich) if rich and written else values.text(field.name)
        case Kind.HOURS:
            return None


def entered_custom_fields(values: forms.Values) -> dict[int, str | tuple[str, ...]]:
    found: dict[int, str | tuple[str, ...]] = {}
    for name in values.named("cf_"):
        if value := values.text(name) or values.chosen(name) or values.all_chosen(name):
            found[forms.number_in(name[3:])] = value
    return found
