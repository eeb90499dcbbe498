"""What the errors about comments say to the user."""

from bot.errors import BotError
from bot.features.comments.comments import AddedAlready, CommentDropped, CommentUnconfirmed
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    service = wording.service
    match error:
        case CommentUnconfirmed(number=number, after=None):
            return (
                f"{service} stopped responding, so the comment may not have been saved. Check #{number} "
                "before you try again."
            )
        case CommentUnconfirmed(number=number, unread=True):
            return (
                f"{service} stopped responding, so the comment may not have been saved. Try again, and I'll "
                f"check #{number} first."
            )
        case CommentUnconfirmed(number=number):
            return (
                f"{service} stopped responding, and #{number} doesn't show the comment. Try again, and I'll "
                "check for it first."
            )
        case CommentDropped(number=number):
            return (
                f"{service} didn't add the comment to #{number}. Ask a manager of its project for "
                "permission to comment."
            )
        case AddedAlready(number=number):
            return f"This message is already on #{number}. Check the issue."
    return None
