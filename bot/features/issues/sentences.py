"""What the errors of issues say to the user."""

from bot.errors import BotError
from bot.features.issues.assign import TakeUnconfirmed
from bot.features.issues.commands import NumberMissing, OptionNotTaken, SeveralIssues, UnknownSubcommand
from bot.features.issues.handlers import NotShared, PrivateIssueNotShared
from bot.features.issues.issues import IssueNotFound, PrivateIssuesForbidden, SubjectMissing
from bot.slack.posting import Announced
from bot.slack.sentences import NOT_ANNOUNCED
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    issue, service = wording.command("issue"), wording.service
    match error:
        case UnknownSubcommand(text=text):
            return f"To create that issue type `{issue} new {text or '…'}`; to see one, `{issue} 42`."
        case NumberMissing(subcommand=subcommand):
            return f"Say which issue by its number: `{issue} {subcommand}42`."
        case OptionNotTaken(subcommand=subcommand, number=number, option=option):
            return f"`{issue} {subcommand}{number}` takes no options: leave out `{option}:`."
        case SeveralIssues(option=option):
            return f"An issue has one {option}: write `{option}:42`."
        case SubjectMissing():
            return f"An issue needs a subject: `{issue} new The login page is blank`."
        case PrivateIssuesForbidden(project=project):
            return (
                f"{service} doesn't let you create private issues in {project}. "
                "Ask a manager of the project for the right, or create the issue without Private."
            )
        case IssueNotFound(number=number):
            return f"There is no issue #{number} in {service}, or you can't see it."
        case TakeUnconfirmed(number=number):
            return f"{service} broke off, and #{number} isn't yours so far: take it once more."
        case PrivateIssueNotShared(number=number):
            return f"Issue #{number} is private and stays with those who may see it: it can't be shared."
        case NotShared(number=number, why=Announced.UNSURE):
            return f"Issue #{number} may have been shared: Slack broke off, so look before you try again."
        case NotShared(number=number, why=why):
            return f"Issue #{number} was not shared: {NOT_ANNOUNCED[why]}."
    return None
