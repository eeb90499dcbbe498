"""Reads a command's words by its table (`phrases`): the options of each phrase, and the remaining text."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise

from bot.errors import UserError
from bot.slack.language.dates import Today
from bot.slack.language.doubts import is_question
from bot.slack.language.marks import CALENDAR, END, MAX_NAME_WORDS, MAX_WORDS, NAMED, Marks, Vocabulary, plain
from bot.slack.language.options import NoValue, Parsed
from bot.slack.language.phrases import (
    ACTS,
    AND,
    FILLERS,
    NEGATIONS,
    NOUNS,
    OPENING,
    OR,
    POLITE,
    SEPARATORS,
    STATES,
    TALK,
    VERBS,
    Where,
)
from bot.slack.language.tables import TABLES, Row, Slot
from bot.slack.language.tokens import Atom, Token, Word
from bot.spelling import GOVERNING

MAX_VALUE = 20  # how many words a value takes that isn't looked up
FRONT = 12  # how many words before a colon at the front of a subject may be phrases
DASHES = ("-", "–", "—")
TAIL = 40  # how many words at the end of a subject may be phrases


@dataclass(frozen=True)
class Phrase:
    """`count` words from `at`, as typed, and the options that they stand for.

    `alone`: without a word that says so. `weak`: it counts only if no text is left.
    """

    at: int
    count: int
    text: str
    options: Mapping[str, tuple[Token, ...]]
    alone: bool = False
    weak: bool = False


class PhraseParser(Marks):
    """Finds the phrases of one command in words, which may be those before a new issue's colon (`front`)."""

    def __init__(
        self,
        where: Where,
        words: Sequence[Word],
        vocabulary: Vocabulary,
        today: Today,
        *,
        front: bool = False,
    ) -> None:
        nobody = {"search": "nobody", "change": "none"}.get(where)
        super().__init__(words, vocabulary, today, in_full=where == "time", nobody=nobody)
        self.where, self.table, self.front = where, TABLES[where], front
        self._at: dict[tuple[int, bool], Phrase | None] = {}

    def phrases(self) -> Iterator[Phrase]:
        at = 0
        while at < min(len(self.words), MAX_WORDS):
            negated = at and self.plain[at - 1] in NEGATIONS
            phrase = None if self.words[at].quoted or negated else self.at(at)
            if phrase and phrase.options:
                yield phrase
            at += phrase.count if phrase else 1

    def at(self, start: int, *, separated: bool = True) -> Phrase | None:
        """The longest phrase that begins at `start`, which may be `separated` by a comma or the like."""
        key = (start, separated)
        if key not in self._at:
            rows = (*self.table.first.get(self.plain[start] or " ", ()), *self.table.slots)
            rows = tuple(row for row in rows if (separated or not row.separated) and self.front >= row.front)
            matches = [self._matched(row, start) for row in rows]
            self._at[key] = max(filter(None, matches), key=lambda one: one.count, default=None)
        return self._at[key]

    def _matched(self, row: Row, start: int) -> Phrase | None:
        at, values = start, dict[str, Token]()
        for expected in row.words:
            if at >= len(self.words):
                return None
            if isinstance(expected, str):
                ended = at > start and self.where != "search" and self.words[at - 1].source[-1] in ",;"
                if self.plain[at] != expected or ended:
                    return None
                at += 1
                continue

            if self.plain[at] in AND:
                return None
            leads = at > start
            at += expected.name in NAMED and leads and self.plain[at] == "the" and at + 1 < len(self.words)
            taken = self._value(row, expected, at, leads=leads)
            if taken is None:
                return None
            values[expected.name], count = taken
            at += count

        options = {key: self._filled(value, values) for key, value in row.means}
        text = " ".join(word.source for word in self.words[start:at]).rstrip(",;")
        return Phrase(start, at - start, text, options, alone=not row.literals, weak=row.weak)

    def _value(self, row: Row, slot: Slot, at: int, *, leads: bool) -> tuple[Token, int] | None:
        """What fills a slot of a row, and how many words that takes."""
        word = self.words[at]
        any_text = word.quoted and row.words[0] in NEGATIONS  # `without "due friday"`
        fitting = None if any_text else self._fitting(slot.name, at, leads=leads)
        if fitting or not slot.sure:
            return fitting
        if self.where == "change" and self.plain[at] != "to":
            return self._run(at)  # an unknown name is reported
        if (self.where == "search" or row.separated) and word.text[:1].isalpha():
            return Token((Atom(word.text.rstrip(END)),)), 1
        return None

    def _fitting(self, slot: str, at: int, *, leads: bool) -> tuple[Token, int] | None:
        """The value of the longest run of words at `at` that fits, and how many they are."""
        word = self.words[at]
        if slot == "title" and word.text[:1].islower():
            return None
        if slot in ("value", "rest", "title"):
            return self._run(at, to_end=slot != "value")
        if word.quoted or word.user:
            fits = (slot == "person" and (leads or word.user)) or (leads and word.quoted and slot in NAMED)
            return (Token(word.atoms), 1) if fits else None
        match = self.span(slot, at, leads=leads)
        return (Token((Atom(match[0]),)), match[1]) if match else None

    def _run(self, at: int, *, to_end: bool = False) -> tuple[Token, int]:
        """The words up to the next phrase, or all of them."""
        words, end = self.words, len(self.words)
        if not to_end:
            end = next(self._ends(at + 1), min(end, at + MAX_VALUE))
            while end > at + 1 and self.plain[end - 1] in POLITE:
                end -= 1
        if end == at + 1 and self.plain[at] is None:
            return Token(words[at].atoms), 1
        text = " ".join(word.text for word in words[at:end])
        return Token((Atom(text if to_end else text.rstrip(END) or text),)), end - at

    def _ends(self, at: int) -> Iterator[int]:
        """Where another phrase begins: by the words before its slot or, after a comma or the like, anyhow."""
        words = self.words
        for n in range(at, min(len(words), at + MAX_VALUE)):
            begin = n + (self.plain[n] in SEPARATORS)
            following = tuple(self.plain[begin : begin + MAX_NAME_WORDS])
            for row in self.table.first.get(following[0] or "", ()) if following else ():
                literal = row.literals
                if following[: len(literal)] == literal and begin + len(row.words) <= len(words):
                    yield n
            ended = words[n - 1].source.endswith((",", ";")) and not words[n].text[:1].isdigit()
            if ended or (begin > n and following and begin < MAX_WORDS and self.at(begin)):
                yield n  # but a comma in `Dec 1, 2026` ends nothing

    def _filled(self, text: str, values: Mapping[str, Token]) -> tuple[Token, ...]:
        match = re.fullmatch(r"(\W*)\{(\w+)!?\}(.*)", text)
        if match is None:
            return (Token((Atom(text),)),)
        value, whole = values[match[2]], not (match[1] or match[3])
        return (value if whole else Token((Atom(f"{match[1]}{value.text}{match[3]}"),)),)


