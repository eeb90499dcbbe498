"""Matches a name that a user typed with the names in the service."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches

from bot.errors import UserError
from bot.service.conventions import IDENTIFIER_LENGTH
from bot.service.models import Ref


class UnknownName(UserError):
    """No item has the name that the user typed; `known` are those there are."""

    kind: str
    wanted: str
    known: Sequence[Ref]


class AmbiguousName(UserError):
    """Several items match the name that the user typed."""

    kind: str
    wanted: str
    matches: Sequence[Ref]


def pick(kind: str, wanted: str, known: Sequence[Ref]) -> Ref:
    """The item of `known` that matches `wanted` by full name, ID, prefix or substring, ignoring case.

    Raises UnknownName or AmbiguousName.
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
        raise AmbiguousName(kind, wanted, matches)
    raise UnknownName(kind, wanted, known)


def closest(wanted: str, known: Sequence[Ref]) -> list[Ref]:
    """The items whose names are similar to a misspelled one, best match first."""
    by_name = {ref.name.casefold(): ref for ref in reversed(known)}
    return [by_name[name] for name in get_close_matches(wanted.strip().casefold(), by_name, n=3)]


def meant(error: AmbiguousName | UnknownName) -> Sequence[Ref]:
    """The items that an unknown or ambiguous name may mean: those like it, or else all."""
    if isinstance(error, AmbiguousName):
        return error.matches
    return closest(error.wanted, error.known) or error.known


def probable(error: UserError) -> Ref | None:
    """The item that a misspelled name probably means: the only one that it resembles."""
    near = closest(error.wanted, error.known) if isinstance(error, UnknownName) else []
    return near[0] if len(near) == 1 else None


def identifier_of(name: str) -> str:
    """A project identifier derived from a name: `Web Shop (new)` becomes `web-shop-new`.

    Empty if the name yields no valid identifier: lowercase letters, digits and dashes, not only digits.
    """
    ascii_only = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    identifier = re.sub(r"[^a-z0-9]+", "-", ascii_only)[:IDENTIFIER_LENGTH].strip("-")
    return "" if identifier.replace("-", "").isdigit() else identifier
