from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.features.digests.schedules import (
    ScheduleError,
    due_times,
    next_times,
    parse,
    previous_times,
    zone_named,
)
from tests.support.wording import WORDING

MADRID, NEW_YORK, LORD_HOWE = "Europe/Madrid", "America/New_York", "Australia/Lord_Howe"
NIGHTS = {
    # the clock is set forward; the clock is set back
    MADRID: (date(2026, 3, 29), date(2026, 10, 25)),  # 2 → 3; 3 → 2
    NEW_YORK: (date(2026, 3, 8), date(2026, 11, 1)),  # 2 → 3; 2 → 1
    LORD_HOWE: (date(2026, 10, 4), date(2026, 4, 5)),  # 2 → 2:30; 2 → 1:30
}
ZONES = (
    *NIGHTS,
    "UTC",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Europe/London",
    "Africa/Casablanca",
    "Africa/Cairo",  # skips midnight and repeats 23:00
    "America/Havana",
    "America/Santiago",
    "Antarctica/Troll",  # a shift of two hours
    "Pacific/Chatham",
    # not America/Nuuk, which skips the hour before midnight: runs due then are on the next day
)
WHOLE_HOURS = (MADRID, NEW_YORK, "UTC", "Asia/Kolkata", "Asia/Kathmandu", "Europe/London")
MINUTES = (0, 15, 30, 45)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

clocks = st.times().map(lambda clock: f"{clock:%H:%M}")
fields = st.sampled_from(["*", "*/15", "*/2", "0", "1", "30", "0-59", "1-23/2", "0,15,30,45"])
hours = st.sampled_from(["*", "*/6", "0", "1", "2", "3", "23", "0-23", "0-3", "1,2"])
cron_lines = st.builds(
    "cron {} {} {} * {}".format,
    fields,
    hours,
    st.sampled_from(["*", "1", "L", "*/7", "24-31"]),
    st.sampled_from(["*", "1-5", "0", "7L", "MON#1"]),
)
texts = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["daily", "weekdays"]), clocks),
    st.builds("weekly {} {}".format, st.lists(st.sampled_from(DAYS), min_size=1).map(",".join), clocks),
    st.builds("hourly :{:02}".format, st.integers(0, 59)),
    cron_lines,
)
moments = st.builds(
    lambda passed: datetime(2024, 1, 1, tzinfo=UTC) + passed, st.timedeltas(timedelta(), timedelta(days=5800))
) | st.builds(
    # around clock changes
    lambda zone, night, minutes: (
        datetime.combine(NIGHTS[zone][night], time(), ZoneInfo(zone)).astimezone(UTC)
        + timedelta(minutes=minutes)
    ),
    st.sampled_from(list(NIGHTS)),
    st.integers(0, 1),
    st.integers(-300, 600),
)


def on_the_clock(due: tuple[datetime, ...], zone: str) -> list[str]:
    assert all(moment.tzinfo is UTC for moment in due)
    return [f"{moment.astimezone(ZoneInfo(zone)):%H:%M %z}" for moment in due]


def due_on(text: str, zone: str, day: date, first: str = "00:00", last: str = "05:00") -> list[str]:
    since, until = (datetime.combine(day, time.fromisoformat(at), ZoneInfo(zone)) for at in (first, last))
    return on_the_clock(due_times(parse(text), zone, since, until), zone)


