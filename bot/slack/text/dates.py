"""Dates in mrkdwn, which Slack shows in each reader's own format (docs/slack.md, Text)."""

from datetime import UTC, date, datetime, time

_HOUR = time(10, 30, tzinfo=UTC)
"""The hour at which it is the same day from Honolulu to Auckland."""


def day(value: date) -> str:
    """A day as Slack's date token: `Jul 1`, or `today`, `yesterday` or `tomorrow`."""
    at = int(datetime.combine(value, _HOUR).timestamp())
    return f"<!date^{at}^{{date_short_pretty}}|{value:%b} {value.day}, {value.year}>"


def moment(at: datetime) -> str:
    """A time as Slack's date token: each reader sees it in their own time zone."""
    utc = at.astimezone(UTC)
    shown = f"{utc:%b} {utc.day}, {utc.year} at {utc:%H:%M} UTC"
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} at {{time}}|{shown}>"
