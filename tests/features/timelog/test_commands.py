from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from bot.errors import UserError
from bot.features.timelog.commands import EditLastEntry, Misread, timelog_command
from bot.features.timelog.timelog import TimeDraft, TimeToLog
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


def logged(spent: str, comment: str = "", day: int = 15, **about: Any) -> TimeToLog:
    """Time on issue 42, or `about` something else, on a day of July 2026."""
    about = about or {"issue": 42}
    return TimeToLog(hours=Decimal(spent), spent_on=date(2026, 7, day), comment=comment, **about)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42 1h 30", logged("1.5")),
        ("42 1h 30 tickets sorted", logged("1", "30 tickets sorted")),
        ("42 2 30 tickets sorted", logged("2", "30 tickets sorted")),
        ("42 2 hours of it", logged("2", "of it")),
        ('42 2 "as it was"', logged("2", "as it was")),
        ("42 20m Fixed: it", logged("0.3333", "Fixed: it")),
        ("1h 42", logged("1")),
        ("1h #42", logged("1")),
        ("1h 30m 42 Pairing", logged("1.5", "Pairing")),
        ("90m #42 30 tickets sorted", logged("1.5", "30 tickets sorted")),
        ("1:30 42", logged("1.5")),
        ("1 h 30 min #42", logged("1.5")),
        ("5h 30m for #42", logged("5.5")),
        ("add 2 hours to issue 42 Code review", logged("2", "Code review")),
        ("1.5 on 42", logged("1.5")),
        ("42 1h yesterday", logged("1", day=14)),
        ("1h 42 Yesterday Pairing", logged("1", "Pairing", day=14)),
        ("42 1h today", logged("1")),
        ("42 1h 2026-07-01 Pairing", logged("1", "Pairing", day=1)),
        ("42 1h mon", logged("1", day=13)),
        ("42 1h Mon Repos renovated", logged("1", "Mon Repos renovated")),
        ("42 1h What broke yesterday", logged("1", "What broke", day=14)),
        ("42 1h last friday", logged("1", day=10)),
        ("42 1h on friday", logged("1", day=10)),
        ("1h 42 on wednesday Pairing", logged("1", "Pairing", day=8)),
        ("42 1h Fix the friday report last friday.", logged("1", "Fix the friday report", day=10)),
        ("42 1h on Jul 3 Deployed", logged("1", "Deployed", day=3)),
        ("42 1h Deployed 2026-07-01", logged("1", "Deployed", day=1)),
        ("42 1h for yesterday", logged("1", day=14)),
        ("42 1h 2 days ago", logged("1", day=13)),
        ("42 1h Fix the friday report", logged("1", "Fix the friday report")),
        ("42 1h Report for last friday", logged("1", "Report for last friday")),
        ('42 1h Play "last friday"', logged("1", 'Play "last friday"')),
        ("42 1h Moved on sprint 31", logged("1", "Moved on sprint 31")),
        ("42 1h Moved on 2 fronts", logged("1", "Moved on 2 fronts")),
        ("42 1h tomorrow", logged("1", day=16, issue=42, with_day="tomorrow")),
        ('42 1h "yesterday"', logged("1", "yesterday")),
        ("42 1h yesterday's call", logged("1", "yesterday's call")),
        ("42 1h on:mon yesterday", logged("1", "yesterday", day=13)),
        ("42 1h on:tue", logged("1", day=14)),
        ("42 1h on:Wed", logged("1", day=8)),
        ("42 1h on:thursday", logged("1", day=9)),
        ("project:web 1h yesterday", logged("1", day=14, project="web")),
        ('project:"web shop" 45m stand-up', logged("0.75", "stand-up", project="web shop")),
    ],
)
def test_issue_duration_day_and_comment_are_told_apart(text: str, expected: TimeToLog) -> None:
    assert timelog_command(text, WEDNESDAY) == expected


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("", TimeDraft()),
        ("42", TimeDraft(issue=42)),
        ("42 activity:design", TimeDraft(issue=42, activity="design")),
        ("project:web", TimeDraft(project="web")),
        ("login page", TimeDraft(comment="login page")),
        ("1h30", TimeDraft(hours=Decimal("1.5"))),
        ("1h 30m stand-up", TimeDraft(hours=Decimal("1.5"), comment="stand-up")),
        ("1h 30 42", TimeDraft(hours=Decimal(1), comment="30 42")),
        ("1h 42 2 files", TimeDraft(hours=Decimal(1), comment="42 2 files")),
        ("on:yesterday", TimeDraft(spent_on=date(2026, 7, 14))),
        ("1h on friday", TimeDraft(hours=Decimal(1), spent_on=date(2026, 7, 10))),
    ],
)
def test_missing_or_ambiguous_parts_open_the_form(text: str, known: TimeDraft) -> None:
    assert timelog_command(text, WEDNESDAY) == known


def test_edit_and_help_are_parsed() -> None:
    assert {timelog_command(verb, WEDNESDAY) for verb in ("edit", "Delete", "undo")} == {EditLastEntry()}
    assert timelog_command("Help", WEDNESDAY) == Help()
    with pytest.raises(UserError) as raised:
        timelog_command("edit 7", WEDNESDAY)
    assert "on its own" in worded(raised.value)


@pytest.mark.parametrize(
    ("text", "told", "understood"),
    [
        ("42 soon", "isn't a duration", TimeDraft(issue=42, comment="soon")),
        ("42 0h", "more than 0", TimeDraft(issue=42, comment="0h")),
        ("project:web 42 1h30", "Leave one out", LOGGED),
        ("42 1h30 on:soon", "`yesterday`", LOGGED),
        ("42 1h30 on 3/4/2026", "could be March 4", LOGGED.model_copy(update={"comment": "on 3/4/2026"})),
        ("42 1h30 on Feb 30", "`yesterday`", LOGGED.model_copy(update={"comment": "on Feb 30"})),
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


def test_thousandths_after_a_comma_depend_on_the_users_locale() -> None:
    for text, locale in (("1,125", "es-ES"), ("1,125h", "sv-SE"), ("1.125", "de-DE")):
        assert hours(text, locale) == Decimal("1.125")
    for locale in ("en-GB", "es-LA", ""):
        with pytest.raises(UserError) as raised:
            hours("1,125", locale)
        assert "isn't a duration" in worded(raised.value)
