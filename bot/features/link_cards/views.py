"""The card below a link to an issue, and the details that one viewer sees.

Both come as a Work Object too, which Slack shows instead of the blocks if the app has Work Objects turned on.
Its fields are plain text. Shapes: https://docs.slack.dev/messaging/work-objects-implementation and, in more
detail, slack_sdk.models.metadata.
"""

from datetime import datetime

from bot.features.issues.issues import IssueDetails
from bot.features.issues.views import kind, priority_and_assignee, spent_and_estimated, title
from bot.service.models import Issue
from bot.slack.surfaces.blocks import JSON, context, section, shortened
from bot.slack.text.mrkdwn import clean, spoken, stripped
from bot.slack.text.wording import Wording

TASK = "slack#/entities/task"
REFERENCE = "issue"
DESCRIPTION, NAME = 2000, 255


def card(issue: Issue, style: Wording) -> JSON:
    blocks = (section(f"*{title(issue, style)}*"), context(f"{kind(issue)} · {priority_and_assignee(issue)}"))
    return {"blocks": list(blocks)}


def entity(issue: Issue, style: Wording, posted: str | None = None) -> JSON:
    """The card as a Work Object. `posted` is the link exactly as in the message."""
    fields: JSON = {
        "status": _text(issue.status.name if issue.status else None),
        "priority": _text(issue.priority.name if issue.priority else None),
        "assignee": _text(issue.assigned_to.name if issue.assigned_to else None, type="string"),
    }
    if issue.due_date:
        fields["due_date"] = {"value": issue.due_date.isoformat(), "type": "slack#/types/date"}
    address = {"app_unfurl_url": posted} if posted else {}
    return {
        **address,
        "entity_type": TASK,
        "url": style.url(issue.id),
        "external_ref": {"id": str(issue.id), "type": REFERENCE},
        "entity_payload": {
            "attributes": {
                "title": {"text": shortened(clean(issue.subject), 255) or f"#{issue.id}"},
                "display_id": f"#{issue.id}",
                "display_type": shortened(clean(issue.tracker.name if issue.tracker else ""), NAME)
                or "Issue",
                "product_name": style.service,
            },
            "fields": {name: field for name, field in fields.items() if field},
        },
    }


def details(shown: IssueDetails, style: Wording, description: str) -> JSON:
    issue = shown.issue
    found = entity(issue, style)
    payload = found["entity_payload"]
    more: JSON = {
        "created_by": _text(issue.author.name if issue.author else None, type="string"),
        "date_created": _moment(issue.created_on),
        "date_updated": _moment(issue.updated_on),
        "description": _text(stripped(description)),
    }
    payload["fields"] |= {name: field for name, field in more.items() if field}
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
            "value": shortened(clean(value), NAME),
        }
        for label, value in custom.items()
        if value
    ]
    return found


def refused(title: str, sentence: str) -> JSON:
    return {"status": "custom", "custom_title": title, "custom_message": spoken(sentence)}


def _text(value: str | None, **more: str) -> JSON | None:
    return {"value": shortened(clean(value), DESCRIPTION), **more} if value else None


def _moment(value: datetime | None) -> JSON | None:
    return {"value": int(value.timestamp())} if value else None
