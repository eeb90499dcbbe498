"""Reads phrases: finds those of `phrases` in words, and makes them options."""

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import get_args

from bot.errors import UserError
from bot.slack.language import dates
from bot.slack.language.dates import Today
from bot.slack.language.options import Parsed
from bot.slack.language.phrases import (
    AND,
    FILLERS,
    NOBODY,
    NOUNS,
    PHRASES,
    POLITE,
    SELF,
    URGENT,
    VERBS,
    Where,
)
from bot.slack.language.questions import is_question
from bot.slack.language.tokens import Atom, Value, Word
from bot.spelling import ENOUGH, GOVERNING

Names = Mapping[str, Collection[str]]  # names that the person may use, by kind

LONGEST = 6  # how many words a name or a date may take
MAX_WORDS = 60  # how many words are read for phrases; what follows is text
MAX_VALUE = 20  # how many words a value takes that isn't looked up
_COMPARED = {"before": "<", "after": ">", "since": ">=", "from": ">="} | dict.fromkeys(
    ("until", "till", "by"), "<="
)
_WITHIN = re.compile(r"(?:in |within |during |over )?(?:the )?((?:last|past|next|this) .+)")
_END = ".,;!?"
_PERCENT = re.compile(r"[0-9]{1,3} ?%")
_POSSESSIVE = re.compile(r"(.+?)['’]s?")


@dataclass(frozen=True)
class Phrase:
    """`count` words from `at`, as typed, and the options that they stand for."""

    at: int
    count: int
    said: str
    options: Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True)
class _Row:
    words: tuple[str, ...]
    means: tuple[tuple[str, str], ...]


def _rows() -> dict[Where, dict[str, list[_Row]]]:
    """The rows of each command by their first word; those that begin with a slot are under it."""
    found: dict[Where, dict[str, list[_Row]]] = {where: defaultdict(list) for where in get_args(Where)}
    for said, means, commands in PHRASES:
        options = tuple((key, value) for key, _, value in (one.partition(":") for one in means.split()))
        for words in product(*(_variants(word) for word in said.split())):
            row = _Row(tuple(filter(None, words)), options)
            for where in commands:
                found[where][row.words[0]].append(row)
    for rows in found.values():
        for same in rows.values():
            same.sort(key=lambda row: (row.words[-1][0] == "{", -len(row.words)))
    return found


def _variants(word: str) -> tuple[str, ...]:
    if word.startswith("{"):
        return (word,)
    return (*word.removesuffix("?").split("|"), *(("",) if word.endswith("?") else ()))


