"""What the errors of time tracking say to the user."""

from bot.errors import BotError, Refused
from bot.features.timelog.commands import EditTakesNothing, IssueAndProject
from bot.features.timelog.entry_handlers import PrivateTimeNotShared, TimeNotShared
from bot.features.timelog.handlers import DraftExpired, LoggedAlready
from bot.features.timelog.own_entries import (
    CantDeleteTime,
    EntryGone,
    LongDay,
    NothingLoggedYet,
    NotOwnEntry,
)
from bot.features.timelog.timelog import ActivityNeeded, NothingToLogOn, ProjectNotTold
from bot.slack.sentences import NOT_ANNOUNCED
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    timelog, service = wording.command("timelog"), wording.service
    match error:
        case EditTakesNothing():
            return f"To change or delete your last entry, type `{timelog} edit` on its own."
        case IssueAndProject():
            return "Log time on an issue or a project, not both. Leave one out."
        case NothingToLogOn():
            return f"Which issue is this for? Choose one, or type `{timelog} 42 1h30`."
        case ProjectNotTold(issue=number):
            return f"{service} doesn't say which project #{number} is in. Log the time in {service}."
        case ActivityNeeded(refused=Refused() as refused):
            return wording.sentence(refused)
        case ActivityNeeded():
            return "Choose an activity."
        case LongDay():
            return "That's more than 24 hours for one day."
        case LoggedAlready():
            return "You've already logged this time."
        case DraftExpired():
            return f"This has expired. Start over with `{timelog}`."
        case NothingLoggedYet():
            return f"You haven't logged any time yet. Try `{timelog} 42 1h30`."
        case NotOwnEntry():
            return "I can't change this entry. You may have deleted it, or someone else logged it."
        case EntryGone():
            return f"This entry was deleted in {service}. Log the time again with `{timelog}`."
        case CantDeleteTime():
            return f"{service} doesn't let me delete time. Delete the entry in {service}, or edit it here."
        case PrivateTimeNotShared():
            return "This issue is private, so its time can't be shared."
        case TimeNotShared(why=why):
            said = NOT_ANNOUNCED[why]
            return f"{said[0].upper()}{said[1:]}."
    return None
