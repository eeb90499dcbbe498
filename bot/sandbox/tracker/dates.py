"""Parse and format dates and times as the service does."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}(:?\d{2}){0,2}Z?", re.ASCII)
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
        return day_span(whole, zone)
    if not _MOMENT.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    return moment, moment


def day_span(whole: date, zone: ZoneInfo) -> Span:
    """Return the first and last second of a day in a time zone."""
    first = datetime.combine(whole, time.min, zone).astimezone(UTC)
    last = datetime.combine(whole + timedelta(days=1), time.min, zone).astimezone(UTC)
    return first, last - timedelta(seconds=1)


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso(whole: date | None) -> str | None:
    return None if whole is None else whole.isoformat()