@pytest.mark.parametrize(
    ("typed", "text", "cron"),
    [
        ("daily 09:00", "daily 09:00", "0 9 * * *"),
        ("Daily", "daily 09:00", "0 9 * * *"),
        ("daily 9", "daily 09:00", "0 9 * * *"),
        ("daily 9:05", "daily 09:05", "5 9 * * *"),
        ("daily 9.30", "daily 09:30", "30 9 * * *"),
        ("daily 9am", "daily 09:00", "0 9 * * *"),
        ("daily 5:30 PM", "daily 17:30", "30 17 * * *"),
        ("daily at 12 a.m.", "daily 00:00", "0 0 * * *"),
        ("daily at 12pm", "daily 12:00", "0 12 * * *"),
        ("weekdays", "weekdays 09:00", "0 9 * * 1-5"),
        ("weekdays at 8:15", "weekdays 08:15", "15 8 * * 1-5"),
        ("weekly mon 09:00", "weekly mon 09:00", "0 9 * * 1"),
        ("weekly Thursday, mon 9", "weekly mon,thu 09:00", "0 9 * * 1,4"),
        ("weekly on tues and Sundays", "weekly tue,sun 09:00", "0 9 * * 2,0"),
        ("weekly mon mon,monday 7pm", "weekly mon 19:00", "0 19 * * 1"),
        ("hourly", "hourly", "0 * * * *"),
        ("hourly at 0", "hourly", "0 * * * *"),
        ("hourly :30", "hourly :30", "30 * * * *"),
        ("hourly at 5", "hourly :05", "5 * * * *"),
        ("cron 0 9 * * 1-5", "cron 0 9 * * 1-5", "0 9 * * 1-5"),
        ("cron “0 9 * * 1-5”", "cron 0 9 * * 1-5", "0 9 * * 1-5"),
        ("CRON  */15 8-18 l jan,jul Mon#1", "cron */15 8-18 L JAN,JUL MON#1", "*/15 8-18 L JAN,JUL MON#1"),
        ("cron 0 9 29 2 *", "cron 0 9 29 2 *", "0 9 29 2 *"),
        ("every day at 9", "daily 09:00", "0 9 * * *"),
        ("every 15 minutes", "cron */15 * * * *", "*/15 * * * *"),
        ("daily at noon", "daily 12:00", "0 12 * * *"),
        ("mon wed fri at 10", "weekly mon,wed,fri 10:00", "0 10 * * 1,3,5"),
        ("weekly mon-wed 9", "weekly mon,tue,wed 09:00", "0 9 * * 1,2,3"),
        ("every 2 hours", "cron 0 */2 * * *", "0 */2 * * *"),
    ],
)
def test_schedules_parse_as_typed(typed: str, text: str, cron: str) -> None:
    schedule = parse(typed)

    assert (schedule.text, schedule.cron) == (text, cron)
    assert parse(schedule.text) == schedule


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("", "When should I post?"),
        ("monthly", "When should I post?"),
        ("mon", "When should I post?"),  # it may be a project's name
        ("daily 24:00", "Try `daily 9:00` or `daily 5:30 pm`"),
        ("daily 9:60", "Try `daily 9:00`"),
        ("daily 13pm", "Try `daily 9:00`"),
        ("daily 0am", "Try `daily 9:00`"),
        ("daily 9:5", "Try `daily 9:00`"),
        ("daily 9 10", "a time after `daily`"),
        ("daily mon 9", "a time after `daily`"),
        ("every now and then", "When should I post?"),
        ("every 7 minutes", "every 15, 20, or 30 minutes"),
        ("every 0 hours", "every 15, 20, or 30 minutes"),
        ("weekdays ٣", "Try `weekdays 9:00`"),
        ("weekly", "Which day?"),
        ("weekly 09:00", "Which day?"),
        ("weekly mo 09:00", "Which day?"),
        ("weekly mon,someday 9", "Try `weekly mon 9:00`"),
        ("hourly 60", "Try `hourly`, or `hourly :30`"),
        ("hourly 9:00", "Try `hourly`, or `hourly :30`"),
        ("cron", "five fields"),
        ("cron @daily", "five fields"),
        ("cron 0 0 9 * * 1-5", "five fields"),
        ("cron " + "0," * 200 + "0 9 * * *", "five fields"),
        ("cron 60 9 * * *", "The minute in that cron expression"),
        ("cron 0 9 * * 1-8", "The day of the week in that cron expression"),
        ("cron */0 9 * * *", "`cron 0 9 * * 1-5`"),
        ("cron 0 9 30 2 *", "The day of the month in that cron expression"),
        ("cron 0 9 */31 2 MON#5", "never matches a date"),
    ],
)
def test_invalid_schedule_error_shows_what_to_type(typed: str, told: str) -> None:
    with pytest.raises(ScheduleError) as raised:
        parse(typed)
    assert told in WORDING.sentence(raised.value)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Europe/Paris", "Europe/Paris"),
        ("europe/paris", "Europe/Paris"),
        (" america/new  york ", "America/New_York"),
        ("utc", "UTC"),
    ],
)
def test_time_zones_are_found_by_name(typed: str, name: str) -> None:
    assert zone_named(typed) == name


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("Paris", "Did you mean `Europe/Paris`?"),
        ("new york", "Did you mean `America/New_York`?"),
        ("Europe/Madird", "Did you mean `Europe/Madrid`?"),
        ("GMT+2", "`Europe/Paris` or `UTC`"),
        ("localtime", "`Europe/Paris` or `UTC`"),
        ("../../etc/passwd", "`Europe/Paris` or `UTC`"),
        ("", "`Europe/Paris` or `UTC`"),
    ],
)
def test_unknown_time_zone_error_suggests_similar_ones(typed: str, told: str) -> None:
    with pytest.raises(ScheduleError) as raised:
        zone_named(typed)
    assert told in WORDING.sentence(raised.value)


