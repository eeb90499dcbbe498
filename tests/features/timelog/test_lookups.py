"""Projects and days that are named without a keyword are understood, unless they may be something else."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.sandbox.tracker.data import Data, Issue
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of, values_of

DESIGN, DEVELOPMENT = 1, 2
WEB_SHOP, MOBILE = 1, 2


def some_day() -> date:
    return datetime.now(ZoneInfo("Europe/Madrid")).date() - timedelta(days=6)


@pytest.mark.parametrize(
    "typed",
    [
        "web 2h design kickoff",
        "2h web design kickoff",
        "Web Shop 2h kickoff design",
        "log 2h webshop design kickoff",
    ],
)
async def test_a_project_beside_a_duration_needs_no_keyword(office: Office, ana: Person, typed: str) -> None:
    answer = await ana.ask(f"/timelog {typed}")

    entry = office.newest_time()
    assert (entry.project_id, entry.issue_id, entry.minutes) == (WEB_SHOP, None, 120)
    assert (entry.activity_id, entry.comments) == (DESIGN, "kickoff")
    assert answer["text"].startswith("Logged 2h on <")


def another_project_fits(data: Data) -> None:
    data.projects[MOBILE].name = "Young Web"


def an_activity_fits(data: Data) -> None:
    data.activities[DESIGN].name = "Web design"


def logging_is_not_allowed(data: Data) -> None:
    for role in data.roles.values():
        role.rights -= {"log_time"}


def nothing_else(_: Data) -> None:
    pass


@pytest.mark.parametrize(
    ("typed", "comment", "change"),
    [
        ("web 2h design kickoff", "web 2h design kickoff", another_project_fits),
        ("2h web design kickoff", "web design kickoff", an_activity_fits),
        ("2h web kickoff", "web kickoff", logging_is_not_allowed),
        ("2h shop floor visit", "shop floor visit", nothing_else),
        ("2h web and mobile sync", "web and mobile sync", nothing_else),
        ('2h "web" kickoff', '"web" kickoff', nothing_else),
        ("2h talked about web shop", "talked about web shop", nothing_else),
    ],
)
async def test_a_project_that_is_only_a_guess_stays_in_the_comment(
    office: Office, ana: Person, typed: str, comment: str, change: Callable[[Data], None]
) -> None:
    change(office.tracker.data)
    before = len(office.tracker.data.time_entries)

    form = await ana.form_after(ana.command(f"/timelog {typed}"), "Log time")

    assert values_of(form)["Issue"] is None
    assert values_of(form)["Comment"] == comment
    assert len(office.tracker.data.time_entries) == before


@pytest.mark.parametrize("comment", ["{day} development", "development {day}", "{day} development Pairing"])
async def test_a_day_may_have_no_keyword(office: Office, ana: Person, issue: Issue, comment: str) -> None:
    day = some_day()

    answer = await ana.ask(f"/timelog {issue.id} 90m {comment.format(day=f'{day:%b} {day.day}'.lower())}")

    entry = office.newest_time()
    assert (entry.minutes, entry.spent_on, entry.activity_id) == (90, day, DEVELOPMENT)
    assert (entry.comments or "") == ("Pairing" if "Pairing" in comment else "")
    assert f"{day:%b} {day.day}" in text_of(answer)


@pytest.mark.parametrize(
    ("typed", "comment"),
    [
        ("activity:design {day} release notes", "{day} release notes"),
        ("activity:design {day} development", "{day} development"),
        ("testing the release {day}", "the release {day}"),
        ("development for {day}", "for {day}"),
    ],
)
async def test_a_day_that_may_be_part_of_the_comment_stays_in_it(
    office: Office, ana: Person, issue: Issue, typed: str, comment: str
) -> None:
    then = some_day()
    day = f"{then:%b} {then.day}"

    await ana.ask(f"/timelog {issue.id} 90m {typed.format(day=day)}")

    entry = office.newest_time()
    assert (entry.spent_on > then, entry.comments) == (True, comment.format(day=day))


async def test_a_day_and_an_activity_without_an_issue_are_in_the_form(ana: Person, issue: Issue) -> None:
    day = some_day()

    form = await ana.form_after(ana.command(f"/timelog 90m {day:%b} {day.day} development"), "Log time")

    values = values_of(form)
    assert (values["Hours"], values["Date"], values["Comment"]) == ("1.5", str(day), None)
    await ana.choose(form, "Issue", f"#{issue.id} ")
    await ana.form("Log time", lambda view: values_of(view).get("Activity") == "Development")
