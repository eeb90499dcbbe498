"""What the buttons about comments carry."""

from bot.slack.surfaces.buttons import Button, Number
from bot.slack.surfaces.drafts import SavedDraft


class CommentWithMessage(Button):
    """Opens the form that adds a message to an issue; `job` is the ID of the saved message and files."""

    action = "comment.with_message"
    issue: Number
    job: str


class OpenComment(SavedDraft):
    """Opens the form with a comment. The job `files` has the message that it adds, if any; `after` is as in
    `Comment`, and `checked` whether the user was asked to look for it on the issue.
    """

    action = "comment.open_saved"
    command = "issue"
    issue: Number
    text: str
    files: str | None = None
    after: Number | None = None
    checked: bool = False


class ChooseIssue(Button):
    action = "comment.issue"
    issue: Number
