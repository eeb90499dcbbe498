"""What the buttons of changes carry."""

from datetime import timedelta

from bot.errors import UserError
from bot.features.editing.editing import Edit
from bot.slack.surfaces.buttons import Number
from bot.slack.surfaces.drafts import SavedDraft


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
    """Restores the values before a change, `back`; `after` are the `marks` of those that it made."""

    action = "issue.undo"
    gone = UndoExpired
    lifetime = timedelta(minutes=10)
    issue: Number
    back: Edit
    after: dict[str, str]
