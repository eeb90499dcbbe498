"""A name as a person types it, found among the names that the service knows."""

import re
import unicodedata
from collections.abc import Sequence

from bot.errors import UserError
from bot.service.conventions import IDENTIFIER_LENGTH
from bot.service.models import Ref

SHOWN = 8


def pick(kind: str, wanted: str, known: Sequence[Ref]) -> Ref:
    """The one of `known` that `wanted` names: in full, by id, by its beginning or a part, without case.

    Raises UserError with the candidates when there is none or more than one.
    """
    sought = wanted.strip().casefold()
    matches = [ref for ref in known if ref.name.casefold() == sought]
    if not matches and re.fullmatch("#[0-9]{1,9}", sought):
        number = int(sought[1:])
        matches = [ref for ref in known if ref.id == number] or [Ref(id=number, name=sought)]
    if not matches:
        matches = [ref for ref in known if ref.name.casefold().startswith(sought)]
    if not matches and re.fullmatch("[0-9]{1,9}", sought):
        matches = [ref for ref in known if ref.id == int(sought)] or [Ref(id=int(sought), name=f"#{sought}")]
    if not matches:
        matches = [ref for ref in known if sought in ref.name.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UserError(f"“{wanted}” could be {listed(matches)}: write more of the {kind}'s name.")
    if not known:
        raise UserError(f"I don't know a {kind} “{wanted}” here, nor any other: leave it out or give its id.")
    raise UserError(f"I know of no {kind} “{wanted}” here: use {listed(known)}.")


def listed(refs: Sequence[Ref]) -> str:
    """`A, B or C`, at most a handful of names and how many more there are."""
    names = [ref.name for ref in refs[:SHOWN]]
    if len(refs) > SHOWN:
        return f"{', '.join(names)} or one of {len(refs) - SHOWN} more"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def identifier_of(name: str) -> str:
    """A project's identifier made of its name: `Web Shop (new)` → `web-shop-new`.

    Empty where nothing of the name can be in one (lower case letters, digits, dashes; not digits alone).
    """
    ascii_only = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    made = re.sub(r"[^a-z0-9]+", "-", ascii_only)[:IDENTIFIER_LENGTH].strip("-")
    return "" if made.replace("-", "").isdigit() else made
