from datetime import UTC, date, datetime, timedelta

from bot.slack.text import day


def test_day_is_the_same_for_readers_in_every_larger_zone() -> None:
    token = day(date(2026, 7, 1))
    at = datetime.fromtimestamp(int(token.split("^")[1]), UTC)

    assert {(at + timedelta(hours=zone)).date() for zone in range(-10, 14)} == {date(2026, 7, 1)}
    assert token.endswith("^{date_short_pretty}|Jul 1, 2026>")
