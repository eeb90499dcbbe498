"""What the buttons that edit issues carry."""

from bot.slack.buttons import Button, Number


class EditIssue(Button):
    action = "issue.edit"
    issue: Number


class OpenEdit(Button):
    """Opens the form with a change that was typed; `saved` is the ID of the saved change."""

    action = "issue.open_edit"
    issue: Number
    saved: str
