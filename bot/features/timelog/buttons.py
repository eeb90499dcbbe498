"""What the time tracking buttons carry."""

from bot.slack.buttons import Button, Number


class OpenTimeForm(Button):
    action = "time.open"
    issue: Number


class OpenEmptyTimeForm(Button):
    action = "home.time"


class ChooseIssue(Button):
    """An issue was chosen in the form."""

    action = "time.issue"
    issue: Number


class FillTimeForm(Button):
    action = "time.fill"
    saved: str


class LogTimeAnyway(Button):
    action = "time.log_anyway"
    saved: str


class EditTime(Button):
    action = "time.edit"
    entry: Number