@dataclass(frozen=True)
class Reader:
    """Finds phrases in words. `names` are those that may be used, and `today` is the person's."""

    where: Where
    names: Names
    today: Today
    _folded: dict[str, dict[str, str]] = field(default_factory=dict, init=False)
    _texts: dict[str, str] = field(default_factory=dict, init=False)
    """By kind, the names in one text, with a space before each of their words."""

    def __post_init__(self) -> None:
        for kind, names in self.names.items():
            self._folded[kind] = {name.casefold(): name for name in names}
        priorities = self._folded.get("priority", {})
        self._folded["urgent"] = {name: called for name, called in priorities.items() if name in URGENT}
        plurals = {plural(name): called for name, called in self._folded.get("tracker", {}).items()}
        self._folded["tracker"] = {**plurals, **self._folded.get("tracker", {})}

    def at(self, words: Sequence[Word], start: int) -> Phrase | None:
        """The longest phrase that begins at `start`."""
        rows = ROWS[self.where]
        first = _plain(words[start])
        named = [row for slot in _SLOTS_FIRST for row in rows.get(slot, ())]
        best: Phrase | None = None
        for row in (*rows.get(first or " ", ()), *named):
            found = self._matched(row, words, start)
            if found and (best is None or found.count > best.count):
                best = found
        return best

    def _matched(self, row: _Row, words: Sequence[Word], start: int) -> Phrase | None:
        at, values = start, dict[str, Value]()
        for expected in row.words:
            if at >= len(words):
                return None
            if not expected.startswith("{"):
                if _plain(words[at]) != expected:
                    return None
                at += 1
                continue
            slot, sure = expected[1:-1].removesuffix("!"), expected.endswith("!}")
            taken = self._slot(slot, words, at, leads=at > start)
            if taken is None and sure and self.where != "new":  # an unknown name is told as one
                taken = self._run(words, at) if self.where == "change" else (Value(words[at].atoms), 1)
            if taken is None:
                return None
            values[slot], count = taken
            at += count
        options = {key: (_filled(value, values),) for key, value in row.means}
        return Phrase(start, at - start, " ".join(word.source for word in words[start:at]), options)

    def _slot(self, slot: str, words: Sequence[Word], at: int, *, leads: bool) -> tuple[Value, int] | None:
        """The value of the longest run of words at `at` that fits, and how many they are."""
        if slot == "title" and words[at].text[:1].islower():
            return None
        if slot in ("value", "rest", "title"):
            return self._run(words, at, to_end=slot != "value")
        if words[at].quoted or words[at].user:
            fits = slot == "person" or (leads and words[at].quoted and slot in self._folded)
            return (Value(words[at].atoms), 1) if fits else None
        for count in range(min(LONGEST, len(words) - at), 0, -1):
            run = words[at : at + count]
            if any(_plain(word) is None for word in run):
                continue
            typed = " ".join(word.text for word in run).strip().rstrip(_END)
            if typed and (found := self._value(slot, typed, leads=leads)):
                return Value((Atom(found),)), count
        return None

    def _run(self, words: Sequence[Word], at: int, *, to_end: bool = False) -> tuple[Value, int]:
        """The words up to the next phrase, or all of them."""
        end = len(words) if to_end else next(self._starts(words, at + 1), min(len(words), at + MAX_VALUE))
        while end > at + 1 and not to_end and _plain(words[end - 1]) in POLITE:
            end -= 1
        if end == at + 1 and _plain(words[at]) is None:
            return Value(words[at].atoms), 1
        text = " ".join(word.text for word in words[at:end])
        return Value((Atom(text if to_end else text.rstrip(_END) or text),)), end - at

    def _starts(self, words: Sequence[Word], at: int) -> Iterator[int]:
        """Where another phrase begins, by the words before its slot."""
        for n in range(at, min(len(words), at + MAX_VALUE)):
            begin = n + (_plain(words[n]) in AND)
            plain = [_plain(word) for word in words[begin : begin + LONGEST]]
            for row in ROWS[self.where].get(plain[0] or "", ()) if plain else ():
                literal = [word for word in row.words if not word.startswith("{")]
                if plain[: len(literal)] == literal and begin + len(row.words) <= len(words):
                    yield n

    def _value(self, slot: str, typed: str, *, leads: bool) -> str | None:
        folded = typed.casefold()
        if slot in ("day", "dates", "times"):
            return _dates(slot, folded, self.today)
        if slot == "owner":
            match = _POSSESSIVE.fullmatch(folded)
            return self._person(match[1]) if match else None
        if slot == "person":
            return self._person(folded)
        if slot in ("percent", "word"):
            fits = " " not in typed if slot == "word" else _PERCENT.fullmatch(typed)
            return typed if fits else None
        called = self._folded.get(slot, {}).get(folded)
        return called or (typed if leads and self._begins(slot, folded) else None)

    def _person(self, folded: str) -> str | None:
        if folded in SELF:
            return "me"
        if folded in NOBODY:
            return {"search": "nobody", "change": "none"}.get(self.where)
        name = folded.removeprefix("@")
        return name if self._begins("person", name) else None

    def _begins(self, kind: str, typed: str) -> bool:
        """Whether a name, or one of its words, begins with what was typed: words in full, to log time on."""
        if kind not in self._texts:
            names = (" ".join(name.split()) for name in self._folded.get(kind, ()))
            self._texts[kind] = "".join(f" {name} \n" for name in names)
        in_full = self.where == "time"
        end = " " if in_full or len(typed) < ENOUGH else ""
        governs = in_full and typed in GOVERNING  # `in the office`, but `for will` may name somebody
        return len(typed) > 1 and not governs and f" {typed}{end}" in self._texts[kind]


