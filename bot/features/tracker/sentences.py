"""What `/tracker` says about a command that it can't read."""

from bot.errors import BotError
from bot.features.tracker.commands import NothingTakenAfter, NotOneMention, ProjectNotNamed, UserNotNamed
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    tracker = wording.command("tracker")
    match error:
        case NothingTakenAfter(command=command):
            return f"`{tracker} {command}` takes nothing after it: type it alone."
        case ProjectNotNamed():
            return f"Say which project: `{tracker} project website`, or `{tracker} projects` for all of them."
        case NotOneMention():
            return (
                "Mention the one person who gets the account, from the list that Slack offers after `@`, or "
                f"type `{tracker} user new` alone."
            )
        case UserNotNamed(command=command):
            typed = f"{tracker} {command}"
            return f"Say who by number or mention: `{typed} 5`, `{typed} @name` or `{typed} me`."
    return None
