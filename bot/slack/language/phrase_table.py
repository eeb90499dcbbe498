"""The rows of `PHRASES` for each command, in all their wordings."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple, get_args

from bot.slack.language.marks import NAMED
from bot.slack.language.phrases import PHRASES, VAGUE, Where


class Slot(NamedTuple):
    """A place for a value; if the row is `sure` of it, words that aren't known are taken, too."""

    name: str
    sure: bool


@dataclass(frozen=True)
class Row:
    """A phrase in one of its wordings; the flags are those of `PHRASES`."""

    words: tuple[str | Slot, ...]
    means: tuple[tuple[str, str], ...]
    weak: bool = False
    separated: bool = False
    front: bool = False

    @property
    def literals(self) -> tuple[str, ...]:
        return tuple(word for word in self.words if isinstance(word, str))

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of names that it may hold."""
        slots = (word.name for word in self.words if isinstance(word, Slot))
        return frozenset(NAMED[slot] for slot in slots if slot in NAMED)


class Table:
    """The rows of one command: by their first word, and those that begin with a slot."""

    def __init__(self, where: Where) -> None:
        self.first: dict[str, list[Row]] = defaultdict(list)
        self.slots: list[Row] = []
        for pattern, means, commands in PHRASES:
            if where not in commands:
                continue
            options = tuple((key, value) for key, _, value in (one.partition(":") for one in means.split()))
            phrase = pattern.lstrip("~,:")
            flags = pattern.removesuffix(phrase)
            weak, front = "~" in flags, ":" in flags
            for words in product(*map(_variants, phrase.split())):
                row = Row(tuple(filter(None, words)), options, weak, front or "," in flags, front)
                begin = row.words[0]
                (self.first[begin] if isinstance(begin, str) else self.slots).append(row)

        for rows in self.first.values():
            rows.sort(key=lambda row: (isinstance(row.words[-1], Slot), -len(row.words)))
        halves = (row.words[:-1] for row in chain(*self.first.values()) if isinstance(row.words[-1], Slot))
        self.halves = {half for half in halves if not VAGUE.issuperset(half)}


def _variants(word: str) -> tuple[str | Slot, ...]:
    """What a word of a pattern stands for; an empty one may be left out."""
    if word.startswith("{"):
        return (Slot(word[1:-1].removesuffix("!"), word.endswith("!}")),)
    return (*word.removesuffix("?").split("|"), *(("",) if word.endswith("?") else ()))


TABLES: Mapping[Where, Table] = {where: Table(where) for where in get_args(Where)}
