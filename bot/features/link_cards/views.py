"""The card below a link to an issue, and the details and comments that one viewer sees.

Both come as a Work Object too, which Slack shows instead of the blocks if the app has Work Objects turned on.
Its fields are plain text. Shapes: https://docs.slack.dev/messaging/work-objects-implementation and
https://docs.slack.dev/messaging/work-objects-comments, in more detail slack_sdk.models.metadata.

Slack keeps nothing for the bot between showing the details and an edit. So each option of a select carries,
after its ID, the marks of all fields as they were shown: they tell what the user changed, and what others
changed since.
"""

from collections.abc import Sequence
from datetime import datetime

from bot.features.editing.editing import EditConflict, Edited
from bot.features.editing.edits import Edit
from bot.features.editing.views import conflict, submitted
from bot.features.issues.buttons import AssignInDetails, AssignToMe, CommentOnIssue, OpenTimeForm
from bot.features.issues.issues import fingerprints
from bot.features.issues.views import (
    ASSIGN,
    kind,
    priority_and_assignee,
    service_change,
    spent_and_estimated,
    title,
)
from bot.features.link_cards.details import EDITABLE, EntityDetails
from bot.service.models import Issue, Journal, Ref
from bot.slack.surfaces.blocks import JSON, context, option, section, shortened
from bot.slack.surfaces.buttons import Button
from bot.slack.text.mrkdwn import clean, escape, spoken, stripped
from bot.slack.text.wording import Wording

TASK = "slack#/entities/task"
REFERENCE = "issue"
DESCRIPTION_LENGTH, NAME_LENGTH = 2000, 255
REFRESH = "Refresh the details before you edit them again."  # an error leaves the old values there
PRIMARY_BUTTONS = 2  # how many buttons Slack shows outside *More actions*
EMPTY: JSON = {
    "assignee": {"value": "Unassigned", "type": "string"},
    "due_date": {"type": "slack#/types/date"},
}
"""Fields that an issue may be without; services may leave out others, too."""


def card(issue: Issue, style: Wording) -> JSON:
    blocks = (section(f"*{title(issue, style)}*"), context(f"{kind(issue)} · {priority_and_assignee(issue)}"))
    return {"blocks": list(blocks)}


def entity(
    issue: Issue, style: Wording, comments: Sequence[Journal] | None, posted: str | None = None
) -> JSON:
    """The card as a Work Object. `posted` is the link exactly as in the message; `comments` are counted."""
    fields: JSON = {
        "status": _text(issue.status.name if issue.status else None),
        "priority": _text(issue.priority.name if issue.priority else None),
        "assignee": _text(issue.assigned_to.name if issue.assigned_to else None, type="string"),
    }
    if issue.due_date:
        fields["due_date"] = {"value": issue.due_date.isoformat(), "type": "slack#/types/date"}
    updated = _moment(issue.updated_on)
    more: JSON = {"app_unfurl_url": posted} if posted else {}
    if comments is not None:
        latest = _moment(comments[-1].created_on) if comments else None
        latest = {"latest_timestamp": latest["value"]} if latest else {}
        more["entity_comments"] = {"count": len(comments), **latest}
    return {
        **more,
        "entity_type": TASK,
        "url": style.url(issue.id),
        "external_ref": {"id": str(issue.id), "type": REFERENCE},
        "entity_payload": {
            "attributes": {
                "title": {"text": shortened(clean(issue.subject), 255) or f"#{issue.id}"},
                "display_id": f"#{issue.id}",
                "display_type": shortened(clean(issue.tracker.name if issue.tracker else ""), NAME_LENGTH)
                or "Issue",
                "product_name": style.service,
                **({"metadata_last_modified": updated["value"]} if updated else {}),
            },
            "fields": {name: field for name, field in fields.items() if field},
            "actions": _buttons(issue.id, AssignToMe(issue=issue.id), style),
        },
    }


def _buttons(number: int, assign: AssignToMe | None, style: Wording) -> JSON:
    """The issue's buttons, without `assign` on the user's own issue."""
    changes: list[tuple[str, Button]] = [("Comment", CommentOnIssue(issue=number))]
    changes = [(ASSIGN, assign), *changes] if assign else changes
    offered = [*(changes if style.updates_issues else []), ("Log time", OpenTimeForm(issue=number))]
    buttons = [{"text": text, "action_id": it.action, "value": it.pack()} for text, it in offered]
    places = {"primary_actions": buttons[:PRIMARY_BUTTONS], "overflow_actions": buttons[PRIMARY_BUTTONS:]}
    return {place: elements for place, elements in places.items() if elements}


