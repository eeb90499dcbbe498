"""What the buttons about comments carry."""

from bot.slack.buttons import Button, Number


class CommentOnIssue(Button):
    """Opens the form for a comment on an issue."""

    action = "comment.open"
    issue: Number


class CommentWithMessage(Button):
    """Opens the form that adds a message to an issue; `job` is the ID of the saved message and files."""

    action = "comment.with_message"
    issue: Number
    job: str


class OpenComment(Button):
    """Opens the form with a saved comment; `saved` is its ID."""

    action = "comment.open_saved"
    saved: str


class ChooseIssue(Button):
    """An issue was chosen in the form."""

    action = "comment.issue"
    issue: Number
