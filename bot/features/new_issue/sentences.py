"""What the errors of the form for a new issue say to the user."""

from bot.errors import BotError
from bot.features.new_issue.thread import ThreadUnreadable, Unread
from bot.slack.wording import Wording


def sentence(error: BotError, _: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    match error:
        case ThreadUnreadable(why=Unread.SCOPE, scope=scope):
            what = f"I can't read the thread. Ask an administrator to grant me the scope `{scope}`"
        case ThreadUnreadable(why=Unread.DIRECT):
            what = "I can't read direct messages between people. Copy what matters into the description"
        case ThreadUnreadable(why=Unread.NOT_MEMBER):
            what = "I can't read the thread. Invite me with `/invite @Issue Bot`"
        case ThreadUnreadable(why=Unread.LEFT):
            what = "You're no longer in this conversation. Ask to be added"
        case ThreadUnreadable(why=Unread.LIMITED):
            what = "Slack limits how fast I can read threads. Try again in a minute"
        case ThreadUnreadable():
            what = "Slack didn't send the thread. Try again in a minute"
        case _:
            return None
    return f"{what}, or create the issue without the thread."
