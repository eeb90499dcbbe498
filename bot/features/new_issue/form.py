"""Builds the form for a new issue, and reads it back as a draft."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from bot.errors import UserError, WrongField
from bot.features.issues.buttons import ChooseProject, MoreFields, TypeSubject
from bot.features.issues.fields import DESCRIPTION, FIELDS, Draft, Field, Kind, Meant, Value
from bot.features.projects.catalog import CHOICE, Catalog, CustomField, Required
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Project, Ref
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Element, actions, button, context, option, section, shortened
from bot.slack.grammar.durations import hours
from bot.slack.text import prose

CALLBACK_ID, TITLE = "issue.create", "New issue"
OUTDATED = "The fields below changed with the project. Check them, then create the issue."
CUSTOM_FIELDS, EXAMPLES = 20, 4
"""How many custom fields *More fields* shows, and how many values one gives as examples."""
PARENT_QUERY, HOURS_LENGTH = 1, 20
Written = Callable[[JSON], str]
"""Converts rich text to the service's format."""


@dataclass(frozen=True)
class Shown:
    """What the form shows of an issue: the fields behind *More fields* if `more`, or else those in `fields`.

    `said` is what is wrong with the draft. `wrong` names the fields that it is about, the first of which gets
    the focus; `needed` are those that the service requires. `description` is the rich text entered so far.
    """

    more: bool = False
    fields: frozenset[str] = frozenset()
    said: str = ""
    wrong: tuple[str, ...] = ()
    needed: frozenset[str] = frozenset()
    description: JSON | None = None

    def has(self, name: str) -> bool:
        return self.more or name in self.fields or name in self.wrong


def create_form(
    draft: Draft,
    project: Project | None,
    shown: Shown,
    *,
    description: JSON | None,
    details: Sequence[Block] = (),
    notes: Sequence[Block] = (),
    files: Sequence[Block] = (),
    metadata: str,
) -> JSON:
    """The create form; `notes` are possible duplicates, `details` are the fields of the chosen project.

    `description` is rich text.
    """
    said = shown.said
    blocks: list[Block] = [section(f":warning: {prose(said)}", block_id=forms.BANNER)] if said else []
    chosen = option(shortened(project.name, 75), str(project.id)) if project else None
    project_select = forms.searched(ChooseProject.action, chosen, "Search projects")
    subject = forms.text(TypeSubject.action, draft.subject, most=SUBJECT_LENGTH, on_keystroke=True)
    formatted = forms.formatted_text(DESCRIPTION.name, description)
    blocks += [
        forms.field("project", "Project", project_select, optional=False, dispatch=True),
        forms.field("subject", "Subject", subject, optional=False, dispatch=True),
        *notes,
        forms.field(DESCRIPTION.name, DESCRIPTION.label, formatted),
        *files,
        *(details or [context("Choose a project to see its trackers, people, and other fields.")]),
    ]
    empty = "project" if project is None else "subject" if not draft.subject else None
    _focus(blocks, shown.wrong[0] if shown.wrong else empty)
    return forms.form(CALLBACK_ID, TITLE, blocks, submit="Create", metadata=metadata)


def _focus(blocks: Sequence[Block], name: str | None) -> None:
    """Give the focus to the field with that name, if the form has it."""
    for block in blocks:
        if block["type"] == "input" and block["block_id"].partition(":")[0] == name:
            block["element"]["focus_on_load"] = True


def project_fields(
    draft: Draft,
    meant: Mapping[str, Meant],
    catalog: Catalog,
    required: Required,
    shown: Shown,
) -> list[Block]:
    """The fields of a project, with *More fields* if some aren't shown.

    `required` are the custom fields that the service is known to require.
    """
    # New block IDs, so that Slack drops the choices made for another project.
    tag = f":{catalog.project.id}" if catalog.project else ""
    tracker = meant.get("tracker")
    needed = required.get(tracker.id if isinstance(tracker, Ref) else None, frozenset())
    blocks, hidden = [], False
    for field in sorted(FIELDS.values(), key=lambda field: not field.first):
        refs = field.known(catalog)
        if field is DESCRIPTION or (field.choices and not refs):
            continue
        value = meant.get(field.key, draft.unread.get(field.key))
        if not (field.first or value or shown.has(field.name)):
            hidden = True
            continue
        dispatch = field.key == "tracker" and bool(required)
        blocks.append(_field(field, value, refs, tag, dispatch=dispatch, needed=field.name in shown.needed))
    named = {*shown.fields, *shown.wrong}
    for n, custom in enumerate(catalog.custom_fields):
        held, must, listed = draft.custom_fields.get(custom.id), custom.id in needed, n < CUSTOM_FIELDS
        if held or must or f"cf_{custom.id}" in named or (shown.more and listed):
            blocks.append(_custom_field(custom, held, tag, needed=must))
        elif listed:
            hidden = True
    if hidden:
        blocks.append(actions([button("More fields", MoreFields())], block_id="more"))
    return blocks


