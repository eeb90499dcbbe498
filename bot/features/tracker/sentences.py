"""How `/tracker` words the errors of its commands."""

from bot.errors import BotError
from bot.features.tracker.commands import NothingTakenAfter, NotOneMention, UserNotNamed
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    tracker = wording.command("tracker")
    match error:
        case NothingTakenAfter(command=command):
            return f"Type `{tracker} {command}` on its own."
        case NotOneMention():
            new = f"{tracker} user new"
            return f"Mention one person, such as `{new} @gwen`, or type `{new}` on its own."
        case UserNotNamed(command=command):
            typed = f"{tracker} {command}"
            return f"Mention the person or use their ID: `{typed} @name` or `{typed} 5`."
    return None
