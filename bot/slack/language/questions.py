"""Tells questions from commands: a question never writes anything."""

import re
from collections.abc import Iterable

from bot.errors import UserError
from bot.slack.language.tokens import Word, as_typed

_MARKS = "?\u037e\u061f\u203d\u2047\u2048\u2049\u2753\u2754\uff1f"
_AFTER_MARK = _MARKS + "\ufe0f!.,;:…)]}*_~'’”\""
_EMOJI = re.compile(r":(?:grey_)?question:|:interrobang:")


class Question(UserError):
    says = (
        "“{text}” looks like a question, so I didn't change anything. To do it, leave out the question mark."
    )
    text: str


def is_question(words: Iterable[Word]) -> bool:
    """Whether a word outside quotes ends with a question mark."""
    return any(not word.quoted and _asks(word.text) for word in words)


def asks(text: str) -> bool:
    """Whether a text is a question, for text in which quotes mean nothing."""
    return any(map(_asks, text.split()))


def reject_question(text: str, words: Iterable[Word]) -> None:
    """Raise Question if these words of the typed text ask something."""
    if is_question(words):
        raise Question(as_typed(text))


def without_question(text: str) -> str:
    """The text without its question marks; empty if there is nothing else."""
    words = (_plain(word) if _asks(word) else word for word in text.split())
    return " ".join(filter(None, words))


def _asks(word: str) -> bool:
    marked = _EMOJI.sub("?", word)
    return not set(_MARKS).isdisjoint(marked[len(marked.rstrip(_AFTER_MARK)) :])


def _plain(word: str) -> str:
    return _EMOJI.sub("?", word).rstrip(_AFTER_MARK)
