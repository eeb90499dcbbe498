"""What the errors say that several features raise."""

from collections.abc import Sequence

from bot.errors import BotError
from bot.features.name_matching import AmbiguousName, UnknownName
from bot.service.models import Ref
from bot.slack.wording import Wording

SHOWN = 8


def sentence(error: BotError, _: Wording) -> str | None:
    """The sentence for a shared error of the features; None for any other error."""
    match error:
        case AmbiguousName(kind=kind, wanted=wanted, matches=matches):
            return f"“{wanted}” could be {listed(matches)}: write more of the {kind}'s name."
        case UnknownName(kind=kind, wanted=wanted, known=[]):
            return f"I don't know a {kind} “{wanted}” here, nor any other: leave it out or give its id."
        case UnknownName(kind=kind, wanted=wanted, known=known):
            return f"I know of no {kind} “{wanted}” here: use {listed(known)}."
    return None


def listed(refs: Sequence[Ref]) -> str:
    """`A, B or C`, with a count instead of the names past the first few."""
    names = [ref.name for ref in refs[:SHOWN]]
    if len(refs) > SHOWN:
        return f"{', '.join(names)} or one of {len(refs) - SHOWN} more"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