def plural(name: str) -> str:
    """`bug` → `bugs`, `story` → `stories`."""
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _plain(word: Word) -> str | None:
    """The word as rows have it; None if it is quoted or mentions somebody."""
    if any(atom.quoted or atom.user for atom in word.atoms):
        return None
    return word.text.casefold().replace("’", "'").rstrip(_END) or word.text


def _filled(value: str, values: Mapping[str, Value]) -> Value:
    match = re.fullmatch(r"\{(\w+)!?\}", value)
    return values[match[1]] if match else Value((Atom(value),))


def _dates(slot: str, typed: str, today: Today) -> str | None:
    """The value of an option for these dates: `before friday` is `<friday`."""
    first, _, rest = typed.partition(" ")
    if slot != "day" and first in _COMPARED and rest:
        typed = _COMPARED[first] + rest.removeprefix("the ")
    elif slot != "day" and (match := _WITHIN.fullmatch(typed)):
        typed = match[1]
    elif first == "on" and rest:
        typed = rest
    try:
        if slot == "day":
            dates.day(typed, today)
        else:
            dates.days(typed, today, "past" if slot == "times" else "future")
    except dates.NotADate:
        return None
    except UserError:  # a date that isn't certain is told where the option is read
        pass
    return typed


class HalfPhrase(UserError):
    """A search holds the start of a phrase that lacks its name or date."""

    says = "Type a name or a date after “{said}”, or search for the words."
    said: str


def search(parsed: Parsed, names: Names, today: Today) -> Parsed:
    """The search with its phrases as options; what is left is text.

    An option that was typed as one stays as it is.
    """
    reader = Reader("search", names, today)
    found = list(_phrases(reader, parsed.words))
    taken = {n for one in found for n in range(one.at, one.at + one.count)}
    left = [n for n in range(len(parsed.words)) if n not in taken]
    nothing = _fillers(parsed.words, left, phrases=bool(found))
    text = [parsed.words[n] for n in left if n not in nothing]
    return _with(parsed, text, found)


def is_half(read: Parsed) -> bool:
    """Whether half a phrase is all of a search's text."""
    return tuple(map(_plain, read.words)) in HALVES


def _phrases(reader: Reader, words: Sequence[Word]) -> Iterator[Phrase]:
    at = 0
    while at < min(len(words), MAX_WORDS):
        found = None if words[at].quoted else reader.at(words, at)
        if found:
            yield found
        at += found.count if found else 1


def _fillers(words: Sequence[Word], left: Sequence[int], *, phrases: bool) -> set[int]:
    """The words that mean nothing: at the start, or beside a phrase, but not within text."""
    nothing = FILLERS if phrases else VERBS
    text = [n for n in left if _plain(words[n]) not in nothing]
    first, last = (text[0], text[-1]) if text else (len(words), len(words))
    found = set[int]()
    for n in left:
        word = _plain(words[n])
        if word in nothing:
            at_edge = n < first or (phrases and n > last)
            found |= {n} if at_edge or (phrases and word in NOUNS) else set()
    return found


def _with(parsed: Parsed, words: Sequence[Word], found: Sequence[Phrase]) -> Parsed:
    options: dict[str, tuple[Value, ...]] = {}
    for one in found:
        for key, values in one.options.items():
            options[key] = (*options.get(key, ()), *(v for v in values if v not in options.get(key, ())))
    if len(statuses := options.get("status", ())) > 1:
        options["status"] = tuple(value for value in statuses if value.text != "any") or statuses[:1]
    if "closed" in options and options.get("status"):
        options["status"] = tuple(value for value in options["status"] if value.text != "closed")
    options = {key: values for key, values in options.items() if values and key not in parsed.options}
    said = tuple((one.said, tuple(one.options)) for one in found)
    return replace(parsed, words=tuple(words), options={**parsed.options, **options}, phrases=said)


