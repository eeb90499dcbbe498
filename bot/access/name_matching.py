"""Matches a name that a user typed with the names in the service."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from bot.errors import UserError
from bot.service.conventions import IDENTIFIER_LENGTH
from bot.service.models import Ref
from bot.spelling import GOVERNING, counted, prose_kind, series, similar, slip

MAX_WRONG_NAMES = 3  # how many wrong names of one list a message has
MAX_CANDIDATES = 8
_NEAR = 3


class UnclearName(UserError):
    """No item, or several `matches`, have the name that the user typed; `known` are those there are."""

    says = "{problem}"
    kind: str
    query: str
    known: Sequence[Ref]
    matches: Sequence[Ref] = ()

    @cached_property
    def near(self) -> list[Ref]:
        """The items with similar names, best match first; none if several match."""
        if self.matches:
            return []
        by_name = {ref.name.casefold(): ref for ref in reversed(self.known)}
        return [by_name[name] for name in similar(self.query.strip().casefold(), by_name, _NEAR)]

    @property
    def correction(self) -> tuple[str, str] | None:
        near = self.near[0].name if self.near else ""
        return (self.query, near) if slip(self.query.strip().casefold(), [near.casefold()]) else None

    @property
    def problem(self) -> UserError:
        kind = prose_kind(self.kind)
        if self.matches:
            return UserError(
                "“{query}” could be {candidates}. Type more of the {kind}'s name.",
                query=self.query,
                candidates=listed(self.matches),
                kind=kind,
            )
        how = f"Did you mean {listed(self.near)}?" if self.near else f"Try {listed(self.known)}."
        return UserError(
            "{none} called “{query}”{here}. {how}",
            none="No one" if self.kind == "person" else f"No {kind}",
            query=self.query,
            here=" here" if self.kind == "person" else "",
            how=how if self.known else "Leave it out, or use its ID.",
        )


def listed(refs: Sequence[Ref], conjunction: str = "or") -> str:
    """`A, B, or C`, with a count instead of the names past the first few."""
    names = [ref.name for ref in refs[:MAX_CANDIDATES]]
    if others := len(refs) - len(names):
        several = "one other" if others == 1 else f"one of {others} others"
        names.append(several if conjunction == "or" else counted(others, "other"))
    return series(names, conjunction)


class NameIndex:
    """Names to look up. They are folded once, so that a list of names may be looked up in a long list."""

    def __init__(self, kind: str, known: Sequence[Ref]) -> None:
        self._kind = kind
        self._known = known
        self._folded = [(ref.name.casefold(), ref) for ref in known]

    def pick(self, text: str) -> Ref:
        """The item that matches `text` by full name, ID, prefix or substring, ignoring case.

        Raises UnclearName.
        """
        query = text.strip().casefold()
        containing = [(name, ref) for name, ref in self._folded if query in name]
        matches = [ref for name, ref in containing if name == query]
        if not matches and re.fullmatch("#[0-9]{1,9}", query):
            matches = self._with_id(int(query[1:]))
        if not matches:
            matches = [ref for name, ref in containing if name.startswith(query)]
        if not matches and re.fullmatch("[0-9]{1,9}", query):
            matches = self._with_id(int(query))
        matches = matches or [ref for _, ref in containing]

        if len(matches) == 1:
            return matches[0]
        raise UnclearName(self._kind, text, self._known, matches)

    def _with_id(self, number: int) -> list[Ref]:
        return [ref for ref in self._known if ref.id == number] or [Ref(id=number, name=f"#{number}")]


def pick(kind: str, text: str, known: Sequence[Ref]) -> Ref:
    """The item of `known` that `NameIndex` picks. Raises UnclearName."""
    return NameIndex(kind, known).pick(text)


def meant(error: UnclearName) -> Sequence[Ref]:
    """The items that the name may mean: those that match, else those like it, else all."""
    return error.matches or error.near or error.known


def probable(error: UserError) -> Ref | None:
    """The item that a misspelled name probably means: the only one that it resembles."""
    near = error.near if isinstance(error, UnclearName) else []
    return near[0] if len(near) == 1 else None


def name_at_edge(text: str, names: Sequence[str]) -> tuple[str, str] | None:
    """The longest name that a text begins or ends with, and the rest of it.

    At the end it isn't one after a governing word, or one of several: `review with support`.
    """
    folded = text.casefold()
    for name in sorted(names, key=len, reverse=True):
        called = name.casefold()
        if folded == called or folded.startswith((f"{called} ", f"{called}:", f"{called},")):
            return name, text[len(name) :].lstrip(" :,")
        before = folded.removesuffix(f" {called}")
        if before != folded and not (GOVERNING | {"and", "&"}).intersection(before.split()[-1:]):
            return name, text[: -len(name)].rstrip(" :,")
    return None


def identifier_of(name: str) -> str:
    """A project identifier derived from a name: `Web Shop (new)` becomes `web-shop-new`.

    Empty if the name yields no valid identifier: lowercase letters, digits and dashes, not only digits.
    """
    ascii_only = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    identifier = re.sub(r"[^a-z0-9]+", "-", ascii_only)[:IDENTIFIER_LENGTH].strip("-")
    return "" if identifier.replace("-", "").isdigit() else identifier
