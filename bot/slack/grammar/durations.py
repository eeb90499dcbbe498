"""Durations as people write them (contract.md, `/timelog`)."""

import re
from decimal import Decimal

from bot.errors import UserError

MINUTES = 60
LONGEST = Decimal(99_999)
_DECIMAL = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,4}|,[0-9]{1,2})?)\s*(?:h|hours?)?")
_MINUTES = re.compile(r"([0-9]{1,7})\s*(?:m|mins?|minutes?)")
_BOTH = re.compile(r"([0-9]{1,5})\s*(?:h\s*|:)([0-9]{1,2})\s*(?:m|mins?)?")


def hours(text: str) -> Decimal:
    """`1.5`, `1,5h`, `90m`, `1h30`, `1h 30m` or `1:30` → hours, to four places. Raises UserError."""
    typed = text.strip().lower()
    if match := _DECIMAL.fullmatch(typed):
        found = Decimal(match[1].replace(",", "."))
    elif match := _MINUTES.fullmatch(typed):
        found = Decimal(match[1]) / MINUTES
    elif (match := _BOTH.fullmatch(typed)) and int(match[2]) < MINUTES:
        found = int(match[1]) + Decimal(match[2]) / MINUTES
    else:
        raise UserError(
            f"“{text.strip()[:40]}” isn't a duration: write `1.5`, `1,5h`, `90m`, `1h30` or `1:30`."
        )
    rounded = found.quantize(Decimal("0.0001"))
    if not 0 < rounded <= LONGEST:
        raise UserError(
            f"A duration is more than 0 and at most {LONGEST} hours: write `1.5`, `90m` or `1h30`."
        )
    return rounded.normalize() + Decimal(0)
