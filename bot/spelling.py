"""Names like a misspelled one, lists of names in a sentence, long values in fields, and the days' names."""

import hashlib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from heapq import nsmallest
from itertools import chain, islice

from bot.slack_limits import OPTION_VALUE_LENGTH

DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MAX_COMPARED, COMPARED_LENGTH = 40, 60
"""How many names are compared letter by letter, and how many characters of each."""
SURE = 0.7  # how much a word must resemble a name if it may also be meant as it is
_LONG, _COMPARED = 7, 400
DESTRUCTIVE = frozenset(
    {"delete", "remove", "stop", "clear", "off", "unlink", "logout", "signout", "disconnect"}
)
_COMMAS = 3  # how many names take commas
ENOUGH_LETTERS = 3  # how many characters of a name are enough in a guess
GOVERNING = frozenset(
    {
        *("a", "an", "the", "no", "not", "never", "of", "for", "to", "by", "from", "about", "with", "as"),
        *("is", "are", "was", "were", "be", "been", "can", "could", "should", "would", "must", "will"),
        *("can't", "cannot", "couldn't", "don't", "doesn't", "didn't", "won't", "isn't", "aren't", "wasn't"),
        *("when", "where", "why", "how", "who", "which", "what", "if", "or", "than", "because"),
        *("set", "show"),
    }
)
"""Words that take a following phrase into their sentence: `Users can't assign to me` is a subject."""


def similar(word: str, names: Iterable[str], most: int, cutoff: float = 0.6) -> list[str]:
    """The names that resemble `word`, best match first, by their first `COMPARED_LENGTH` characters."""
    word, starts = word[:COMPARED_LENGTH], dict[str, list[str]]()
    for name in names:
        starts.setdefault(name[:COMPARED_LENGTH], []).append(name)
    likely = starts if len(starts) <= MAX_COMPARED else _likely(word, starts)
    starts_of_matches = get_close_matches(word, likely, most, cutoff)
    return list(islice(chain.from_iterable(starts[start] for start in starts_of_matches), most))


def slip(word: str, names: Iterable[str]) -> str | None:
    """The name that a slip of the finger made `word` of: one letter off, or two in seven."""
    word, letters = word[:COMPARED_LENGTH], set(word[:COMPARED_LENGTH])
    most = 1 if len(word) < _LONG else 2
    likely = [
        name
        for name in names
        if abs(len(name) - len(word)) <= most and len(letters.symmetric_difference(name)) <= 2 * most
    ]
    near = ((_distance(word, name), name) for name in likely[:_COMPARED])
    return min(((off, name) for off, name in near if 0 < off <= most), default=(0, None))[1]


def word_meant(typed: str, words: Iterable[str]) -> str | None:
    """Return the command's word that a typing error hides, but never one that removes something or means the
    opposite, as `unclose` does.
    """
    word = None if typed.lower() in GOVERNING else slip(typed.lower(), words)
    turned = word and typed.lower() in (f"un{word}", f"re{word}")
    return None if word in DESTRUCTIVE or turned else word


def _distance(one: str, other: str) -> int:
    """How many letters differ, are missing, or are swapped with the next one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _likely(word: str, names: Iterable[str]) -> list[str]:
    """The names with the most characters in common with `word`, at a fraction of a comparison's price."""
    characters, length = set(word), len(word)
    return nsmallest(
        MAX_COMPARED, names, key=lambda name: len(characters ^ set(name)) + abs(length - len(name))
    )


def squashed(name: str) -> str:
    """A name as people shorten it: `Web Shop` as `webshop`."""
    return "".join(filter(str.isalnum, name.casefold()))


def prose_kind(kind: str) -> str:
    """Return the word for a kind of names in sentences: `tracker` is also the product."""
    return "issue type" if kind == "tracker" else kind


def counted(count: int, noun: str) -> str:
    """`1 issue`, `2 issues`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def series(names: Sequence[str], conjunction: str = "or") -> str:
    """`A`, `A or B`, `A, B, or C`."""
    if len(names) < _COMMAS:
        return f" {conjunction} ".join(names)
    return f"{', '.join(names[:-1])}, {conjunction} {names[-1]}"


_KEY = "option-key:"
FINGERPRINT_LENGTH = 8  # characters: enough to notice that a value is another one


def option_value(value: str) -> str:
    """The value itself, or a key. The value of a key is found among those that the option may stand for."""
    if len(value) <= OPTION_VALUE_LENGTH:
        return value
    return _KEY + hashlib.sha256(value.strip().encode()).hexdigest()


def is_hashed_value(value: str) -> bool:
    return value.startswith(_KEY)


def fingerprint(*contents: str) -> str:
    """A short mark of what a field holds, or shows first: equal unless that changed."""
    text = ", ".join(option_value(one.replace("\r\n", "\n").strip()) for one in contents)
    return hashlib.sha256(text.encode()).hexdigest()[:FINGERPRINT_LENGTH]
