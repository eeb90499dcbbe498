"""How errors that several features raise are worded."""

from collections.abc import Sequence

from bot.errors import BotError
from bot.features.name_matching import AmbiguousName, UnknownName
from bot.features.series import series
from bot.service.models import Ref
from bot.slack.wording import Wording

SHOWN = 8


def sentence(error: BotError, _: Wording) -> str | None:
    """The sentence for a shared error of the features; None for any other error."""
    match error:
        case AmbiguousName(kind=kind, wanted=wanted, matches=matches):
            return f"“{wanted}” could be {listed(matches)}. Type more of the {kind}'s name."
        case UnknownName(kind=kind, wanted=wanted, known=[]):
            return f"{_no(kind, wanted)} Leave it out, or use its ID."
        case UnknownName(kind=kind, wanted=wanted, known=known, near=near):
            return (
                f"{_no(kind, wanted)} {f'Did you mean {listed(near)}?' if near else f'Try {listed(known)}.'}"
            )
    return None


def _no(kind: str, wanted: str) -> str:
    return f"No one called “{wanted}” here." if kind == "person" else f"No {kind} called “{wanted}”."


def listed(refs: Sequence[Ref], conjunction: str = "or") -> str:
    """`A, B, or C`, with a count instead of the names past the first few."""
    names = [ref.name for ref in refs[:SHOWN]]
    if len(refs) > SHOWN:
        names.append(f"{len(refs) - SHOWN} more")
    return series(names, conjunction)
