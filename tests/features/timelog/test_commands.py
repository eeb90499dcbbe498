from datetime import date
from decimal import Decimal

import pytest

from bot.errors import UserError
from bot.features.timelog.commands import EditLastEntry, Misread, timelog_command
from bot.features.timelog.timelog import TimeDraft, TimeToLog
from bot.slack.grammar.dates import spent_day
from bot.slack.grammar.durations import hours
from bot.slack.grammar.requests import Help
from tests.support.wording import worded

WEDNESDAY = date(2026, 7, 15)
LOGGED = TimeToLog(issue=42, hours=Decimal("1.5"), spent_on=WEDNESDAY)


@pytest.mark.parametrize("issue", ["42", "#42", "<https://tracker.example/issues/42>"])
@pytest.mark.parametrize(
    "duration", ["1.5", "1,5h", "90m", "1h30", "1h 30m", "1:30", "1 h 30 min", "1.5 hours"]
)
def test_issue_time_parses_in_every_form(issue: str, duration: str) -> None:
    asked = timelog_command(f"{issue} {duration} activity:design on:mon Pairing with <@U1|ben>", WEDNESDAY)

    assert asked == TimeToLog(
        issue=42,
        hours=Decimal("1.5"),
        activity="design",
        spent_on=date(2026, 7, 13),
        comment="Pairing with @ben",
    )


@pytest.mark.parametrize(
    ("text", "spent", "comment"),
    [
        ("42 1h30", "1.5", ""),
        ("42 1h 30", "1.5", ""),
        ("42 1h 30 tickets sorted", "1", "30 tickets sorted"),
        ("42 2 30 tickets sorted", "2", "30 tickets sorted"),
        ("42 2 hours of it", "2", "of it"),
        ('42 2 "as it was"', "2", "as it was"),
        ("42 20m Fixed: it", "0.3333", "Fixed: it"),
    ],
)
def test_text_after_the_duration_is_the_comment(text: str, spent: str, comment: str) -> None:
    assert timelog_command(text, WEDNESDAY) == TimeToLog(
        issue=42, hours=Decimal(spent), spent_on=WEDNESDAY, comment=comment
    )


@pytest.mark.parametrize(
    ("text", "issue", "spent", "comment"),
    [
        ("1h 42", 42, "1", ""),
        ("1h #42", 42, "1", ""),
        ("1h 30m 42 Pairing", 42, "1.5", "Pairing"),
        ("90m #42 30 tickets sorted", 42, "1.5", "30 tickets sorted"),
        ("1:30 42", 42, "1.5", ""),
        ("1 h 30 min #42", 42, "1.5", ""),
        ("5h 30m for #42", 42, "5.5", ""),
        ("add 2 hours to issue 42 Code review", 42, "2", "Code review"),
        ("1.5 on 42", 42, "1.5", ""),
    ],
)
def test_duration_with_a_unit_may_precede_the_issue(text: str, issue: int, spent: str, comment: str) -> None:
    assert timelog_command(text, WEDNESDAY) == TimeToLog(
        issue=issue, hours=Decimal(spent), spent_on=WEDNESDAY, comment=comment
    )


@pytest.mark.parametrize(
    ("text", "spent", "comment"),
    [
        ("1h 30m", "1.5", ""),
        ("1h30", "1.5", ""),
        ("1h 30 42", "1", "30 42"),
        ("1h 42 2 files", "1", "42 2 files"),
    ],
)
def test_ambiguous_numbers_open_the_form(text: str, spent: str, comment: str) -> None:
    known = TimeDraft(hours=Decimal(spent), comment=comment)

    assert timelog_command(text, WEDNESDAY) == known