def needs(words: Sequence[Word], where: Where) -> frozenset[str]:
    """The kinds of names that these words may hold."""
    table, kinds = TABLES[where], set[str]()
    before, _ = _front(words) if where == "new" else ((), words)
    words = (*before, *words[-TAIL:]) if where == "new" else words[:MAX_WORDS]
    separated = where != "new" or bool(before) or any(map(_separates, words))

    unexplained = False
    for word in words:
        known = None if word.quoted else plain(word)
        if known is None:
            continue
        for row in table.first.get(known, ()):
            kinds |= row.kinds
        explained = known in FILLERS or known in POLITE or (known in table.first and known not in STATES)
        unexplained |= not (explained or known in CALENDAR or known[0].isdigit())
        if where == "change" and known in ("rename", "subject"):  # a new subject is all that follows
            break
    unexplained |= bool(words) and not any(plain(word) in table.first for word in words)  # `search`
    if unexplained and separated:
        kinds = kinds.union(*(row.kinds for row in table.slots))
    return frozenset(kinds)


def identifiers(words: Sequence[Word]) -> list[str]:
    """What may be the identifier of a project that isn't listed: `project old-shop`, or `in old shop: …`."""
    before = [plain(word) or "" for word in _front(words)[0]]
    front = ["-".join(before[1:])] if before[:1] == ["in"] and "project" not in before else []
    typed = [plain(word) or "" for word in words[:MAX_WORDS]]
    return [*front, *(name.rstrip(":") for word, name in pairwise(typed) if word == "project")][:1]


