"""What the errors of issues say to the user."""

from bot.errors import BotError
from bot.features.issues.commands import SubjectTooLong
from bot.features.issues.creating import PrivateIssuesForbidden, SubjectMissing
from bot.features.issues.errors import NotUnderstood, UnknownSubcommand, ValueGone
from bot.features.issues.handlers import NotShared, PrivateIssueNotShared
from bot.features.issues.issues import IssueNotFound
from bot.features.issues.options import SeveralIssues
from bot.features.issues.updates import UpdatesUnsupported, UpdateUnconfirmed
from bot.slack.posting import Announced
from bot.slack.sentences import NOT_ANNOUNCED
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    issue, service = wording.command("issue"), wording.service
    match error:
        case NotUnderstood(problem=problem, others=others):
            return " ".join(dict.fromkeys(map(wording.sentence, (problem, *others))))
        case UnknownSubcommand(text=text):
            return (
                f"To create that issue, type `{issue} new {text or '…'}`. To see one, type `{issue} 42`. "
                f"To search, type `{wording.command('issues')}`."
            )
        case SeveralIssues(option=option):
            return f"An issue can have only one {option}: `{option}:42`."
        case ValueGone():
            return "This value isn't in the list anymore. Choose another one."
        case SubjectMissing():
            return f"Add a subject: `{issue} new The login page is blank`."
        case SubjectTooLong(length=length, longest=longest):
            return f"The subject has {length} characters. The limit is {longest}."
        case PrivateIssuesForbidden(project=project):
            return (
                f"{service} doesn't let you create private issues in {project}. "
                "Turn off Private, or ask a manager of the project for permission."
            )
        case IssueNotFound(number=number):
            return (
                f"There's no issue #{number} in {service}, or you can't see it. Check the number, or search "
                f"with `{wording.command('issues')}`."
            )
        case UpdatesUnsupported(number=number):
            return f"{service} doesn't let me change issues. Open #{number} to change it there."
        case UpdateUnconfirmed(number=number):
            return f"{service} stopped responding, and #{number} doesn't show the change. Try again."
        case PrivateIssueNotShared(number=number):
            return f"#{number} is private, so it can't be shared."
        case NotShared(number=number, why=Announced.UNSURE):
            return f"Slack didn't confirm that #{number} was shared. Check the channel before you try again."
        case NotShared(number=number, why=why):
            return f"#{number} wasn't shared: {NOT_ANNOUNCED[why]}."
    return None
