"""The form that edits an issue, what was changed in it, and messages about changes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pydantic

from bot.errors import UserError
from bot.features.editing.editing import Editable, Edited, FieldChange, TargetValues
from bot.features.editing.edits import Edit
from bot.features.issues import field_inputs
from bot.features.issues.buttons import AssignToMe, ShareListedIssue
from bot.features.issues.fields import CHANGEABLE, DESCRIPTION, SUBJECT, Field, FieldType, ResolvedValue
from bot.features.issues.issues import fingerprints, texts
from bot.features.issues.views import (
    ASSIGN,
    SHARE,
    issue_buttons,
    open_row,
    service_change,
    title,
    value_text,
)
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Issue, Ref
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, Element, Message, button, context, rows, section
from bot.slack.surfaces.buttons import Number
from bot.slack.surfaces.drafts import SavedDraft
from bot.slack.surfaces.view import Metadata
from bot.slack.text.mrkdwn import escape, line, link, prose
from bot.slack.text.wording import Wording
from bot.slack_limits import INPUT_LENGTH

CALLBACK_ID = "issue.edit"
CUSTOM_FIELDS = 30


class EditMetadata(Metadata):
    """`opened` are the `fingerprints` of the fields that the form shows, as the issue had them then."""

    issue: Number
    opened: dict[str, str] = pydantic.Field(default_factory=dict)


class OpenEdit(SavedDraft):
    """Opens the form with a change that was typed; `wrong` are the fields that the error is about."""

    action = "issue.open_edit"
    command = "issue"
    issue: Number
    edit: Edit
    wrong: tuple[str, ...] = ()


class UndoChange(SavedDraft):
    """Restores the values before a change, `back`; `after` has the `fingerprints` of the changed values."""

    action = "issue.undo"
    lifetime = timedelta(minutes=10)
    issue: Number
    back: Edit
    after: dict[str, str]

    @classmethod
    def expired(cls) -> UserError:
        return UserError("It's too late to undo this. Edit the issue to change it back.")


def edited(
    edited: Edited,
    wording: Wording,
    undo: Sequence[Element] = (),
    *,
    shareable: bool,
    notes: Sequence[str] = (),
    back: bool = False,
) -> Message:
    """What changed, before → after, or `back`, and what the service didn't take.

    `notes` say more in plain text, and `undo` are the first buttons.
    """
    issue = edited.issue
    text, lines = _did(edited, wording, back=back), _change_lines(edited)
    blocks: list[Block] = [section(f"{text}\n{_listed(lines)}".rstrip())]
    if missed := _missed(edited, wording):
        lead = f"{escape(wording.service)} didn't save everything:\n" if edited.changed else ""
        blocks.append(section(f"{lead}{_listed(missed)}"))
    if edited.final and edited.before.status:
        before = line(edited.before.status.name)
        blocks.append(context(f"The workflow doesn't let you set it back to {before}, so there's no Undo."))

    if edited.left:
        blocks.append(section(_listed([prose(wording.sentence(error)) for error in edited.left])))
    blocks += [context(prose(note)) for note in notes]
    share = [button(SHARE, ShareListedIssue(issue=issue.id))] if shareable and not issue.is_private else []
    buttons = issue_buttons(issue.id, wording, *undo, *share, mine=edited.mine)
    blocks += rows(buttons, f"issue-{issue.id}")
    return Message(text, tuple(blocks))


def summary(edited: Edited, wording: Wording) -> str:
    """What changed in an issue, in one line."""
    return f"{_did(edited, wording)}: {'; '.join([*_change_lines(edited), *_missed(edited, wording)])}"


def _did(edited: Edited, wording: Wording, *, back: bool = False) -> str:
    did = "Undid the change to" if back else "Updated"
    return f"{did if edited.changed else 'Nothing changed in'} {title(edited.issue, wording)}"


def _change_lines(edited: Edited) -> list[str]:
    return [*map(_change, edited.changed), *map(_already, edited.already)]


def _missed(edited: Edited, wording: Wording) -> list[str]:
    return [service_change(change, escape(wording.service)) for change in edited.not_taken]


def assign_instead(issue: Issue, wording: Wording) -> Message:
    """The question before an issue is assigned to the user in place of its assignee."""
    holder = issue.assigned_to
    now = f"is assigned to {line(holder.name or 'someone else')}" if holder else "isn't assigned anymore"
    text = f"{title(issue, wording)} {now}. Assign it to yourself instead?"
    assign = AssignToMe(issue=issue.id, holder=holder.id if holder else None)
    return Message(text, (section(text, button(ASSIGN, assign)), open_row(issue.id, wording)))


def conflict(fields: tuple[FieldChange, ...]) -> Block:
    """What somebody else made of fields, and what the user entered."""
    lines = []
    for one in fields:
        now, entered = _value(one.field, one.before), _value(one.field, one.after)
        lines.append(f"{line(one.label)} is *{now}* now. You entered {entered}.")
    return section(_listed(lines))


def _listed(lines: list[str]) -> str:
    return "\n".join(f"• {text}" for text in lines)


def _change(change: FieldChange) -> str:
    before, after = _value(change.field, change.before), _value(change.field, change.after)
    return f"{line(change.label)}: {before} → *{after}*"


def _already(change: FieldChange) -> str:
    value = "empty" if change.after is None else f"*{_value(change.field, change.after)}*"
    return f"{line(change.label)} is already {value}"


def _value(field: Field | None, value: ResolvedValue | None) -> str:
    if value is None:
        return "Unassigned" if field and field.kind is FieldType.PERSON else "none"
    return value_text(field, value)


def form_title(number: int) -> str:
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
        too_long = len(str(values[key])) > INPUT_LENGTH
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
        if len(", ".join(texts(own))) <= INPUT_LENGTH:
            inputs.append(field_inputs.custom_input(custom, value, ""))

    field_inputs.focus(inputs, wrong[0] if wrong else None)
    tag, names = _tag(editable), {block["block_id"] for block in inputs if "block_id" in block}
    tagged = (
        block | {"block_id": block["block_id"] + tag} if "block_id" in block else block for block in inputs
    )
    blocks += [*notes, *tagged]
    opened = {name: mark for name, mark in fingerprints(issue).items() if name in names}
    metadata = EditMetadata(issue=issue.id, opened=opened, place=place)
    return forms.form(CALLBACK_ID, form_title(issue.id), blocks, submit="Save", metadata=metadata.dump())


def _description(text: str, url: str, service: str) -> Block:
    """Return the stored description, or a hint if it's too long for Slack."""
    if len(text) > INPUT_LENGTH:
        return context(f"The description is too long to edit here. {link(url, f'Edit it in {service}')}")
    return forms.field(
        DESCRIPTION.name, DESCRIPTION.label, forms.text(DESCRIPTION.name, text, multiline=True)
    )


def _choices(field: Field, editable: Editable) -> tuple[Ref, ...]:
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
