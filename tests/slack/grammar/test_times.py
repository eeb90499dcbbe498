import re
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from bot.errors import UserError
from bot.service.filters import DateRange
from bot.slack.grammar.dates import day, days, spent_day, times
from bot.slack.grammar.durations import hours
from bot.slack.grammar.errors import AmbiguousDate
from tests.support.wording import worded

WEDNESDAY = date(2026, 7, 15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", "1.5"),
        ("1,5h", "1.5"),
        ("90m", "1.5"),
        ("1h30", "1.5"),
        ("1h 30m", "1.5"),
        ("1:30", "1.5"),
        ("2", "2"),
        ("2 H", "2"),
        ("20m", "0.3333"),
        ("90 min", "1.5"),
        ("0.25", "0.25"),
        ("100", "100"),
    ],
)
def test_durations_parse(text: str, expected: str) -> None:
    assert str(hours(text)) == str(Decimal(expected))


@pytest.mark.parametrize(
    "text", ["", "soon", "0", "0m", "-1", "1h75", "1:5:0", "100000", "1e3", "٣", "1,500"]
)
def test_invalid_durations_are_answered_with_examples(text: str) -> None:
    with pytest.raises(UserError) as raised:
        hours(text)
    assert "`90m`" in worded(raised.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", "07-15"),
        ("Tomorrow", "07-16"),
        ("yesterday", "07-14"),
        ("2026-08-01", "08-01"),
        ("+3d", "07-18"),
        ("7d", "07-22"),
        ("2w", "07-29"),
        ("-1d", "07-14"),
        ("wed", "07-15"),
        ("mon", "07-20"),
        ("Friday", "07-17"),
        ("this monday", "07-13"),
        ("last Monday", "07-13"),
        ("next wednesday", "07-22"),
        ("next  friday", "07-17"),
        ("next week", "07-20"),
        ("next month", "08-01"),
        ("in 3 days", "07-18"),
        ("2 weeks ago", "07-01"),
        ("31/12/2026", "12-31"),
        ("12/31/2026", "12-31"),
        ("1.12.2026", "12-01"),
        ("5/5/2026", "05-05"),
        ("Dec 31", "12-31"),
        ("31 december 2026", "12-31"),
        ("Aug 1st, 2026", "08-01"),
    ],
)
def test_future_dates_parse(text: str, expected: str) -> None:
    assert day(text, WEDNESDAY).isoformat() == f"2026-{expected}"


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-02-30", "0001-01-01", "99999w", "m", "31/31/2026", "20260701", "last week", "mon 5"],
)
def test_invalid_dates_are_answered_with_examples(text: str) -> None:
    with pytest.raises(UserError) as raised:
        day(text, WEDNESDAY)
    assert "`2026-07-01`" in worded(raised.value)


def test_a_date_that_reads_two_ways_is_answered_with_both() -> None:
    with pytest.raises(AmbiguousDate) as raised:
        day("1/2/2026", WEDNESDAY)
    said = "“1/2/2026” could be January 2 or February 1. Type `2026-01-02` or `2026-02-01`."
    assert worded(raised.value) == said


def test_a_day_without_a_year_is_the_nearest_one() -> None:
    assert day("Jan 2", WEDNESDAY) == date(2027, 1, 2)
    assert days("Dec 31", WEDNESDAY, "past").since == date(2025, 12, 31)


@pytest.mark.parametrize("text", ["Dec 31", "31 December"])
def test_todays_date_without_a_year_means_today(text: str) -> None:
    today = date(2026, 12, 31)

    assert day(text, today, "future") == day(text, today, "past") == spent_day(text, today) == today


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("last week", "2026-07-06", "2026-07-12"),
        ("this month", "2026-07-01", "2026-07-31"),
        ("next year", "2027-01-01", "2027-12-31"),
        ("last 7 days", "2026-07-09", "2026-07-15"),
        ("next 2 weeks", "2026-07-15", "2026-07-28"),
        (">last week", "2026-07-13", None),
        ("last month..this week", "2026-06-01", "2026-07-19"),
        (">=2026-07-01", "2026-07-01", None),
        ("<=2026-07-01", None, "2026-07-01"),
        (">2026-07-01", "2026-07-02", None),
        ("<2026-07-01", None, "2026-06-30"),
        ("2026-07-01..mon", "2026-07-01", "2026-07-13"),
        ("yesterday..", "2026-07-14", None),
        ("..7d", None, "2026-07-08"),
        ("today", "2026-07-15", "2026-07-15"),
        ("7d", "2026-07-09", "2026-07-15"),
        ("1d", "2026-07-15", "2026-07-15"),
    ],
)
def test_past_date_ranges_parse(text: str, since: str | None, until: str | None) -> None:
    assert days(text, WEDNESDAY, "past") == DateRange(
        date.fromisoformat(since) if since else None, date.fromisoformat(until) if until else None
    )


@pytest.mark.parametrize("text", ["..", "2026-07-02..2026-07-01", "99999w", ">=", "1..2"])
def test_invalid_date_ranges_are_answered_with_examples(text: str) -> None:
    with pytest.raises(UserError) as raised:
        days(text, WEDNESDAY, "past")
    assert re.search("`(2026-07-01|30d)", worded(raised.value))


@pytest.mark.parametrize(
    ("zone", "when", "since", "until"),
    [
        ("Europe/Paris", "2026-10-25", "2026-10-24T22:00:00", "2026-10-25T22:59:59"),
        ("America/Havana", "2026-11-01", "2026-11-01T04:00:00", "2026-11-02T04:59:59"),
        ("America/Santiago", "2026-04-04", "2026-04-04T03:00:00", "2026-04-05T03:59:59"),
    ],
)
def test_days_are_complete_when_clocks_change(zone: str, when: str, since: str, until: str) -> None:
    found = times(when, WEDNESDAY, ZoneInfo(zone), "past")

    ends = [datetime.fromisoformat(end).replace(tzinfo=UTC) for end in (since, until)]
    assert [end and end.astimezone(UTC) for end in (found.since, found.until)] == ends
