"""Names that resemble a misspelled one, found in bounded time however many and however long they are."""

from collections.abc import Iterable
from difflib import get_close_matches
from heapq import nsmallest

COMPARED, LONGEST = 40, 60
"""How many names are compared letter by letter, and how many characters of each."""


def similar(wanted: str, names: Iterable[str], most: int, cutoff: float = 0.6) -> list[str]:
    """The names that resemble `wanted`, best match first. A name counts by its first `LONGEST` characters."""
    wanted, starts = wanted[:LONGEST], dict[str, list[str]]()
    for name in names:
        starts.setdefault(name[:LONGEST], []).append(name)
    likely = starts if len(starts) <= COMPARED else _likely(wanted, starts)
    found = get_close_matches(wanted, likely, most, cutoff)
    return [name for start in found for name in starts[start]][:most]


def _likely(wanted: str, names: Iterable[str]) -> list[str]:
    """The names with the most characters in common with `wanted`, at a fraction of a comparison's price."""
    characters, length = set(wanted), len(wanted)
    return nsmallest(COMPARED, names, key=lambda name: len(characters ^ set(name)) + abs(length - len(name)))
