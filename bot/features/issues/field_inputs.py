"""How people enter an issue's fields: as options of a command, and in the inputs of forms."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from bot.access.catalog import ME, CustomField
from bot.errors import UserError, WrongField
from bot.features.issues.buttons import ChooseValue
from bot.features.issues.fields import FIELDS, Field, FieldType, ResolvedValue, Value, typed_hours
from bot.service.models import Issue, Ref
from bot.slack.language import dates, values
from bot.slack.language.durations import hours
from bot.slack.language.options import CUSTOM_FIELD, Parsed, option_key
from bot.slack.language.values import CommandContext
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, Element, option, text_option
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.spelling import is_hashed_value, option_value

MAX_EXAMPLES = 4  # how many values a custom field gives as examples
PARENT_QUERY, HOURS_LENGTH, PERCENT_STEP = 1, 20, 10
Written = Callable[[JSON], str]
T = TypeVar("T")


def field_input(
    field: Field, value: ResolvedValue | None, refs: Sequence[Ref], tag: str, *, needed: bool = False
) -> Block:
    """A field with its value and its choices, also a value that isn't one of them.

    `tag` makes a refresh forget what was chosen.
    """
    searched = field.choices or field.kind is FieldType.ISSUE
    return forms.field(
        field.name + (tag if searched else ""), field.label, _element(field, value, refs), optional=not needed
    )


def _element(
    field: Field,
    value: Any,  # noqa: ANN401 - its type depends on the field's kind
    refs: Sequence[Ref],
) -> Element:
    listed, action_id = {ref.id for ref in refs}, ChooseValue.action
    current = [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Ref)]
    unlisted = (ref for ref in current if ref.id not in listed)
    known = [(str(ref.id), ref.name) for ref in (*unlisted, *refs)]

    match field.kind:
        case FieldType.CHOICE | FieldType.PERSON:
            without = field.placeholder or ("Default" if field.always else "None")
            return forms.choice(action_id, known, str(value.id) if value else None, without)
        case FieldType.PEOPLE:
            return forms.choices(action_id, known, [str(ref.id) for ref in value or ()], field.placeholder)
        case FieldType.ISSUE:
            chosen = option(f"#{value}", str(value)) if value else None
            return forms.searched(action_id, chosen, field.placeholder, PARENT_QUERY)
        case FieldType.DAY:
            return forms.day(action_id, value if isinstance(value, date) else None)
        case FieldType.PERCENT:
            steps = {*range(0, 101, PERCENT_STEP)} | ({value} if isinstance(value, int) else set())
            percents = [(str(step), f"{step}%") for step in sorted(steps)]
            percent = str(value) if value is not None else None
            return forms.choice(action_id, percents, percent, field.placeholder)
        case FieldType.HOURS:
            typed = typed_hours(value) if value and isinstance(value, Decimal) else value
            return forms.text(field.name, typed, placeholder=field.placeholder, most=HOURS_LENGTH)
        case FieldType.FLAG:
            return forms.checkbox(action_id, field.placeholder, checked=bool(value))
        case FieldType.TEXT:
            typed = str(value or "")
            return forms.text(field.name, typed, placeholder=field.placeholder, multiline="\n" in typed)


def custom_input(
    custom: CustomField,
    entered: str | tuple[str, ...] | None,
    tag: str,
    *,
    needed: bool = False,
    hint: str | None = None,
) -> Block:
    name, given = f"cf_{custom.id}", (entered,) if isinstance(entered, str) else entered or ()
    values = [value for value in map(custom.known, given) if not is_hashed_value(value)]
    if custom.is_list or (needed and custom.values):
        name += tag
        initial = [text_option(value) for value in values]

        if custom.multiple:
            element = forms.several_searched(ChooseValue.action, initial, "Choose or type values")
        else:
            first = initial[0] if initial else None
            element = forms.searched(ChooseValue.action, first, "Choose or type a value")
    else:
        examples = ", ".join(custom.values[:MAX_EXAMPLES])
        placeholder = f"e.g. {examples}" if examples else None
        typed = ", ".join(values)
        element = forms.text(name, typed, placeholder=placeholder, multiline="\n" in typed)

    label = custom.name or f"Field {custom.id}"
    return forms.field(name, label, element, optional=not needed, hint=hint)


def focus(blocks: Sequence[Block], name: str | None) -> None:
    for block in blocks:
        if block["type"] == "input" and block["block_id"].partition(":")[0] == name:
            block["element"]["focus_on_load"] = True


def custom_values(custom: CustomField, typed: str) -> list[JSON]:
    """Options for a custom field: matching known values, and the typed one, because there may be others."""
    typed = typed.strip()
    matches = [value for value in custom.values if typed.casefold() in value.casefold()]
    if typed and typed == option_value(typed) and custom.known(typed) not in matches:
        matches.append(typed)
    return [text_option(value) for value in matches[:MAX_SELECT_OPTIONS]]


def names_in(view: JSON) -> frozenset[str]:
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return frozenset(block_id.partition(":")[0] for block_id in inputs)


def entered(
    values: forms.Values, field: Field, locale: str, written: Written | None = None
) -> Value | bool | None:
    """Return the value of a submitted form's field, choices by ID. `locale` is the user's.

    Raises WrongField for a duration that can't be read, ActionExpired for a value that the form didn't offer.
    """
    match field.kind:
        case FieldType.CHOICE | FieldType.PERSON:
            chosen = values.chosen(field.name)
            return f"#{chosen}" if chosen else None
        case FieldType.PEOPLE:
            return tuple(f"#{person}" for person in values.all_chosen(field.name))
        case FieldType.ISSUE | FieldType.PERCENT:
            return values.number(field.name)
        case FieldType.DAY:
            return values.day(field.name)
        case FieldType.FLAG:
            return bool(values.all_chosen(field.name))
        case FieldType.TEXT:
            rich = values.rich_text(field.name)
            return written(rich) if rich and written else values.text(field.name)
        case FieldType.HOURS:
            try:
                return hours(typed, locale) if (typed := values.text(field.name)) else None
            except UserError as error:
                raise WrongField(field.name, error) from None


def carried_over(values: forms.Values, field: Field) -> Value | bool | None:
    """What a field holds that another project's form shows again, choices by name; no hours and rich text."""
    match field.kind:
        case FieldType.CHOICE | FieldType.PERSON:
            return (values.chosen(field.name, "text") or "").removesuffix(ME)
        case FieldType.PEOPLE:
            return tuple(name.removesuffix(ME) for name in values.all_chosen(field.name, "text"))
        case FieldType.HOURS:
            return None
    return entered(values, field, "")


