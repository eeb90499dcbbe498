"""What the errors of changing issues say to the user."""

from bot.errors import BotError
from bot.features.editing.commands import NeverEmpty, WordsNotUnderstood
from bot.features.editing.editing import EditConflict
from bot.features.editing.edits import StatusNotAllowed, Step, StepNotAllowed
from bot.features.sentences import listed
from bot.features.series import series
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    match error:
        case WordsNotUnderstood(text=text):
            return (
                f"I don't understand “{text}”. Type what to change, such as `close`, `to:me`, or "
                "`due:friday`, or open the form."
            )
        case NeverEmpty(key=key, label=label):
            return f"{label} can't be empty. Type a value after `{key}:`."
        case StatusNotAllowed(number=number, status=status, allowed=allowed):
            return f"{wording.service} doesn't let you set #{number} to {status}. Choose {listed(allowed)}."
        case StepNotAllowed(number=number, step=step, allowed=allowed):
            does = "close" if step is Step.CLOSE else "reopen"
            can = "status you can choose is" if len(allowed) == 1 else "statuses you can choose are"
            return f"{wording.service} doesn't let you {does} #{number}. The {can} {listed(allowed, 'and')}."
        case EditConflict(fields=fields):
            labels = series([field.label for field in fields], "and")
            return f"Someone else changed {labels} while you were editing. Check below, then save again."
    return None
