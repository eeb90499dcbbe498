"""Parse hours as the service does."""

import re

MOST = 1_000_000

_CLOCK = re.compile(r"(\d{1,4}):(\d{1,2})", re.ASCII)
_UNITS = re.compile(r"(?:(\d{1,4})\s*h)?\s*(?:(\d{1,4})\s*(?:m|min)?)?", re.ASCII)


def hours_of(value: object) -> float | None:
    """Return hours from a number, "1.5", "1,5", "1:30", "1h30" or "90m"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < MOST else None
    if not isinstance(value, str):
        return None
    text = value.strip().lower()
    if re.fullmatch(r"\d{1,6}([.,]\d{0,9})?", text, re.ASCII):
        return float(text.replace(",", "."))
    match = _CLOCK.fullmatch(text) or (_UNITS.fullmatch(text) if text else None)
    return int(match[1] or 0) + int(match[2] or 0) / 60 if match else None
