"""Durations as users type them (docs/commands.md)."""

import re
from decimal import Decimal

from bot.errors import UserError

MINUTES, NOON, DAY = 60, 12, 24 * 60
MAX_HOURS = Decimal(99_999)
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HOURS, _MINS = r"(?:h|hrs?|hours?)", r"(?:m|mins?|minutes?)"
UNIT = rf"(?:{_HOURS}|{_MINS})"
_DECIMAL = re.compile(rf"([0-9]{{1,5}}(?:\.[0-9]{{1,4}}|,[0-9]{{1,2}})?)\s*{_HOURS}?")
_COMMA = re.compile(rf"([0-9]{{1,5}},[0-9]{{3,4}})\s*{_HOURS}?")
_MINUTES = re.compile(rf"([0-9]{{1,7}})\s*{_MINS}")
_BOTH = re.compile(rf"([0-9]{{1,5}})\s*(?:{_HOURS}\s*(?:and\s+)?|:)([0-9]{{1,2}})\s*{_MINS}?")
_IN_WORDS = re.compile(
    rf"(?:(an?|{'|'.join(NUMBERS)})"
    r"(?:\s+hours?(\s+and\s+(?:a\s+half|30\s+min(?:ute)?s?))?|(\s+and\s+a\s+half)\s+hours?)|"
    r"(?:a\s+)?(half)(?:\s+an?)?\s+hour|(?:a\s+)?(quarter)\s+(?:of\s+)?an\s+hour)"
)
_HOURS_AND = re.compile(
    rf"\b([0-9]{{1,3}})\s?{_HOURS}\s+(?:and\s+)?([0-9]{{1,2}})\s?{_MINS}\b", re.IGNORECASE
)
_CLOCK = r"([0-9]{1,2})(?:[:.]([0-5][0-9]))?(?:\s?([ap])\.?m)?"
_TO = r"(?:[-–]|\s(?:to|until|till|[-–])\s)"
_FROM_TO = re.compile(rf"(?:from\s+)?{_CLOCK}{_TO}{_CLOCK}", re.IGNORECASE)
_HALF = r"\s?[ap]\.?m"
_SURE = rf"(?=from\s+(?:[0-9.]+{_TO})?[0-9.]+(?::|{_HALF})|[0-9.:]+{_HALF}|(?=\S*:)[0-9.:]+[-–])"
"""What a span of time begins with: elsewhere, `1:30 to 12` is a duration and an issue."""
_FORMS = (
    *(rf"{_SURE}{_FROM_TO.pattern}", _IN_WORDS.pattern, _MINUTES.pattern),
    *(rf"[0-9]{{1,5}}\s*{_HOURS}\s*(?:and\s+)?[0-9]{{1,2}}\s*{_MINS}", rf"[0-9]{{1,5}}{_HOURS}[0-9]{{1,2}}"),
    rf"[0-9]{{1,5}}(?:[.,][0-9]{{1,4}})?\s*{_HOURS}",
)
_END = r"(?![^\s.,:;!?])(?!\s+(?:ago|earlier|later)\b)"
WITH_UNIT = "(?>(?:" + re.sub(r"\((?!\?)", "(?:", "|".join(_FORMS)) + f"){_END})"
DURATION = rf"(?>{WITH_UNIT}|(?:[0-9]{{1,5}}:[0-9]{{1,2}}|[0-9]{{1,3}}[.,][0-9]{{1,2}}(?!\.)){_END})"
"""Durations within a text; a number alone may be something else."""
LONG = (
    r"(?:(?:an?|the|my)\s+)?(?:half|all|whole|full|entire|[0-9]{1,3}(?:[.,][0-9])?|one|two|three|an?)\s?"
    r"(?:(?:an?|the)\s+)?(?:days?|weeks?|morning|afternoon|(?<=[0-9])d)" + _END
)
"""Durations that have no hours: `half a day`, `2d`."""
# Languages with a decimal comma (CLDR); Mexico and Slack's Latin America use a point.
_COMMA_LANGUAGES = frozenset(
    (
        *("bg", "ca", "cs", "da", "de", "el", "es", "et", "fi", "fr", "hr", "hu", "id", "is", "it", "lt"),
        *("lv", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "tr", "uk", "vi"),
    )
)
_POINT_LOCALES = frozenset({"es-MX", "es-LA"})


def hours(text: str, locale: str = "") -> Decimal:
    """`1.5`, `1,5h`, `90m`, `1h30`, `1h 30m`, or `1:30` → hours, to four places.

    Raises UserError for anything else, and for a duration that is out of range.

    `locale` is the user's Slack locale: with a decimal comma, `1,125` isn't a thousand.
    """
    typed = text.strip().lower()
    comma = locale.partition("-")[0] in _COMMA_LANGUAGES and locale not in _POINT_LOCALES
    if match := _DECIMAL.fullmatch(typed) or (_COMMA.fullmatch(typed) if comma else None):
        amount = Decimal(match[1].replace(",", "."))
    elif match := _MINUTES.fullmatch(typed):
        amount = Decimal(match[1]) / MINUTES
    elif (match := _BOTH.fullmatch(typed)) and int(match[2]) < MINUTES:
        amount = int(match[1]) + Decimal(match[2]) / MINUTES
    elif match := _IN_WORDS.fullmatch(typed):
        whole = NUMBERS.index(match[1]) + 1 if match[1] in NUMBERS else int(bool(match[1]))
        quarter = "0.25" if match[5] else "0"
        amount = whole + Decimal("0.5" if any(match.groups()[1:4]) else quarter)
    elif span := _from_to(typed):
        amount = span
    elif re.fullmatch(LONG, typed):
        raise UserError(
            "How many hours is “{typed}”? Type the hours, such as `4h` or `7h 30m`.", typed=text.strip()[:40]
        )
    else:
        raise UserError(
            "“{typed}” isn't a duration. Try `1.5`, `90m`, `1h 30m`, or `1:30`.", typed=text.strip()[:40]
        )

    rounded = amount.quantize(Decimal("0.0001"))
    if not 0 < rounded <= MAX_HOURS:
        raise UserError(
            "A duration must be more than 0 and at most {longest} hours, such as `90m`.", longest=MAX_HOURS
        )
    return rounded.normalize() + Decimal(0)


def _from_to(typed: str) -> Decimal | None:
    """The hours in `9-11:30` or `from 2pm to 3.15pm`; without minutes, it could be two numbers."""
    match = _FROM_TO.fullmatch(typed)
    if match is None or not re.match(_SURE, typed, re.IGNORECASE):
        return None
    start, end = _minutes(match[1], match[2], match[3] or match[6]), _minutes(*match.group(4, 5, 6))
    return Decimal(end - start) / MINUTES if start < end <= DAY else None


def _minutes(hour: str, minute: str | None, half: str | None) -> int:
    """The minutes since midnight."""
    after = NOON * (half in ("p", "P"))
    return (int(hour) % NOON + after if half else int(hour)) * MINUTES + int(minute or 0)


def without_spans(text: str) -> str:
    """Return the text with spans such as `9-11:30` converted to hours."""
    return _FROM_TO.sub(lambda match: f"{span}h" if (span := _from_to(match[0])) else match[0], text)


def without_and(text: str) -> str:
    """Return the text with `2h 15m` for a duration such as `2 hours and 15 minutes`."""
    return _HOURS_AND.sub(r"\1h \2m", text)
