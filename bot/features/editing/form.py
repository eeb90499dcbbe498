"""Builds the form that edits an issue, and reads back what was changed in it."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from bot.errors import UserError, WrongField
from bot.features.editing.edits import Edit, Editable, Wanted, custom_mark, mark, marks
from bot.features.issues.fields import CHANGEABLE, SUBJECT, Meant, Value
from bot.features.issues.fields import Field as IssueField
from bot.features.issues.inputs import (
    custom_input,
    entered,
    entered_custom_fields,
    entered_hours,
    field_input,
    focus,
    names_in,
)
from bot.features.issues.service_changes import texts
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Ref
from bot.slack import forms
from bot.slack.blocks import JSON, Block, section
from bot.slack.buttons import Number
from bot.slack.grammar.durations import hours
from bot.slack.metadata import Metadata
from bot.slack.text import prose

CALLBACK_ID = "issue.edit"
CUSTOM_FIELDS = 30
"""How many custom fields the form has."""


class EditMetadata(Metadata):
    """`opened` are the marks of the values that the form was opened with, by the fields' names."""

    issue: Number
    opened: dict[str, str] = Field(default_factory=dict)


def title(number: int) -> str:
    return f"Edit #{number}"


def edit_form(
    editable: Editable,
    wanted: Wanted,
    place: JSON,
    *,
    said: str = "",
    notes: Sequence[Block] = (),
    wrong: Sequence[str] = (),
) -> JSON:
    """The form with the issue's values, and over them the wanted ones.

    `said` and `notes` are what is wrong, and `wrong` names the fields that it is about.
    """
    issue, catalog = editable.issue, editable.catalog
    values: dict[str, Meant | None] = {key: field.answered(issue) for key, field in CHANGEABLE.items()}
    values |= wanted.values
    blocks: list[Block] = [section(f":warning: {prose(said)}", block_id=forms.BANNER)] if said else []
    subject = forms.text(SUBJECT.name, str(values["subject"]), most=SUBJECT_LENGTH)
    inputs = [forms.field(SUBJECT.name, SUBJECT.label, subject, optional=False)]
    for key, field in CHANGEABLE.items():
        refs = _choices(field, editable)
        if field is SUBJECT or (field.choices and not refs):
            continue
        shown = values[key] if key in wanted.values else wanted.unread.get(key, values[key])
        inputs.append(field_input(field, shown, refs, "", needed=field.always))
    given = {one.id: one.value for one in wanted.custom}
    for held in issue.custom_fields[:CUSTOM_FIELDS]:
        known = catalog.custom_field(held.id)
        custom = replace(known, name=held.name or known.name, multiple=bool(held.multiple))
        value = given.get(held.id, held.value)
        if len(", ".join(texts(held))) <= forms.TEXT:
            inputs.append(custom_input(custom, value, ""))
    focus(inputs, wrong[0] if wrong else None)
    tag = _tag(editable)
    blocks += [*notes, *(block | {"block_id": block["block_id"] + tag} for block in inputs)]
    opened = {name: value for name, value in marks(issue).items() if name in _keys(inputs)}
    metadata = EditMetadata(issue=issue.id, opened=opened, place=place)
    return forms.form(CALLBACK_ID, title(issue.id), blocks, submit="Save", metadata=metadata.dump())


def _choices(field: IssueField, editable: Editable) -> tuple[Ref, ...]:
    """A field's choices, with the one that the issue has."""
    known, held = field.known(editable.catalog), field.answered(editable.issue)
    if isinstance(held, Ref) and held.id not in {ref.id for ref in known}:
        return (held, *known)
    return known


def _tag(editable: Editable) -> str:
    """New block IDs for another version of the issue, so that Slack drops what the form had before."""
    project, updated = editable.issue.project, editable.issue.updated_on
    return f":{project.id if project else 0}:{round(updated.timestamp()) if updated else 0}"


def _keys(inputs: Sequence[Block]) -> set[str]:
    """The keys of the fields that the form has."""
    names = {field.name: key for key, field in CHANGEABLE.items()}
    shown: list[str] = [block["block_id"] for block in inputs]
    return {names.get(name, name) for name in shown}


def submitted(view: JSON, opened: dict[str, str]) -> Edit:
    """What the user changed in the form; `opened` are the marks of the values that it was opened with.

    What comes back as it was shown isn't read: the form may show values that it doesn't take. Raises
    WrongField for a duration that can't be read, and UserError for a value that the form didn't offer.
    """
    values, shown = forms.Values(view), names_in(view)
    found: dict[str, Value | bool | None] = {}
    for key, field in CHANGEABLE.items():
        if field is not SUBJECT and field.name in shown:
            found[key] = entered(values, field, None)
    for key, typed in entered_hours(values).items():
        try:
            found[key] = typed if mark(typed) == opened.get(key) else hours(typed)
        except UserError as error:
            raise WrongField(CHANGEABLE[key].name, error) from None
    custom = entered_custom_fields(values)
    changed = {key: value for key, value in found.items() if mark(value) != opened.get(key)}
    new = {n: value for n, value in custom.items() if _custom_mark(value) != opened.get(f"cf_{n}")}
    empty = (name for name in shown if name.startswith("cf_") and forms.number_in(name[3:]) not in custom)
    emptied = [name for name in empty if opened.get(name) != mark(None)]
    subject = values.text(SUBJECT.name) or ""
    return Edit(
        subject=subject if mark(subject) != opened.get(SUBJECT.key) else "",
        values=changed,
        custom_fields=new,
        cleared=tuple(sorted([*(key for key, value in changed.items() if value is None), *emptied])),
    )


def _custom_mark(value: str | tuple[str, ...]) -> str:
    return custom_mark((value,) if isinstance(value, str) else value)
