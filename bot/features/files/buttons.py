"""What the buttons about files carry."""

from bot.slack.buttons import Button, Number


class OpenFilesForm(Button):
    action = "files.open"
    issue: Number


class AttachFromMessage(Button):
    """Opens the form for a message's files, with the issue chosen; `job` is the ID of the saved message."""

    action = "files.from_message"
    issue: Number
    job: str


class DescribeFile(Button):
    """Opens the form for an attached file's name and description."""

    action = "files.open_describe"
    issue: Number
    attachment: Number


class RetryFiles(Button):
    """Attaches a saved job's files again."""

    action = "files.retry"
    shows_progress = True
    job: str
