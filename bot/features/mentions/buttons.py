"""What the buttons below the answer to a message carry."""

from typing import Any

from bot.features.issues.fields import Draft
from bot.slack.surfaces.drafts import SavedDraft


class RunCommand(SavedDraft):
    """Runs a command where the message was; `payload` is as in `ResumeRequest`."""

    action = "mention.run"
    payload: dict[str, Any]


class OpenDraftThere(SavedDraft):
    """Opens the form for a new issue, which is then announced where the message was."""

    action = "mention.create"
    command = "issue"
    draft: Draft
    place: dict[str, Any]
