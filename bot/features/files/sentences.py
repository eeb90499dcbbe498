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
            return f"I can't attach the file. {why_lost(error, wording)}"
        case NothingToAttach(missing=missing):
            return " ".join(
                ("I can't attach these files.", *(why_missing(file, wording) for file in missing))
            )
        case CantAttach():
            return f"{wording.service} can't add files to an existing issue. Create a new issue with them."
        case NotUploader():
            return "Someone else attached this file. Only they can rename or describe it here."
        case AttachmentGone(issue=number):
            attach = f"{wording.command('issue')} attach {number}"
            return f"This file is no longer attached to #{number}. To attach it again, type `{attach}`."
        case MessageWithoutFiles():
            return "This message has no files. Choose a message that has some."
        case JobExpired():
            return "This has expired. Attach the files again."
        case RetriedAlready():
            return "You've already retried these files. Check the issue."
    return None