@pytest.mark.parametrize(
    ("text", "zone", "due"),
    [
        ("daily 02:30", MADRID, ["03:00 +0200"]),
        ("daily 02:00", NEW_YORK, ["03:00 -0400"]),
        ("daily 02:15", LORD_HOWE, ["02:30 +1100"]),
        ("cron 0,30 2,3 * * *", MADRID, ["03:00 +0200", "03:30 +0200"]),
        ("hourly", MADRID, ["00:00 +0100", "01:00 +0100", "03:00 +0200", "04:00 +0200"]),
        ("hourly :30", NEW_YORK, ["00:30 -0500", "01:30 -0500", "03:30 -0400"]),
        ("hourly", LORD_HOWE, ["00:00 +1030", "01:00 +1030", "03:00 +1100", "04:00 +1100"]),
        ("hourly :30", LORD_HOWE, ["00:30 +1030", "01:30 +1030", "03:30 +1100"]),
        ("cron */15 1-3 * * *", MADRID, [f"0{h}:{m:02} +0{h // 2 + 1}00" for h in (1, 3) for m in MINUTES]),
        ("cron */15 2 * * *", MADRID, []),
        ("cron */15 2 * * *", LORD_HOWE, ["02:30 +1100", "02:45 +1100"]),
    ],
)
def test_skipped_time_runs_right_after_the_gap(text: str, zone: str, due: list[str]) -> None:
    assert due_on(text, zone, NIGHTS[zone][0], last="04:00") == due


@pytest.mark.parametrize(
    ("text", "zone", "due"),
    [
        ("daily 02:30", MADRID, ["02:30 +0200"]),
        ("daily 01:00", NEW_YORK, ["01:00 -0400"]),
        ("daily 01:45", LORD_HOWE, ["01:45 +1100"]),
        ("hourly", MADRID, ["01:00 +0200", "02:00 +0200", "02:00 +0100", "03:00 +0100"]),
        ("hourly :30", NEW_YORK, ["01:30 -0400", "01:30 -0500", "02:30 -0500"]),
        ("hourly :30", LORD_HOWE, ["01:30 +1100", "02:30 +1030"]),
        ("hourly", LORD_HOWE, ["01:00 +1100", "02:00 +1030", "03:00 +1030"]),
        ("cron */15 2 * * *", MADRID, [f"02:{m:02} +0{o}00" for o in (2, 1) for m in MINUTES]),
        (
            "cron */15 1 * * *",
            LORD_HOWE,
            [*(f"01:{m:02} +1100" for m in MINUTES), "01:30 +1030", "01:45 +1030"],
        ),
    ],
)
def test_repeated_time_runs_once_unless_schedule_is_periodic(text: str, zone: str, due: list[str]) -> None:
    assert due_on(text, zone, NIGHTS[zone][1], first="01:00", last="03:00") == due


