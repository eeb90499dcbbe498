"""The rows of phrases and commands: how patterns with words and slots are read, and which row fits a text."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Generic, NamedTuple, TypeVar, get_args

from bot.slack.language.durations import DURATION
from bot.slack.language.marks import NAMED
from bot.slack.language.phrases import FILLERS, NEGATIONS, PHRASES, QUESTION_WORDS, TALK, VAGUE, VERBS, Where
from bot.slack.language.values import issue_number
from bot.spelling import GOVERNING

T = TypeVar("T")
EVERYTHING = r"\S.*"
BEFORE, AFTER = r"(?:\A|(?<=\S)[,.:!?]{0,9}\s+)", r"(?![^\s,.!?])"
_POLITE = rf"(?:[\s,.!?]+(?:{'|'.join(sorted(TALK, key=len, reverse=True))}){AFTER}){{0,3}}"
_GREETING = re.compile(
    r"\A\s*(?:(?:please|pls|plz|hey|hi|okay|(?-i:ok)|ok(?=[,.!?]))[\s,.!?]+(?=\S))+", re.IGNORECASE
)
_SLOTS = {
    "issue": r"#?[0-9]{1,12}[:,!?\uff1f]*(?!\S)|<?https?://[^\s>]{1,2000}>?[:,]?(?!\S)",
    "duration": DURATION,
    "talk": r"(?:(?:my|account|me|am|i|up|please|in|out|the|to)(?:\s+|(?![^\s.!?])))+",
}


class CommandTable(Generic[T]):
    """Rows of words with alternatives (`a|b`), optional ones (`a?`), named ones (`act=a|b`), and slots.

    A slot without a pattern, such as `{rest}`, takes everything that is left. Punctuation after a word means
    nothing; after the last one, it is the slot `end`, and polite words mean nothing there.
    """

    def __init__(self, *rows: tuple[str, T], **slots: str) -> None:
        known = _SLOTS | slots
        self._rows = [(_compiled(row, known), means) for row, means in rows]
        first = [row.split(" ")[0].removesuffix("?").rpartition("=")[2] for row, _ in rows if row[:1] != "{"]
        self.verbs = {verb for verb in "|".join(first).split("|") if verb[2:]}

    def take(self, text: str, **checks: Callable[[str], object]) -> tuple[T, re.Match[str]] | None:
        """What the text means, with its slots; None if no row fits. A slot's check tells whether it fits."""
        checks = {"issue": issue_number} | checks
        for pattern, means in self._rows:
            match = pattern.match(text)
            slots = match.groupdict().items() if match else ()
            if match and all(
                checks[slot](typed) for slot, typed in slots if typed is not None and slot in checks
            ):
                return means, match
        return None


def shapes(*rows: str, **slots: str) -> CommandTable[None]:
    """A table of which only the slots matter."""
    return CommandTable(*((row, None) for row in rows), **slots)


def without_greeting(text: str) -> str:
    """The text without polite words before a request."""
    return _GREETING.sub("", text)


def _compiled(pattern: str, slots: dict[str, str]) -> re.Pattern[str]:
    row = ""
    for word in pattern.split():
        optional = word.removesuffix("}").endswith("?")
        if word[0] == "{":
            slot = word.strip("{}?")
            one = f"(?P<{slot}>{slots.get(slot, EVERYTHING)})"
        else:
            name, _, choices = word.removesuffix("?").rpartition("=")
            options = "|".join(map(re.escape, choices.split("|"))).replace("'", "['’]")
            one = f"(?{f'P<{name}>' if name else ':'}{options}){AFTER}"
        row += f"(?:{BEFORE}{one}){'?' if optional else ''}"
    return re.compile(rf"{row}{_POLITE}(?P<end>[\s,.!?]*)\Z", re.IGNORECASE | re.DOTALL)


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


class PhraseTable:
    """The rows of `PHRASES` for one command: by their first word, and those that begin with a slot."""

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


TABLES: Mapping[Where, PhraseTable] = {where: PhraseTable(where) for where in get_args(Where)}
_PHRASES = re.sub(r"\{[^{}]*\}", "", " ".join(words for words, *_ in PHRASES))
COMMON = (
    FILLERS | VERBS | TALK | NEGATIONS | QUESTION_WORDS | GOVERNING | {*re.findall(r"[^\W\d_]+", _PHRASES)}
)
"""Words that mean something in a command or in every sentence."""
