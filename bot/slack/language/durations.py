"""Durations as users type them (docs/commands.md)."""

import re
from decimal import Decimal

from bot.errors import UserError

MINUTES = 60
LONGEST = Decimal(99_999)
_HOURS, _MINS = r"(?:h|hrs?|hours?)", r"(?:m|mins?|minutes?)"
_DECIMAL = re.compile(rf"([0-9]{{1,5}}(?:\.[0-9]{{1,4}}|,[0-9]{{1,2}})?)\s*{_HOURS}?")
_COMMA = re.compile(rf"([0-9]{{1,5}},[0-9]{{3,4}})\s*{_HOURS}?")
_MINUTES = re.compile(rf"([0-9]{{1,7}})\s*{_MINS}")
_BOTH = re.compile(rf"([0-9]{{1,5}})\s*(?:{_HOURS}\s*|:)([0-9]{{1,2}})\s*{_MINS}?")
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
        found = Decimal(match[1].replace(",", "."))
    elif match := _MINUTES.fullmatch(typed):
        found = Decimal(match[1]) / MINUTES
    elif (match := _BOTH.fullmatch(typed)) and int(match[2]) < MINUTES:
        found = int(match[1]) + Decimal(match[2]) / MINUTES
    else:
        raise UserError(
            "“{typed}” isn't a duration. Try `1.5`, `90m`, `1h 30m`, or `1:30`.", typed=text.strip()[:40]
        )
    rounded = found.quantize(Decimal("0.0001"))
    if not 0 < rounded <= LONGEST:
        raise UserError(
            "A duration must be more than 0 and at most {longest} hours, such as `90m`.", longest=LONGEST
        )
    return rounded.normalize() + Decimal(0)
