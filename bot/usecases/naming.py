"""A name as a person types it, found among the names that the service knows."""

from collections.abc import Sequence

from bot.errors import UserError
from bot.service.models import Ref

SHOWN = 8


def pick(kind: str, wanted: str, known: Sequence[Ref]) -> Ref:
    """The one of `known` that `wanted` names: in full, by id, by its beginning or a part, without case.

    Raises UserError with the candidates when there is none or more than one.
    """
    sought = wanted.strip().casefold()
    number = sought.removeprefix("#")
    matches = [ref for ref in known if ref.name.casefold() == sought]
    if not matches and number.isascii() and number.isdigit():
        matches = [ref for ref in known if ref.id == int(number)] or [Ref(id=int(number), name=f"#{number}")]
    if not matches:
        matches = [ref for ref in known if ref.name.casefold().startswith(sought)]
    if not matches:
        matches = [ref for ref in known if sought in ref.name.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UserError(f"“{wanted}” could be {listed(matches)}: write more of the {kind}'s name.")
    if not known:
        raise UserError(f"I don't know a {kind} “{wanted}” here, nor any other: leave it out or give its id.")
    raise UserError(f"There is no {kind} “{wanted}” here: use {listed(known)}.")


def listed(refs: Sequence[Ref]) -> str:
    """`A, B or C`, at most a handful of names and how many more there are."""
    names = [ref.name for ref in refs[:SHOWN]]
    if len(refs) > SHOWN:
        return f"{', '.join(names)} or one of {len(refs) - SHOWN} more"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