def test_past_times_do_not_return_within_a_repeated_hour() -> None:
    second = datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo(MADRID))
    once, counted = parse("daily 02:45"), parse("cron */15 2 * * *")

    assert on_the_clock(next_times(once, MADRID, second, 1), MADRID) == ["02:45 +0100"]
    assert next_times(once, MADRID, second, 1)[0].day == 26
    assert on_the_clock(previous_times(once, MADRID, second, 1), MADRID) == ["02:45 +0200"]
    assert on_the_clock(next_times(counted, MADRID, second, 1), MADRID) == ["02:45 +0100"]
    assert on_the_clock(previous_times(counted, MADRID, second, 3), MADRID) == [
        "02:45 +0200",
        "02:00 +0100",
        "02:15 +0100",
    ]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("daily 9", "every day at 9:00 AM"),
        ("weekdays 0:15", "every weekday at 12:15 AM"),
        ("weekly mon 12", "every Monday at 12:00 PM"),
        ("weekly mon,thu,sun 21:30", "every Monday, Thursday, and Sunday at 9:30 PM"),
        ("hourly", "every hour"),
        ("hourly :30", "every hour at :30"),
        ("cron */20 * * * *", "every 20 minutes"),
        ("cron 30 * * * *", "every hour at :30"),
        ("cron 0 */3 * * *", "every 3 hours"),
        ("cron 0 9 * * 1-5", "every weekday at 9:00 AM"),
        ("cron 30 14 1 * *", "at 2:30 PM on the first day of every month"),
    ],
)
def test_schedules_are_said_in_words(typed: str, said: str) -> None:
    schedule = parse(typed)

    assert schedule.in_words() == said
    if not schedule.text.startswith("cron"):
        assert parse(said) == schedule


@given(texts, st.sampled_from(ZONES), moments, st.integers(1, 20))
def test_forward_backward_and_range_searches_agree(text: str, zone: str, after: datetime, count: int) -> None:
    schedule = parse(text)
    due = next_times(schedule, zone, after, count)

    assert len(due) == count
    assert list(due) == sorted({moment for moment in due if moment > after})
    if zone not in WHOLE_HOURS:  # where clocks shift otherwise, cronsim's answers depend on the start
        return
    assert due_times(schedule, zone, after + timedelta.resolution, due[-1]) == due
    assert previous_times(schedule, zone, due[-1] + timedelta.resolution, count) == due
    assert due_times(schedule, zone, due[-1], due[-1]) == due[-1:]


@settings(max_examples=20, deadline=None)  # a year of due times each
@given(clocks, st.sampled_from(ZONES), st.integers(2024, 2045))
def test_daily_schedule_is_due_once_each_day(clock: str, zone: str, year: int) -> None:
    first, after = date(year, 1, 1), date(year + 1, 1, 1)
    since, until = (datetime.combine(day, time(), ZoneInfo(zone)) for day in (first, after))

    due = due_times(parse(f"daily {clock}"), zone, since, until - timedelta.resolution)

    days = Counter(moment.astimezone(ZoneInfo(zone)).date() for moment in due)
    assert days == Counter(first + timedelta(days=n) for n in range((after - first).days))


def test_search_ends_if_nothing_is_ever_due() -> None:
    at_night = parse("cron */15 2 * 3 7L")  # always skipped in Madrid, never in UTC
    since = datetime(2026, 1, 1, tzinfo=UTC)

    assert next_times(at_night, MADRID, since, 1) == ()
    assert len(next_times(at_night, "UTC", since, 5)) == 5
    first = due_times(parse("cron * * * * *"), MADRID, since, since + timedelta(days=3650))
    assert first == tuple(since + timedelta(minutes=n) for n in range(1000))
