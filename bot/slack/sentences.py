"""What the platform's errors say to the user: one sentence for what happened, one for what to do."""

from bot.errors import BotError
from bot.slack.buttons import ActionExpired
from bot.slack.wording import Wording


def sentence(error: BotError, _: Wording) -> str | None:
    """The sentence for an error of the platform; None for any other error."""
    match error:
        case ActionExpired():
            return "I can't tell what that was about: begin anew."
    return None
