"""Texts on which the bot writes nothing: questions, numbers that may be no issue or duration, such as clock
times, and durations that may not be time spent.
"""

import re
from collections.abc import Iterable, Sequence

from bot.errors import UserError
from bot.slack.language.dates import MONTH
from bot.slack.language.durations import UNIT, without_and, without_spans
from bot.slack.language.phrases import LASTING, LIMITING
from bot.slack.language.tokens import Word, as_typed

_MARKS = "?\u037e\u061f\u203d\u2047\u2048\u2049\u2753\u2754\uff1f"
_AFTER_MARK = _MARKS + "\ufe0f!.,;:…)]}*_~'’”\""
_EMOJI = re.compile(r":(?:grey_)?question:|:interrobang:")
_CLOCK = r"[0-9]{1,2}:[0-9]{2}\b"
_TIME = rf"(?:{_CLOCK}|[0-9]+(?:[.,][0-9]+)?\s?{UNIT}\b)"
_NUMBER = rf"#?[0-9]+\b(?![.:][0-9]|\s?{UNIT}\b)"
_DURATION = rf"[0-9]+(?:[.,:][0-9]+)?(?:\s?{UNIT}(?:\s?[0-9]+(?:\s?{UNIT})?)?)?"
_ISSUE = r"(?:(?:for|on|to|in|issue)\s)*#?[0-9]+\b(?![.,:][0-9])"
_OTHER = r",?\s?\(?(?:or|vs)\b"
_LIST = r"\s?(?:and|or|then|plus|to|not|[&+/,;–-])\s?"
_AGAIN = rf"(?:{_LIST}|\s){_NUMBER}\s{_TIME}"
_MOMENT = (
    rf"\s(?:(?:at|from|until|till|by|before|after)\s|@\s?){_CLOCK}|\s?[ap]\.?m\b|\s(?:noon|o['’]?clock|of)\b|"
    rf"\s?{MONTH}\b"
)
_DOUBTFUL = re.compile(
    rf"(?:{_DURATION}\s)?{_ISSUE}(?:{_OTHER}|{_LIST}{_NUMBER}|{_MOMENT})|"  # `1h on 12 or 13`, `12, 13 1h`
    rf"{_DURATION}\s{_ISSUE}(?:{_LIST}|\s){_TIME}|"  # `1h on 12 at 10:30`, `1h on 12 2h on 13`
    rf"(?:{_ISSUE}\s{_DURATION}|{_TIME})(?![.,:][0-9])(?:{_OTHER}|{_LIST}{_TIME}|{_AGAIN})|"  # `12 1h or 2h`
    rf"{_DURATION}\s(?:for|in)\s{_NUMBER}\s\w|"  # `2h for 12 people`
    rf"{_DURATION}\s(?:to\s{_TIME}|[–-]\s{_TIME}\s(?:on|for|to|in)\s#?[0-9])|"  # `1 to 2 hours on 12`
    rf"[0-9]+[.,:][0-9]+\s{_ISSUE}\s?\S",  # `10:30 on 12 works for me`
    re.IGNORECASE,
)
_SEVERAL = re.compile(rf"{_ISSUE}(?:{_OTHER}|{_LIST})\s?{_NUMBER}", re.IGNORECASE)

PAST = frozenset({"ago", "earlier", "later"})


def is_told(before: Sequence[str]) -> bool:
    """Whether words before a duration tell something else than the time spent: `timeout of 30m`."""
    lasts = before[-1:] == ["for"] and not LASTING.isdisjoint(before)  # `was down for 2h`
    return lasts or not LIMITING.isdisjoint(word.rstrip(":") for word in before[-1:])  # `eta: 2h`


def is_several(text: str) -> bool:
    """Whether a text begins with several issues: `12 and 13`, `12, 13`, `12 or 13`."""
    return _SEVERAL.match(" ".join(text.split())) is not None


def is_doubtful(text: str) -> bool:
    """Whether a text begins with numbers of which one may be neither the issue nor the duration."""
    return _DOUBTFUL.match(without_spans(without_and(" ".join(text.split())))) is not None


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