def needs(words: Sequence[Word], where: Where) -> frozenset[str]:
    """The kinds of names that these words may hold."""
    if not words:
        return frozenset()
    found = set[str]()
    plain = {_plain(word) for word in words if not word.quoted}
    for first, rows in ROWS[where].items():
        if first in _SLOTS_FIRST or first in plain:
            found |= {KINDS[word] for row in rows for word in row.words if word in KINDS}
    if not any(word and _POSSESSIVE.fullmatch(word) for word in plain) and not _NAMING & plain:
        found.discard("person")
    return frozenset(found)


def is_search(parsed: Parsed, today: Today, names: Names | None = None) -> bool:
    """Whether all words are phrases of a search. Raises HalfPhrase."""
    read = search(parsed, names or {}, today)
    if is_half(read):
        raise HalfPhrase(read.plain)
    return bool(read.phrases) and not read.words


def subject(parsed: Parsed, names: Names, today: Today) -> Parsed:
    """A new issue's text with the phrases at its end as options; at least one word stays.

    What a word before them governs stays, too, and all of a question.
    """
    reader, words = Reader("new", names, today), parsed.words
    if is_question(words):
        return parsed
    ends: dict[int, Phrase | None] = {len(words): None}
    for at in range(len(words) - 1, max(0, len(words) - TAIL), -1):
        found = None if _plain(words[at - 1]) in GOVERNING else reader.at(words, at)
        if found and at + found.count in ends and not found.options.keys() & parsed.options.keys():
            ends[at] = found
        elif _plain(words[at]) in ("and", ",") and at + 1 in ends and at + 1 < len(words):
            ends[at] = None
    start = at = min(ends)
    phrases = []
    while at < len(words):
        one = ends[at]
        phrases += [one] if one else []
        at += one.count if one else 1
    return _with(parsed, words[:start], phrases) if phrases else parsed


def time(parsed: Parsed, names: Names, today: Today) -> Parsed:
    """Time with the first project that it names as an option."""
    found = next(_phrases(Reader("time", names, today), parsed.words), None)
    return _with(parsed, parsed.without(found.at, found.count).words, [found]) if found else parsed


def change(parsed: Parsed, today: Today) -> Parsed:
    """A change to an issue with its phrases as options, `step` for closing or opening it."""
    reader = Reader("change", {}, today)
    typed = parsed.options.keys()
    found = [one for one in _phrases(reader, parsed.words) if not typed & one.options.keys()]
    taken = {n for one in found for n in range(one.at, one.at + one.count)}
    left = deque(word for n, word in enumerate(parsed.words) if n not in taken)
    while left and _plain(left[0]) in POLITE:
        left.popleft()
    while left and _plain(left[-1]) in POLITE:
        left.pop()
    return _with(parsed, tuple(left), found)


TAIL = 40  # how many words at the end of a subject may be phrases
_SLOTS_FIRST = tuple(
    f"{{{slot}}}"
    for slot in ("owner", "urgent", "priority", "tracker", "status", "category", "version", "word", "percent")
)
_NAMED = ("person", "project", "tracker", "status", "priority", "category", "version")
KINDS = {f"{{{kind}{end}}}": kind for kind in _NAMED for end in ("", "!")}
KINDS |= {"{urgent}": "priority", "{owner}": "person"}
_NAMING = frozenset({"to", "for", "by", "from", "assignee", "author", "assign", "give", "hand"})
ROWS = _rows()
HALVES = {
    row.words[:-1]
    for rows in ROWS["search"].values()
    for row in rows
    if row.words[-1].startswith("{") and not row.words[0].startswith("{")
}
"""How phrases begin that end with a slot."""