def _field(
    field: Field, value: Meant | None, refs: Sequence[Ref], tag: str, *, dispatch: bool, needed: bool
) -> Block:
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
        case Kind.HOURS:
            typed = f"{value.normalize():f}" if isinstance(value, Decimal) else value
            return forms.text(action_id, typed, placeholder=field.placeholder, most=HOURS_LENGTH)
        case Kind.FLAG:
            return forms.checkbox(action_id, field.placeholder, checked=bool(value))
    raise ValueError(f"{field.label} has an input of its own")


def _custom_field(
    custom: CustomField, held: str | tuple[str, ...] | None, tag: str, *, needed: bool
) -> Block:
    name, values = f"cf_{custom.id}", (held,) if isinstance(held, str) else held or ()
    if custom.is_list or (needed and custom.values):
        name += tag
        initial = [option(value, value) for value in map(custom.known, values)]
        if custom.multiple:
            element = forms.several_searched("issue.custom", initial, "Choose or type values")
        else:
            element = forms.searched(
                "issue.custom", initial[0] if initial else None, "Choose or type a value"
            )
    else:
        examples = ", ".join(custom.values[:EXAMPLES])
        placeholder = f"e.g. {examples}" if examples else None
        element = forms.text(name, ", ".join(values), placeholder=placeholder)
    label = custom.name or f"Field {custom.id}"
    hint = None if needed else "Required for some issue types"
    return forms.field(name, label, element, optional=not needed, hint=hint)


def custom_values(custom: CustomField, typed: str) -> list[JSON]:
    """Options for a custom field: matching known values, and what was typed, since there may be others."""
    typed = typed.strip()
    found = [value for value in custom.values if typed.casefold() in value.casefold()]
    if typed and len(typed) <= CHOICE and custom.known(typed) not in found:
        found.append(typed)
    return [option(value, value) for value in found[: forms.LIST]]


def names_in(view: JSON) -> frozenset[str]:
    """The names of the form's fields."""
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return frozenset(block_id.partition(":")[0] for block_id in inputs)


def outdated(view: JSON) -> bool:
    """Whether the form still has the choices of a project other than the chosen one."""
    values = forms.Values(view)
    tags = {block_id.partition(":")[2] for block_id in values.block_ids.values()} - {""}
    return bool(tags) and tags != {values.chosen("project")}


def missing(draft: Draft) -> dict[str, str]:
    """Errors at the required fields that are empty."""
    errors = {} if draft.subject else {"subject": "Enter a subject."}
    return errors if draft.project else errors | {"project": "Choose a project."}


def submitted(view: JSON, written: Written) -> Draft:
    """The draft that the form holds; choices are IDs (`#5`).

    Raises WrongField for a duration that can't be read, UserError for a value that the form didn't offer.
    """
    values = forms.Values(view)
    found = {key: _entered(values, field, written) for key, field in FIELDS.items()}
    for key, typed in _hours(values).items():
        try:
            found[key] = hours(typed)
        except UserError as error:
            raise WrongField(FIELDS[key].name, error) from None
    return _draft(values, found)


def carried_over(view: JSON) -> Draft:
    """The draft for another project: choices by name, since their IDs differ between projects.

    Rich text isn't in it.
    """
    values = forms.Values(view)
    draft = _draft(values, {key: _entered(values, field, None, "text") for key, field in FIELDS.items()})
    return draft.model_copy(update={"unread": _hours(values)})


def _hours(values: forms.Values) -> dict[str, str]:
    """The durations as typed, by option key."""
    typed = {key: values.text(field.name) for key, field in FIELDS.items() if field.kind is Kind.HOURS}
    return {key: text for key, text in typed.items() if text}


def _entered(
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
        case Kind.ISSUE:
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


def _draft(values: forms.Values, found: Mapping[str, Value | None]) -> Draft:
    project = values.chosen("project")
    return Draft(
        subject=values.text("subject") or "",
        project=f"#{project}" if project else None,
        values=dict(found),
        custom_fields=_custom_fields(values),
    )


def _custom_fields(values: forms.Values) -> dict[int, str | tuple[str, ...]]:
    found: dict[int, str | tuple[str, ...]] = {}
    for name in values.named("cf_"):
        if value := values.text(name) or values.chosen(name) or values.all_chosen(name):
            found[forms.number_in(name[3:])] = value
    return found
