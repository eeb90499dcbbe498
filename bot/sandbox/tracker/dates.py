"""Dates and times as the service reads them in filters and fields."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}(:?\d{2}){0,2}Z?", re.ASCII)
Span = tuple[datetime, datetime]


def day(text: object) -> date | None:
    """The date in `YYYY-MM-DD`, None for anything else."""
    if not isinstance(text, str) or not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def span(text: str, zone: ZoneInfo) -> Span | None:
    """First and last second of what a filter's date means; None where the service refuses it.

    A bare date is the whole day in the requester's zone, `YYYY-MM-DDTHH:MM:SSZ` is one second; offsets and
    fractions of a second are refused (service-facts, Lists).
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
    """First and last second of a day in a zone."""
    first = datetime.combine(whole, time.min, zone).astimezone(UTC)
    last = datetime.combine(whole + timedelta(days=1), time.min, zone).astimezone(UTC)
    return first, last - timedelta(seconds=1)


def stamp(moment: datetime | None) -> str | None:
    """A timestamp as the interface writes it."""
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso(whole: date | None) -> str | None:
    """A date as the interface writes it."""
    return None if whole is None else whole.isoformat()
