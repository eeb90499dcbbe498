"""What the buttons about files carry."""

from bot.slack.surfaces.buttons import Button, Number


class AttachFromMessage(Button):
    """Opens the form for a message's files, with the issue chosen; `job` is the ID of the saved message."""

    action = "files.from_message"
    issue: Number
    job: str


class DescribeFile(Button):
    action = "files.open_describe"
    issue: Number
    attachment: Number


class RetryFiles(Button):
    action = "files.retry"
    shows_progress = True
    job: str
