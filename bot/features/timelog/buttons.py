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
    """Opens the form with what was typed before."""

    action = "time.fill"
    saved: str


class LogTimeAnyway(Button):
    action = "time.log_anyway"
    saved: str


class LogTimeToday(LogTimeAnyway):
    """In place of a day in the future, whose words stay in the comment."""

    action = "time.log_today"


class ShareTime(Button):
    """Posts an entry in the channel; `agreed` is the project that isn't public which the user agrees to
    show.
    """

    action = "time.share"
    entry: Number
    agreed: Number | None = None


class EditTime(Button):
    action = "time.edit"
    entry: Number


class DeleteTime(Button):
    action = "time.delete"
    entry: Number
