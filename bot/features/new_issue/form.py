"""Builds the form for a new issue, and reads it back as a draft."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from bot.errors import UserError, WrongField
from bot.features.issues.buttons import ChooseProject, TypeSubject
from bot.features.issues.fields import FIELDS, Draft, Field, Kind, Meant, Value
from bot.features.projects.catalog import CHOICE, Catalog, CustomField, Required
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Project, Ref
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Element, context, option, section, shortened
from bot.slack.grammar.durations import hours
from bot.slack.text import prose

CALLBACK_ID, TITLE = "issue.create", "New issue"
OUTDATED = "The choices below are this project's now: look them over and send it again."
CUSTOM_FIELDS, EXAMPLES = 20, 4
PARENT_QUERY, HOURS_LENGTH = 1, 20


def create_form(
    draft: Draft,
    project: Project | None,
    details: Sequence[Block],
    metadata: str,
    said: str | None = None,
    *,
    notes: Sequence[Block] = (),
    files: Sequence[Block] = (),
) -> JSON:
    """The create form; `notes` are possible duplicates, `details` are the fields of the chosen project."""
    blocks: list[Block] = [section(f":warning: {prose(said)}", block_id=forms.BANNER)] if said else []
    chosen = option(shortened(project.name, 75), str(project.id)) if project else None
    project_select = forms.searched(ChooseProject.action, chosen, "Type a part of its name")
    subject = forms.text(
        TypeSubject.action,
        draft.subject,
        most=SUBJECT_LENGTH,
        on_keystroke=True,
        focus=project is not None and not draft.subject,
    )
    blocks += [
        forms.field("project", "Project", project_select, optional=False, dispatch=True),
        forms.field("subject", "Subject", subject, optional=False, dispatch=True),
        *notes,
        *(_field(field, draft.values.get(field.key)) for field in FIELDS.values() if field.before_project),
        *files,
        *(details or [context("Choose a project to see its trackers, people, versions and more.")]),
    ]
    return forms.form(CALLBACK_ID, TITLE, blocks, submit="Create", metadata=metadata)


def project_fields(
    draft: Draft, meant: Mapping[str, Meant], project: Project, catalog: Catalog, required: Required
) -> list[Block]:
    """The fields of a project; `required` are the custom fields that the service is known to require."""
    tag = f":{project.id}"  # new block IDs, so that Slack drops the choices made for another project
    blocks = [
        _field(field, meant.get(field.key), refs, tag, dispatch=field.key == "tracker" and bool(required))
        for field in FIELDS.values()
        if not field.before_project and ((refs := field.known(catalog)) or not field.choices)
    ]
    tracker = meant.get("tracker")
    needed = required.get(tracker.id if isinstance(tracker, Ref) else None, frozenset())
    blocks += [
        _custom_field(custom, draft.custom_fields.get(custom.id), tag, needed=custom.id in needed)
        for custom in catalog.custom_fields[:CUSTOM_FIELDS]
    ]
    return blocks


def _field(
    field: Field, value: Meant | None, refs: Sequence[Ref] = (), tag: str = "", *, dispatch: bool = False
) -> Block:
    searched = field.choices or field.kind is Kind.ISSUE
    return forms.field(
        field.name + (tag if searched else ""),
        field.label,
        _element(field, f"issue.{field.name}" if searched else field.name, value, refs),
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
            return forms.day(action_id, value)
        case Kind.HOURS:
            typed = None if value is None else f"{value.normalize():f}"
            return forms.text(action_id, typed, placeholder=field.placeholder, most=HOURS_LENGTH)
        case Kind.FLAG:
            return forms.checkbox(action_id, field.placeholder, checked=bool(value))
        case Kind.TEXT:
            return forms.text(action_id, value, placeholder=field.placeholder or None, multiline=True)


def _custom_field(
    custom: CustomField, held: str | tuple[str, ...] | None, tag: str, *, needed: bool
) -> Block:
    name, values = f"cf_{custom.id}", (held,) if isinstance(held, str) else held or ()
    if custom.is_list:
        name += tag
        initial = [option(value, value) for value in map(custom.known, values)]
        if custom.multiple:
            element = forms.several_searched("issue.custom", initial, "Choose or type values")
        else:
            element = forms.searched(
                "issue.custom", initial[0] if initial else None, "Choose or type a value"
            )
    else:
        like = ", ".join(custom.values[:EXAMPLES])
        element = forms.text(name, ", ".join(values), placeholder=f"Like {like}" if like else None)
    label = custom.name or f"Field {custom.id}"
    hint = None if needed else "Some trackers require it."
    return forms.field(name, label, element, optional=not needed, hint=hint)


def custom_values(custom: CustomField, typed: str) -> list[JSON]:
    """Options for a custom field: matching known values, and what was typed, since there may be others."""
    typed = typed.strip()
    found = [value for value in custom.values if typed.casefold() in value.casefold()]
    if typed and len(typed) <= CHOICE and custom.known(typed) not in found:
        found.append(typed)
    return [option(value, value) for value in found[: forms.LIST]]


def left_empty(view: JSON, block_ids: Iterable[str]) -> list[int]:
    """The IDs of the custom fields among these blocks that are empty."""
    filled = _custom_fields(forms.Values(view))
    names = (block_id.partition(":")[0] for block_id in block_ids)
    numbers = [forms.number_in(name[3:]) for name in names if name.startswith("cf_")]
    return [number for number in numbers if number not in filled]


def outdated(view: JSON) -> bool:
    """Whether the form still has the choices of a project other than the chosen one."""
    values = forms.Values(view)
    tags = {block_id.partition(":")[2] for block_id in values.block_ids.values()} - {""}
    return bool(tags) and tags != {values.chosen("project")}


def missing(draft: Draft) -> dict[str, str]:
    """Errors at the required fields that are empty."""
    errors = {} if draft.subject else {"subject": "Write a subject."}
    return errors if draft.project else errors | {"project": "Choose a project."}


def submitted(view: JSON) -> Draft:
    """The draft that the form holds; choices are IDs (`#5`).

    Raises WrongField for a duration that can't be read, UserError for a value that the form didn't offer.
    """
    values = forms.Values(view)
    found = {key: _entered(values, field) for key, field in FIELDS.items()}
    for key, field in FIELDS.items():
        if field.kind is Kind.HOURS and (typed := values.text(field.name)):
            try:
                found[key] = hours(typed)
            except UserError as error:
                raise WrongField(field.name, error) from None
    return _draft(values, found)


def carried_over(view: JSON) -> Draft:
    """The draft for another project: choices by name, since their IDs differ between projects.

    Slack itself keeps durations as they were typed.
    """
    values = forms.Values(view)
    return _draft(values, {key: _entered(values, field, "text") for key, field in FIELDS.items()})


def _entered(
    values: forms.Values, field: Field, what: Literal["value", "text"] = "value"
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
            return values.text(field.name)
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
