"""What the errors of time tracking say to the user."""

from bot.errors import BotError, Refused
from bot.features.timelog.commands import EditTakesNothing, IssueAndProject, IssueOrDurationMissing
from bot.features.timelog.handlers import DraftExpired, LoggedAlready
from bot.features.timelog.timelog import (
    ActivityNeeded,
    EntryGone,
    LongDay,
    NothingLoggedYet,
    NothingToLogOn,
    NotOwnEntry,
    ProjectNotTold,
)
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    timelog, service = wording.command("timelog"), wording.service
    match error:
        case EditTakesNothing():
            return f"`{timelog} edit` opens your last entry: type it alone."
        case IssueOrDurationMissing():
            return f"Say which issue and how long: `{timelog} 42 1h30`, or try `{timelog} help`."
        case IssueAndProject():
            return "Time is spent on an issue or on a project: leave out one of them."
        case NothingToLogOn():
            return f"Say what you worked on: `{timelog} 42 1h30`, or `project:` and its name."
        case ProjectNotTold(issue=number):
            return f"{service} doesn't tell which project #{number} belongs to."
        case ActivityNeeded(refused=Refused() as refused):
            return wording.sentence(refused)
        case ActivityNeeded():
            return "Say what you did: choose an activity."
        case LongDay():
            return "That adds up to more than 24 hours for one day."
        case LoggedAlready():
            return "That time was logged already."
        case DraftExpired():
            return "That was too long ago: type it once more."
        case NothingLoggedYet():
            return f"You haven't logged time through me yet: `{timelog} 42 1h30` does."
        case NotOwnEntry():
            return "That time was logged by somebody else, or not through me: it stays as it is."
        case EntryGone():
            return f"That entry is no longer in {service}, so it can't be changed: log the time anew."
    return None