class HalfPhrase(UserError):
    """A search holds the start of a phrase that lacks its name or date."""

    says = "“{words}” needs a name or a date after it. Add one, or search for those words instead."
    words: str


def search(parsed: Parsed, vocabulary: Vocabulary, today: Today) -> Parsed:
    """Return the search with its phrases as options; the remaining words are text.

    An option that was typed as one stays as it is. Raises HalfPhrase if half a phrase is all of the text.
    """
    reader = PhraseParser("search", parsed.words, vocabulary, today)
    phrases = _exclude_alternatives(reader, list(reader.phrases()))
    text = _text(reader, phrases)
    if text and any(one.weak for one in phrases):
        phrases = [one for one in phrases if not one.weak]
        text = _text(reader, phrases)
    if tuple(reader.plain[n] for n in text) in reader.table.halves:
        raise HalfPhrase(" ".join(parsed.words[n].text for n in text))
    return _with(parsed, [parsed.words[n] for n in text], phrases)


def is_search(parsed: Parsed, today: Today, vocabulary: Vocabulary, *, half: bool = False) -> bool:
    """Whether all words are phrases of a search; `half` is the answer for half a phrase."""
    try:
        read = search(parsed, vocabulary, today)
    except HalfPhrase:
        return half
    return bool(read.phrases) and not read.words


def _exclude_alternatives(reader: PhraseParser, phrases: Sequence[Phrase]) -> list[Phrase]:
    """The phrases, of which `not ben or dana` and `not ben, dana` exclude both."""
    read = [*phrases[:1]]
    for before, one in pairwise(phrases):
        excludes = all(value.text[:1] == "!" for value in chain.from_iterable(read[-1].options.values()))
        read.append(_excluding(one) if excludes and _is_alternative(reader, before, one) else one)
    return read


def _is_alternative(reader: PhraseParser, before: Phrase, one: Phrase) -> bool:
    """Whether a phrase without a word of its own goes on with the values of the one before."""
    between = reader.plain[before.at + before.count : one.at]
    joined = bool(between) or reader.words[one.at - 1].source.endswith(",")
    return one.alone and joined and OR.issuperset(between) and one.options.keys() == before.options.keys()


def _excluding(phrase: Phrase) -> Phrase:
    options = {}
    for key, values in phrase.options.items():
        options[key] = tuple(Token((Atom(f"!{value.text}"),)) for value in values)
    return replace(phrase, options=options)


def _outside(words: Sequence[Word], phrases: Sequence[Phrase]) -> list[int]:
    """The positions of the words that belong to no phrase."""
    taken = set(chain.from_iterable(range(one.at, one.at + one.count) for one in phrases))
    return [n for n in range(len(words)) if n not in taken]


def _text(reader: PhraseParser, phrases: Sequence[Phrase]) -> list[int]:
    """The words that are text: others mean nothing at the start, or beside a phrase, but not within text."""
    plain, left = reader.plain, _outside(reader.words, phrases)
    nothing = FILLERS if phrases else VERBS
    text = [n for n in left if plain[n] not in nothing and plain[n] not in TALK]
    first, last = (text[0], text[-1]) if text else (len(plain), len(plain))

    def means_nothing(n: int) -> bool:
        at_edge = n < first or (bool(phrases) and n > last)
        talk = plain[n] in TALK and (n < first or n > last)
        return talk or (plain[n] in nothing and (at_edge or (bool(phrases) and plain[n] in NOUNS)))

    return [n for n in left if not means_nothing(n)]


