"""The text of a search beside its phrases, and keywords that a typing error hides in it."""

import re
from collections.abc import Collection, Sequence

from bot.slack.language.marks import END, MAX_WORDS, Vocabulary, plain, plural
from bot.slack.language.options import Parsed
from bot.slack.language.phrase_table import TABLES
from bot.slack.language.phrases import FILLERS, NEGATIONS, PHRASES, QUESTION_WORDS, TALK, VERBS
from bot.spelling import GOVERNING

SWAPPED = range(4, 16)  # how many letters a word has of which two may be swapped
_PHRASES = re.sub(r"\{[^{}]*\}", "", " ".join(words for words, *_ in PHRASES))
COMMON = (
    FILLERS | VERBS | TALK | NEGATIONS | QUESTION_WORDS | GOVERNING | {*re.findall(r"[^\W\d_]+", _PHRASES)}
)
"""Words that mean something in a command or in every sentence."""


def search_text(parsed: Parsed) -> str:
    """The words of a search's text that tell something, or else all, without the punctuation after them
    unless it is quoted.
    """
    words = [word for word in parsed.words if plain(word) not in FILLERS | GOVERNING] or parsed.words
    texts = (word.text if word.quoted else word.text.rstrip(END) for word in words)
    return " ".join(" ".join(texts).split())


def topic(words: Sequence[str]) -> str:
    """The few words that a question is about; empty if it has many."""
    about = [word for word in words if word and word not in COMMON]
    return " ".join(about) if len(about) <= min(3, len(words) - 1) else ""


def respelled(parsed: Parsed, vocabulary: Vocabulary) -> tuple[tuple[str, str], ...]:
    """The words of a search's text that have two letters swapped, each with the keyword that it may be."""
    names = (*vocabulary.names.get("tracker", ()), *vocabulary.names.get("status", ()))
    keywords = TABLES["search"].first.keys() - FILLERS - GOVERNING
    known = keywords.union(*({name, plural(name)} for name in map(str.casefold, names)))
    typed = (plain(word) or "" for word in parsed.words[:MAX_WORDS])
    near = ((word, _unswapped(word, known)) for word in typed if len(word) in SWAPPED)
    return tuple((word, meant) for word, meant in near if meant)


def _unswapped(word: str, known: Collection[str]) -> str | None:
    swaps = (f"{word[:n]}{word[n + 1]}{word[n]}{word[n + 2 :]}" for n in range(len(word) - 1))
    return next((one for one in swaps if one in known), None)
