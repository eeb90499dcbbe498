"""What the errors about files say to the user."""

from bot.errors import BotError
from bot.features.files.attach import AttachmentGone, CantAttach, NotUploader
from bot.features.files.errors import LostFile
from bot.features.files.handlers import NothingToAttach, RetriedAlready
from bot.features.files.jobs import JobExpired, MessageWithoutFiles
from bot.features.files.views import why_lost, why_missing
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    match error:
        case LostFile():
            return f"The file can't be attached: {why_lost(error, wording)}."
        case NothingToAttach(missing=missing):
            lost = "; ".join(why_missing(file, wording) for file in missing)
            return f"None of these files can be attached. {lost}."
        case CantAttach():
            return (
                f"{wording.service} can't attach files to an issue that exists: create a new one with them."
            )
        case NotUploader():
            return "Somebody else attached that file: only they can rename or describe it here."
        case AttachmentGone(issue=number):
            return f"That file is no longer attached to #{number}."
        case MessageWithoutFiles():
            return "This message has no files: use it on one that has."
        case JobExpired():
            return "That was too long ago: attach the files again."
        case RetriedAlready():
            return "These files were tried again already: look at what came of it."
    return None