def _with(parsed: Parsed, words: Sequence[Word], phrases: Sequence[Phrase]) -> Parsed:
    """The text with these words, and the phrases' options beside those that were typed as options."""
    meant = _options(phrases)
    acts = {key: values for key, values in meant.items() if key in ACTS}
    options = {key: values for key, values in meant.items() if key not in ACTS | parsed.options.keys()}
    read = (*((one.text, tuple(one.options)) for one in phrases), *parsed.phrases)
    alone = tuple(one.text for one in phrases if one.alone and "to" in one.options)
    return replace(
        parsed,
        words=tuple(words),
        options={**parsed.options, **options},
        acts=acts,
        phrases=read,
        alone=alone,
    )


def _options(phrases: Sequence[Phrase]) -> dict[str, tuple[Token, ...]]:
    """The phrases' values, each once, without statuses that others narrow down."""
    options: dict[str, tuple[Token, ...]] = {}
    for one in phrases:
        for key, values in one.options.items():
            options[key] = (*options.get(key, ()), *(v for v in values if v not in options.get(key, ())))

    if len(statuses := options.get("status", ())) > 1:
        wide = {"any", "open"} if any(value.text[0] == "!" for value in statuses) else {"any"}
        options["status"] = tuple(value for value in statuses if value.text not in wide) or statuses[:1]
    if "closed" in options and options.get("status"):
        options["status"] = tuple(value for value in options["status"] if value.text != "closed")
    return {key: values for key, values in options.items() if values}


def subject(parsed: Parsed, vocabulary: Vocabulary, today: Today) -> Parsed:
    """A new issue's text with the phrases at its end as options, and those before a colon at its front.

    At least one word stays. Phrases governed by a word before them stay, too, and so does all of a question.
    """
    before, rest = _front(parsed.words)
    if not before:
        return _without_end(parsed, vocabulary, today)
    reader = PhraseParser("new", before, vocabulary, today, front=True)
    phrases = list(reader.phrases())
    left = [n for n in _outside(before, phrases) if reader.plain[n] not in OPENING]
    if not phrases or left or any(one.options.keys() & parsed.options.keys() for one in phrases):
        return _without_end(parsed, vocabulary, today)

    label = before[-1].text.casefold()
    problems = tuple(one for one in parsed.problems if not (isinstance(one, NoValue) and one.key == label))
    read = _without_end(replace(parsed, words=rest, problems=problems), vocabulary, today)
    return _with(read, read.words, phrases) if read.words else parsed


