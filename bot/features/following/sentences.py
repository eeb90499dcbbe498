"""What the errors of followed issues say to the user."""

from bot.errors import BotError
from bot.features.following.following import (
    MOST_FOLLOWED,
    AlreadyFollowed,
    PrivateIssueNotFollowed,
    TooManyFollowed,
)
from bot.features.following.handlers import NotFollowed
from bot.slack.posting import Announced
from bot.slack.sentences import NOT_ANNOUNCED
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    match error:
        case PrivateIssueNotFollowed(number=number):
            see = f"{wording.command('issue')} {number}"
            return f"#{number} is private, so a thread can't follow it. Type `{see}` to see it."
        case AlreadyFollowed(number=number):
            return f"This thread already follows #{number}. Its post here is kept up to date."
        case TooManyFollowed():
            most = f"You already follow {MOST_FOLLOWED} issues, the most allowed."
            return f"{most} Stop following one that you don't need, in the menu of its post."
        case NotFollowed(why=Announced.UNSURE):
            return "Slack didn't confirm the post. Check the thread before you try again."
        case NotFollowed(number=number, why=why):
            return f"#{number} can't be followed here: {NOT_ANNOUNCED[why]}."
    return None