def details(details: EntityDetails, style: Wording, description: str) -> JSON:
    """What one person sees, and may edit."""
    issue = details.issue
    card = entity(issue, style, issue.public_comments)
    payload, assign = card["entity_payload"], None if details.mine else AssignInDetails(issue=issue.id)
    payload["actions"] = _buttons(issue.id, assign, style)
    more: JSON = {
        "created_by": _text(issue.author.name if issue.author else None, type="string"),
        "date_created": _moment(issue.created_on),
        "date_updated": _moment(issue.updated_on),
        "description": _text(stripped(description)),
    }
    payload["fields"] |= {name: field for name, field in more.items() if field}
    payload["fields"] = editable(payload["fields"], details)

    custom = {
        "Project": issue.project.name if issue.project else "",
        "Category": issue.category.name if issue.category else "",
        "Target version": issue.fixed_version.name if issue.fixed_version else "",
        "Progress": f"{issue.done_ratio}%" if issue.done_ratio else "",
        "Time": spent_and_estimated(issue),
        "Private": "yes" if issue.is_private else "",
    }
    payload["custom_fields"] = [
        {
            "key": label.lower().replace(" ", "_"),
            "label": label,
            "type": "string",
            "value": shortened(clean(value), NAME_LENGTH),
        }
        for label, value in custom.items()
        if value
    ]
    return card


def comments(texts: Sequence[tuple[Journal, str]]) -> list[JSON]:
    """Comments with their texts as mrkdwn."""
    return [
        {
            "id": str(comment.id),
            "sender": {
                "text": shortened(clean(comment.user.name), NAME_LENGTH) if comment.user else "Unknown"
            },
            "timestamp": int(comment.created_on.timestamp()) if comment.created_on else 0,
            "comment": {"value": shortened(clean(stripped(text)), DESCRIPTION_LENGTH) or "–"},
        }
        for comment, text in texts
    ]


def refused(title: str, sentence: str, status: str = "custom") -> JSON:
    return {"status": status, "custom_title": title, "custom_message": spoken(sentence)}


def conflicting(error: EditConflict, *, visible: bool) -> str:
    """Return the others' changes and the next step: the details still show the old values. `visible` is
    whether Slack sent these.
    """
    now = stripped(conflict(error.fields)["text"]["text"])
    reason = "Slack didn't say which values you saw, so I saved nothing."
    if visible:
        reason = f"Someone else changed {error.labels} while you were editing."
    return f"{reason}\n{now}\n{REFRESH}"


def not_saved(edited: Edited, style: Wording) -> str:
    """Return the values that the service didn't accept, and why if that is known, in plain text."""
    lead = f"{style.service} didn't save everything. " if edited.changed else ""
    missed = (service_change(change, escape(style.service)) for change in edited.not_taken)
    sentences = [lead + stripped(" ".join(missed)), *map(style.sentence, edited.left)]
    return " ".join([*sentences, REFRESH] if edited.changed else sentences)


def _text(value: str | None, **more: str) -> JSON | None:
    return {"value": shortened(clean(value), DESCRIPTION_LENGTH), **more} if value else None


def _moment(value: datetime | None) -> JSON | None:
    return {"value": int(value.timestamp())} if value else None


def editable(fields: JSON, details: EntityDetails) -> JSON:
    """The fields, by Slack's names, with how the user may edit them."""
    marked = fingerprints(details.issue)
    carried = ".".join(marked[field.name] for field in EDITABLE.values())
    edited = dict(fields)

    for name, choices in details.choices.items():
        edit: JSON = {"enabled": True, "optional": not EDITABLE[name].always}
        if choices:
            current = EDITABLE[name].answered(details.issue)
            edit["select"] = {"static_options": [option(ref.name, f"{ref.id}:{carried}") for ref in choices]}
            edit["select"] |= {"current_value": f"{current.id}:{carried}"} if isinstance(current, Ref) else {}
        edited[name] = (edited.get(name) or EMPTY.get(name, {"value": "–"})) | {"edit": edit}
    return edited


def edit_of(view: JSON) -> tuple[Edit, dict[str, str]]:
    """Return the user's changes in the details, and the marks of the fields when they were shown, empty if
    unknown: a field without a mark counts as changed by others.

    Raises ActionExpired for a value that the details didn't offer.
    """
    opened = {field.name: "" for field in EDITABLE.values()}
    values: JSON = {}
    for key, inputs in (view.get("state", {}).get("values") or {}).items():
        if key not in EDITABLE:
            continue

        state: JSON = next(iter(inputs.values()), {})
        if option := state.get("selected_option"):
            number, _, marks = str(option["value"]).partition(":")
            if marks:
                opened |= zip(opened, marks.split("."), strict=False)
            state = state | {"selected_option": option | {"value": number}}
        values[EDITABLE[key].name] = {key: state}
    blocks = [{"type": "input", "block_id": name} for name in values]
    return submitted({"blocks": blocks, "state": {"values": values}}, opened, ""), opened
