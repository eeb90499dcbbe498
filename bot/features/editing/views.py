"""Messages about changes to issues."""

from collections.abc import Sequence
from datetime import timedelta

from bot.errors import UserError
from bot.features.editing.editing import Edit, Edited, FieldChange
from bot.features.issues.buttons import AssignToMe, ShareListedIssue
from bot.features.issues.fields import Field, FieldType, ResolvedValue
from bot.features.issues.views import (
    ASSIGN,
    SHARE,
    issue_buttons,
    open_buttons,
    service_change,
    title,
    value_text,
)
from bot.service.models import Issue
from bot.slack.surfaces.blocks import Block, Element, Message, button, context, rows, section
from bot.slack.surfaces.buttons import Number
from bot.slack.surfaces.drafts import SavedDraft
from bot.slack.text.mrkdwn import escape, line, prose
from bot.slack.text.wording import Wording


class OpenEdit(SavedDraft):
    """Opens the form with a change that was typed; `wrong` are the fields that the error is about."""

    action = "issue.open_edit"
    command = "issue"
    issue: Number
    edit: Edit
    wrong: tuple[str, ...] = ()


class UndoExpired(UserError):
    says = "It's too late to undo this. Edit the issue to change it back."


class UndoChange(SavedDraft):
    """Restores the values before a change, `back`; `after` has the `marks` of the changed values."""

    action = "issue.undo"
    gone = UndoExpired
    lifetime = timedelta(minutes=10)
    issue: Number
    back: Edit
    after: dict[str, str]


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
    return Message(text, (section(text, button(ASSIGN, assign)), open_buttons(issue.id, wording)))


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
