"""Matches a name that a user typed with the names in the service."""

import re
import unicodedata
from collections.abc import Sequence

from bot.errors import UserError
from bot.service.conventions import IDENTIFIER_LENGTH
from bot.service.models import Ref

SHOWN = 8


def pick(kind: str, wanted: str, known: Sequence[Ref]) -> Ref:
    """The item of `known` that matches `wanted` by full name, ID, prefix or substring, ignoring case.

    Raises UserError with the candidates if none or several match.
    """
    query = wanted.strip().casefold()
    matches = [ref for ref in known if ref.name.casefold() == query]
    if not matches and re.fullmatch("#[0-9]{1,9}", query):
        number = int(query[1:])
        matches = [ref for ref in known if ref.id == number] or [Ref(id=number, name=query)]
    if not matches:
        matches = [ref for ref in known if ref.name.casefold().startswith(query)]
    if not matches and re.fullmatch("[0-9]{1,9}", query):
        matches = [ref for ref in known if ref.id == int(query)] or [Ref(id=int(query), name=f"#{query}")]
    if not matches:
        matches = [ref for ref in known if query in ref.name.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UserError(f"“{wanted}” could be {listed(matches)}: write more of the {kind}'s name.")
    if not known:
        raise UserError(f"I don't know a {kind} “{wanted}” here, nor any other: leave it out or give its id.")
    raise UserError(f"I know of no {kind} “{wanted}” here: use {listed(known)}.")


def listed(refs: Sequence[Ref]) -> str:
    """`A, B or C`, with a count instead of the names past the first few."""
    names = [ref.name for ref in refs[:SHOWN]]
    if len(refs) > SHOWN:
        return f"{', '.join(names)} or one of {len(refs) - SHOWN} more"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def identifier_of(name: str) -> str:
    """A project identifier derived from a name: `Web Shop (new)` becomes `web-shop-new`.

    Empty if the name yields no valid identifier: lowercase letters, digits and dashes, not only digits.
    """
    ascii_only = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    identifier = re.sub(r"[^a-z0-9]+", "-", ascii_only)[:IDENTIFIER_LENGTH].strip("-")
    return "" if identifier.replace("-", "").isdigit() else identifier