@pytest.mark.parametrize(
    ("text", "day", "comment"),
    [
        ("42 1h yesterday", 14, ""),
        ("1h 42 Yesterday Pairing", 14, "Pairing"),
        ("42 1h today", 15, ""),
        ("42 1h 2026-07-01 Pairing", 1, "Pairing"),
        ("42 1h mon", 13, ""),
        ("project:web 1h yesterday", 14, ""),
    ],
)
def test_day_after_the_duration_is_the_date(text: str, day: int, comment: str) -> None:
    asked = timelog_command(text, WEDNESDAY)

    assert isinstance(asked, TimeToLog)
    assert (asked.spent_on, asked.comment) == (date(2026, 7, day), comment)


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("42 1h Mon Repos renovated", WEDNESDAY),
        ("42 1h What broke yesterday", WEDNESDAY),
        ('42 1h "yesterday"', WEDNESDAY),
        ("42 1h yesterday's call", WEDNESDAY),
        ("42 1h on:mon yesterday", date(2026, 7, 13)),
    ],
)
def test_day_within_the_comment_is_not_the_date(text: str, on: date) -> None:
    asked = timelog_command(text, WEDNESDAY)

    assert isinstance(asked, TimeToLog)
    assert asked.spent_on == on
    assert asked.comment


def test_project_time_is_parsed() -> None:
    asked = timelog_command('project:"web shop" 45m stand-up', WEDNESDAY)

    assert asked == TimeToLog(
        project="web shop", hours=Decimal("0.75"), spent_on=WEDNESDAY, comment="stand-up"
    )


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("", TimeDraft()),
        ("42", TimeDraft(issue=42)),
        ("42 activity:design", TimeDraft(issue=42, activity="design")),
        ("project:web", TimeDraft(project="web")),
        ("login page", TimeDraft(comment="login page")),
        ("1h30 stand-up", TimeDraft(hours=Decimal("1.5"), comment="stand-up")),
        ("on:yesterday", TimeDraft(spent_on=date(2026, 7, 14))),
    ],
)
def test_missing_parts_open_the_form(text: str, known: TimeDraft) -> None:
    assert timelog_command(text, WEDNESDAY) == known


def test_edit_and_help_are_parsed() -> None:
    assert {timelog_command(verb, WEDNESDAY) for verb in ("edit", "Delete", "undo")} == {EditLastEntry()}
    assert timelog_command("Help", WEDNESDAY) == Help()


@pytest.mark.parametrize(
    ("text", "told", "understood"),
    [
        ("42 soon", "isn't a duration", TimeDraft(issue=42, comment="soon")),
        ("42 0h", "more than 0", TimeDraft(issue=42, comment="0h")),
        ("project:web 42 1h30", "Leave one out", LOGGED),
        ("42 1h30 on:soon", "`yesterday`", LOGGED),
        ("42 1h30 date:mon", "`on:`", LOGGED.model_copy(update={"spent_on": date(2026, 7, 13)})),
        ("42 1h30 note:x", "`activity:`", LOGGED.model_copy(update={"comment": "note:x"})),
        ('42 1h30 "open', "quotation mark", LOGGED.model_copy(update={"comment": "open"})),
    ],
)
def test_mistake_says_what_to_type_and_keeps_what_was_understood(
    text: str, told: str, understood: TimeDraft
) -> None:
    asked = timelog_command(text, WEDNESDAY)

    assert isinstance(asked, Misread)
    assert told in worded(asked.error)
    assert asked.draft == understood


def test_edit_with_more_text_is_refused() -> None:
    with pytest.raises(UserError) as raised:
        timelog_command("edit 7", WEDNESDAY)
    assert "on its own" in worded(raised.value)


@pytest.mark.parametrize(
    ("text", "day"),
    [("today", 15), ("yesterday", 14), ("tue", 14), ("Wed", 8), ("thursday", 9), ("2026-07-01", 1)],
)
def test_weekday_means_the_latest_one_before_today(text: str, day: int) -> None:
    assert spent_day(text, WEDNESDAY) == date(2026, 7, day)


@pytest.mark.parametrize(("text", "locale"), [("1,125", "es-ES"), ("1,125h", "sv-SE"), ("1.125", "de-DE")])
def test_decimal_comma_follows_the_users_locale(text: str, locale: str) -> None:
    assert hours(text, locale) == Decimal("1.125")


@pytest.mark.parametrize("locale", ["en-GB", "es-LA", ""])
def test_ambiguous_thousands_comma_is_refused(locale: str) -> None:
    with pytest.raises(UserError) as raised:
        hours("1,125", locale)

    assert "isn't a duration" in worded(raised.value)
