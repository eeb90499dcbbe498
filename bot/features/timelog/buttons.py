"""What the time tracking buttons carry."""

from bot.features.timelog.timelog import TimeDraft, TimeToLog
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.surfaces.drafts import SavedDraft


class OpenEmptyTimeForm(Button):
    action = "home.time"


class ChooseTimeIssue(Button):
    action = "time.issue"
    issue: Number


class SavedTime(SavedDraft):
    expired = "This has expired."
    command = "timelog"


class FillTimeForm(SavedTime):
    action = "time.fill"
    time: TimeToLog | TimeDraft


class LogTimeAnyway(SavedTime):
    action = "time.log_anyway"
    time: TimeToLog


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
