"""Parse and format dates, times and hours as the service does."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}(:?\d{2}){0,2}Z?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,4}):(\d{1,2})", re.ASCII)
_UNITS = re.compile(r"(?:(\d{1,4})\s*h)?\s*(?:(\d{1,4})\s*(?:m|min)?)?", re.ASCII)
_MAX_HOURS = 1_000_000
Span = tuple[datetime, datetime]


def day(text: object) -> date | None:
    """Return the date in `YYYY-MM-DD`, None for anything else."""
    if not isinstance(text, str) or not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def span(text: str, zone: ZoneInfo) -> Span | None:
    """Return the first and last second of a filter's date, None if the service rejects it.

    A plain date is the whole day in the requester's time zone, `YYYY-MM-DDTHH:MM:SSZ` is one second; UTC
    offsets and fractional seconds are rejected (docs/service.md, Lists).
    """
    whole = day(text)
    if whole is not None:
        first = datetime.combine(whole, time.min, zone).astimezone(UTC)
        last = datetime.combine(whole + timedelta(days=1), time.min, zone).astimezone(UTC)
        return first, last - timedelta(seconds=1)
    if not _MOMENT.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    return moment, moment


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso(whole: date | None) -> str | None:
    return None if whole is None else whole.isoformat()


def hours_of(value: object) -> float | None:
    """Return hours from a number, "1.5", "1,5", "1:30", "1h30" or "90m"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < _MAX_HOURS else None
    if not isinstance(value, str):
        return None
    text = value.strip().lower()
    if re.fullmatch(r"\d{1,6}([.,]\d{0,9})?", text, re.ASCII):
        return float(text.replace(",", "."))
    match = _CLOCK.fullmatch(text) or (_UNITS.fullmatch(text) if text else None)
    return int(match[1] or 0) + int(match[2] or 0) / 60 if match else None
