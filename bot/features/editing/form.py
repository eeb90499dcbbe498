"""Builds the form that edits an issue, and reads back what was changed in it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from bot.features.editing.editing import Edit, Editable, TargetValues
from bot.features.issues import field_inputs
from bot.features.issues.fields import CHANGEABLE, DESCRIPTION, SUBJECT, ResolvedValue
from bot.features.issues.fields import Field as IssueField
from bot.features.issues.issues import fingerprints, texts
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Ref
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, context, section
from bot.slack.surfaces.buttons import Number
from bot.slack.surfaces.view import Metadata
from bot.slack.text.mrkdwn import link, prose
from bot.slack.text.wording import Wording

CALLBACK_ID = "issue.edit"
CUSTOM_FIELDS = 30


class EditMetadata(Metadata):
    """`opened` are the `fingerprints` of the fields that the form shows, as the issue had them then."""

    issue: Number
    opened: dict[str, str] = Field(default_factory=dict)


def title(number: int) -> str:
    return f"Edit #{number}"


def edit_form(
    editable: Editable,
    target: TargetValues,
    place: JSON,
    wording: Wording,
    *,
    warning: str = "",
    notes: Sequence[Block] = (),
    wrong: Sequence[str] = (),
) -> JSON:
    """The form with the issue's values, and over them those of `target`.

    `warning` and `notes` are the problems, and `wrong` names their fields.
    """
    issue, catalog = editable.issue, editable.catalog
    values: dict[str, ResolvedValue | None] = {
        key: field.answered(issue) for key, field in CHANGEABLE.items()
    }
    values |= target.values
    blocks: list[Block] = [section(f":warning: {prose(warning)}", block_id=forms.BANNER)] if warning else []
    subject = forms.text(SUBJECT.name, str(values["subject"]), most=SUBJECT_LENGTH)
    inputs = [forms.field(SUBJECT.name, SUBJECT.label, subject, optional=False)]
    for key, field in CHANGEABLE.items():
        refs = _choices(field, editable)
        too_long = len(str(values[key])) > forms.TEXT
        if field is DESCRIPTION:
            inputs.append(_description(str(values[key] or ""), wording.url(issue.id), wording.service))
            continue
        if field is SUBJECT or (field.choices and not refs) or too_long:
            continue
        field_value = values[key] if key in target.values else target.unread.get(key, values[key])
        inputs.append(field_inputs.field_input(field, field_value, refs, "", needed=field.always))
    given = {one.id: one.value for one in target.custom}
    for own in issue.custom_fields[:CUSTOM_FIELDS]:
        known = catalog.custom_field(own.id)
        custom = replace(known, name=own.name or known.name, multiple=bool(own.multiple))
        value = given.get(own.id, own.value)
        if len(", ".join(texts(own))) <= forms.TEXT:
            inputs.append(field_inputs.custom_input(custom, value, ""))
    field_inputs.focus(inputs, wrong[0] if wrong else None)
    tag, names = _tag(editable), {block["block_id"] for block in inputs if "block_id" in block}
    tagged = (
        block | {"block_id": block["block_id"] + tag} if "block_id" in block else block for block in inputs
    )
    blocks += [*notes, *tagged]
    opened = {name: mark for name, mark in fingerprints(issue).items() if name in names}
    metadata = EditMetadata(issue=issue.id, opened=opened, place=place)
    return forms.form(CALLBACK_ID, title(issue.id), blocks, submit="Save", metadata=metadata.dump())


def _description(text: str, url: str, service: str) -> Block:
    """Return the stored description, or a hint if it's too long for Slack."""
    if len(text) > forms.TEXT:
        return context(f"The description is too long to edit here. {link(url, f'Edit it in {service}')}")
    return forms.field(
        DESCRIPTION.name, DESCRIPTION.label, forms.text(DESCRIPTION.name, text, multiline=True)
    )


def _choices(field: IssueField, editable: Editable) -> tuple[Ref, ...]:
    """A field's choices, with the one that the issue has."""
    known, current = field.offered(editable.catalog), field.answered(editable.issue)
    if isinstance(current, Ref) and current.id not in {ref.id for ref in known}:
        return (current, *known)
    return known


def _tag(editable: Editable) -> str:
    """New block IDs for another version of the issue, so that Slack drops what the form had before."""
    project, updated = editable.issue.project, editable.issue.updated_on
    return f":{project.id if project else 0}:{round(updated.timestamp()) if updated else 0}"


def submitted(view: JSON, opened: Mapping[str, str], locale: str) -> Edit:
    """Return the user's changes in the form; `opened` are the marks of the issue that it was opened with.

    Unchanged values aren't read: the form may show values that it doesn't accept. Raises the errors of
    `entered`.
    """
    values = forms.Values(view)
    changed = {name for name in field_inputs.names_in(view) if values.changed(name, opened)}
    new_values = {
        key: field_inputs.entered(values, field, locale)
        for key, field in CHANGEABLE.items()
        if field is not SUBJECT and field.name in changed
    }
    custom = {
        n: value for n, value in field_inputs.entered_custom_fields(values).items() if f"cf_{n}" in changed
    }
    emptied = {name for name in changed if name.startswith("cf_") and forms.number_in(name[3:]) not in custom}
    return Edit(
        subject=values.text(SUBJECT.name) or "" if SUBJECT.name in changed else "",
        values=new_values,
        custom_fields=custom,
        cleared=tuple(sorted([*(key for key, value in new_values.items() if value is None), *emptied])),
    )
