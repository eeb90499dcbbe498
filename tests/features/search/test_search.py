"""Searching, paging and sharing a result."""

import pytest

from bot.sandbox.people import PEOPLE
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of


async def test_describes_the_search_and_pages_through_results(ana: Person) -> None:
    first = await ana.ask("/issues project:webshop status:any")
    assert "Project: Web Shop · Status: any" in text_of(first)
    assert ", 1–10" in text_of(first)

    second = await ana.after(ana.press(first, "Next ›"))
    assert second["ts"] == first["ts"]
    assert ", 11–20" in text_of(second)

    back = await ana.after(ana.press(second, "‹ Previous"))
    assert text_of(back) == text_of(first)


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("voucher", "Subject contains “voucher”"),
        ("to:me", "Assignee: me"),
        ("to:@ana status:any", "Assignee: Ana Ruiz"),
        ("to:nobody", "Assignee: nobody"),
        ("author:ben project:webshop", "Author: Ben Okafor"),
        ("tracker:bug,feature project:webshop", "Tracker: Bug or Feature"),
        ("status:new,feedback project:webshop", "Status: New or Feedback"),
        ("priority:>=high project:webshop", None),
        ("priority:high project:webshop", "Priority: High"),
        ("category:search project:webshop", "Category: Search"),
        ("version:3.0 project:webshop status:any", "Target version: 3.0"),
        ("created:7d", "Created: "),
        ("updated:>=2026-01-01", "Updated: from 2026-01-01 on"),
        ("closed:2026-01-01..2030-01-01", "Status: closed"),
        ("due:<=2030-01-01 sort:due", "sorted by due date ↑"),
        ("query:1", "saved query 1"),
        ("id:28,29", "Issue: #28 or #29"),
        ("cf_1:Major project:mobile status:any", "Severity: Major"),
        ("subproject:none project:infrastructure", "without subprojects"),
    ],
)
async def test_describes_every_filter(ana: Person, typed: str, understood: str | None) -> None:
    said = text_of(await ana.ask(f"/issues {typed}"))

    if understood is None:
        assert "No priority called" in said
    else:
        assert understood in said, said
        assert "That search" not in said


@pytest.mark.parametrize("typed", ["cf_1:major", "severity:major", "SEVERITY:MAJOR"])
async def test_matches_custom_field_names_and_values_ignoring_case(ana: Person, typed: str) -> None:
    said = text_of(await ana.ask(f"/issues {typed} project:mobile status:any"))

    assert "Severity: Major" in said
    assert "No issue fits" not in said


async def test_an_unknown_option_suggests_the_nearest_custom_field(ana: Person) -> None:
    await ana.ask("/tracker default mobile")

    assert "Did you mean `severity:`?" in text_of(await ana.ask("/issues severty:major"))
    assert "Did you mean `priority:`?" in text_of(await ana.ask("/issues priorty:high"))


async def test_a_category_without_a_project_asks_for_one(ana: Person) -> None:
    assert "add `project:`" in (await ana.ask("/issues category:search"))["text"]


async def test_reports_an_empty_result(ana: Person) -> None:
    assert "No issue fits" in text_of(await ana.ask("/issues xyzzyplugh"))


async def test_shares_a_result_only_from_a_public_project(ana: Person) -> None:
    found = await ana.ask("/issues project:webshop sort:id")
    number = found["text"].split("#")[1].split(",")[0]
    shared = await ana.after(ana.choose_from_menu(found, f"#{number}", "Share here"))
    assert not shared["ephemeral"]

    found = await ana.ask("/issues project:security sort:id")
    number = found["text"].split("#")[1].split(",")[0]
    asked = await ana.after(ana.choose_from_menu(found, f"#{number}", "Share here"))
    assert asked["ephemeral"]
    assert any(e.get("confirm") for b in asked["blocks"] for e in b.get("elements", []))


async def test_users_find_only_issues_they_can_see(office: Office, ana: Person, ben: Person) -> None:
    await office.link(ben.user_id, next(p.api_key for p in PEOPLE if p.login == "ben"))

    assert "Security" in text_of(await ana.ask("/issues project:security"))
    assert "No project called “security”" in text_of(await ben.ask("/issues project:security"))


async def test_the_search_form_shows_the_results(ana: Person) -> None:
    await ana.shortcut("search_issues")
    form = await ana.form("Search issues")

    await ana.submit(form, {"Project": "Web Shop", "Status": "Any"})

    assert "Project: Web Shop · Status: any" in text_of(await ana.form("Search results"))