def _front(words: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The words before a colon, a dash or within brackets at a new issue's front, and those after it."""
    closes = ("]", "]:", ")", "):") if words and words[0].source.startswith(("[", "(")) else (":",)
    for n, word in enumerate(words[:FRONT]):
        if not word.quoted and (word.source.endswith(closes) or (n and word.source in DASHES)):
            first = tuple(word.bare for word in words[: n + 1])
            return tuple(one for one in first if one.text and one.text not in DASHES), tuple(words[n + 1 :])
    return (), tuple(words)


def _without_end(parsed: Parsed, vocabulary: Vocabulary, today: Today) -> Parsed:
    """The text with the phrases at its end as options."""
    words = parsed.words
    if is_question(words):
        return parsed
    # `"Cart is empty" to webshop` needs no comma
    separated = [False, *((n == 0 and word.quoted) or _separates(word) for n, word in enumerate(words))]
    begins = (n for n in range(1, len(words)) if separated[n] or plain(words[n]) in TABLES["new"].first)
    if (first := next(begins, None)) is None:
        return parsed

    reader = PhraseParser("new", words, vocabulary, today)
    tails = _tails(reader, separated, first, parsed.options.keys())
    start = min(tails)
    phrases = tails[start]
    if all(one.weak for one in phrases):
        return parsed
    kept = [*words[: start - 1], words[start - 1].without_comma]
    return _with(parsed, kept, phrases)


def _tails(
    reader: PhraseParser, separated: Sequence[bool], first: int, typed: Collection[str]
) -> Mapping[int, tuple[Phrase, ...]]:
    """Where a subject may end, and the phrases that all words from there on are.

    `Fix login assign to ben, due friday` may end at 2, before `assign to ben` and `due friday`, at 5, before
    `due friday`, and at 7. `separated` says which words come after a comma or the like; after the word
    `first`, a phrase may also follow another one without that. Phrases of the `typed` options stay text.
    """
    words, plain = reader.words, reader.plain
    tails: dict[int, tuple[Phrase, ...]] = {len(words): ()}
    following = set[int]()  # where a phrase can be only right after another one
    for at in range(len(words) - 1, max(0, len(words) - TAIL), -1):
        governed = not separated[at] and plain[at - 1] in GOVERNING
        phrase = None if governed else reader.at(at, separated=separated[at])
        if first < at and not (phrase or governed) and (phrase := reader.at(at)):
            following.add(at)

        end = at + phrase.count if phrase else at
        if phrase and end in tails and not phrase.options.keys() & typed:
            tails[at] = (phrase, *tails[end])
        elif plain[at] in (*SEPARATORS, *DASHES, *TALK) and tails.get(at + 1):
            tails[at] = tails[at + 1]
    return {at: phrases for at, phrases in tails.items() if at not in following}


def _separates(word: Word) -> bool:
    """Whether the next word may begin a phrase that needs a comma or the like before it."""
    return word.source.endswith((",", ";")) or plain(word) in (*SEPARATORS, *DASHES)


def change(parsed: Parsed, vocabulary: Vocabulary, today: Today) -> Parsed:
    """A change with its phrases as options and acts. Other words stay, but no fillers."""
    reader, typed = PhraseParser("change", parsed.words, vocabulary, today), parsed.options.keys()
    phrases = [one for one in reader.phrases() if not typed & one.options.keys()]
    phrases = [one for one in phrases if not (_negated(one, reader.plain) or _mentioned(one, reader))]
    runs = groupby(enumerate(_outside(parsed.words, phrases)), lambda one: one[1] - one[0])
    kept = chain.from_iterable(_stripped([n for _, n in run], reader.plain) for _, run in runs)
    return _with(parsed, [parsed.words[n] for n in kept], phrases)


def _negated(phrase: Phrase, plain: Sequence[str | None]) -> bool:
    """Whether a negation after a phrase's first word turns it around; a new subject may have one."""
    within = plain[phrase.at + 1 : phrase.at + phrase.count]
    return "subject" not in phrase.options and not NEGATIONS.isdisjoint(within)


def _mentioned(phrase: Phrase, reader: PhraseParser) -> bool:
    """Whether the text only mentions a person, as in `thanks ben` and `ben closed it`."""
    end, plain = phrase.at + phrase.count, [*reader.plain, None]
    acted = (plain[end] or "").endswith(("ed", "done")) and reader.words[end - 1].source[-1] not in ",;"
    thanked = phrase.at > 0 and plain[phrase.at - 1] in TALK
    return phrase.alone and "to" in phrase.options and (thanked or acted)


def _stripped(run: list[int], plain: Sequence[str | None]) -> list[int]:
    """A run of words without those at its ends that mean nothing."""
    kept = [n for n in run if plain[n] not in POLITE]
    return [n for n in run if kept and kept[0] <= n <= kept[-1]]


def time(parsed: Parsed, vocabulary: Vocabulary, today: Today) -> Parsed:
    """Time with the first project that it names as an option."""
    phrase = next(PhraseParser("time", parsed.words, vocabulary, today).phrases(), None)
    return _with(parsed, parsed.without(phrase.at, phrase.count).words, [phrase]) if phrase else parsed