def hours_as_typed(values: forms.Values) -> dict[str, str]:
    """The durations as typed, by option key."""
    typed = {key: values.text(field.name) for key, field in FIELDS.items() if field.kind is FieldType.HOURS}
    return {key: text for key, text in typed.items() if text}


def entered_custom_fields(values: forms.Values) -> dict[int, str | tuple[str, ...]]:
    entered: dict[int, str | tuple[str, ...]] = {}
    for name in values.named("cf_"):
        if value := values.text(name) or values.chosen(name) or values.all_chosen(name):
            entered[forms.number_in(name[3:])] = value
    return entered


def hidden_fields(keys: Collection[str], issue: Issue) -> list[str]:
    """A note for each custom field with the name of an option that was typed, which means another field."""
    return [
        f"There's also a custom field named {custom.name}. To set it, type `{CUSTOM_FIELD}{custom.id}:`."
        for custom in issue.custom_fields
        if option_key(custom.name) in keys
    ]


class OptionReader:
    """Reads the options of a command. Errors are in `problems`; unreadable durations also in `unread`."""

    def __init__(self, parsed: Parsed, typist: CommandContext) -> None:
        self.problems: list[UserError] = list(parsed.problems)
        self.unread: dict[str, str] = {}
        self._parsed = parsed
        self._typist = typist

    def fields(self, fields: Iterable[Field]) -> dict[str, Value | None]:
        """The values of the fields that were typed, by option key; None for one that can't be read."""
        values = {}
        for field in fields:
            if typed := self._parsed.options.get(field.key):
                values[field.key] = self._read(field.name, partial(self._value, field))
                if field.kind is FieldType.HOURS and values[field.key] is None:
                    self.unread[field.key] = typed[0].text
        return values

    def text(self, key: str) -> str | None:
        return self._read(key, partial(values.name, self._parsed, key))

    def custom_fields(self) -> dict[int, str]:
        return self._read("", partial(values.custom_fields, self._parsed)) or {}

    def _read(self, name: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except UserError as error:
            self.problems.append(WrongField(name, error))
            return None

    def _value(self, field: Field) -> Value | None:
        parsed, key, user = self._parsed, field.key, self._typist.owner
        match field.kind:
            case FieldType.PERSON:
                typed = values.one(parsed, key)
                return values.person(typed, user) if typed else None
            case FieldType.PEOPLE:
                return values.people(parsed, key, user)
            case FieldType.ISSUE:
                return self._issue(key)
            case FieldType.FLAG:
                return values.yes_or_no(parsed, key)
            case FieldType.PERCENT:
                return values.percent(parsed, key)

        text = values.name(parsed, key)
        if text and field.kind is FieldType.DAY:
            return dates.day(text, self._typist.today)
        return hours(text, self._typist.locale) if text and field.kind is FieldType.HOURS else text

    def _issue(self, key: str) -> int | None:
        if base_url := self._typist.base_url:
            for text in values.names(self._parsed, key):
                values.own_text(text, base_url)
        numbers = values.numbers(self._parsed, key)
        if len(numbers) > 1:
            raise UserError("An issue can have only one {option}: `{option}:42`.", option=key)
        return numbers[0] if numbers else None
