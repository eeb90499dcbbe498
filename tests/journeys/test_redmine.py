"""The same bot, in HTTP mode, against a real Redmine with its own header and text format."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.service.client import Client
from bot.service.filters import IssueFilters
from tests.contract.redmine_fixture import redmine
from tests.contract.world import World
from tests.journeys.office import Office, Person, text_of, until, values_of

__all__ = ["redmine"]
pytestmark = pytest.mark.redmine


@pytest.fixture
async def office(redmine: World, tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(
        tmp_path,
        transport="http",
        service_url=redmine.url,
        key_header=redmine.key_header,
        text_format="textile",
    )
    await office.open()
    yield office
    await office.close()
    assert office.violations() == []


@pytest.fixture
async def service(redmine: World) -> AsyncIterator[Client]:
    async with Client(redmine.url, key_header=redmine.key_header) as client:
        yield client


async def test_link_create_search_and_show_work_against_a_real_redmine(
    office: Office, redmine: World, service: Client
) -> None:
    ana = Person(office, "U0ANA0001")
    await ana.command("/issue new From Slack & <back> project:webshop-search priority:high to:me")
    linked = await ana.after(
        ana.submit(await ana.form("Link Tracker"), {"API key": redmine.key("ana").get_secret_value()})
    )
    assert "From Slack &amp; &lt;back&gt;" in linked["text"]

    found = await service.list_issues(redmine.key("ana"), IssueFilters(subject="From Slack"))
    issue = found.items[0]
    assert issue.subject == "From Slack & <back>"
    assert issue.priority is not None
    assert issue.priority.name == "High"
    assert issue.author == issue.assigned_to

    assert f"#{issue.id}" in text_of(await ana.ask("/issues from slack"))
    card = await ana.ask(f"/issue {issue.id}")
    assert "*Assignee*" in text_of(card)
    assert "High" in text_of(card)


async def test_the_form_knows_redmines_choices_and_its_refusals_come_back_into_it(
    office: Office, redmine: World
) -> None:
    await office.link("U0ANA0001", redmine.key("ana").get_secret_value())
    ana = Person(office, "U0ANA0001")
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    values = values_of(form)
    assert {
        "Tracker",
        "Status",
        "Priority",
        "Assignee",
        "Category",
        "Target version",
        "Severity",
    } <= values.keys()

    await ana.submit(form, {"Subject": "Refused at first", "Tracker": "Bug"})
    errors = await ana.errors()
    assert any("Severity" in said for said in errors.values())


async def test_a_wrong_key_is_refused_in_the_form(office: Office) -> None:
    ben = Person(office, "U0BEN0001")
    await ben.command("/tracker link")

    await ben.submit(await ben.form("Link Tracker"), {"API key": "0" * 40})

    assert "doesn't know this key" in (await ben.errors())["key"]


async def test_time_and_files_reach_an_issue_that_exists(
    office: Office, redmine: World, service: Client
) -> None:
    await office.link("U0ANA0001", redmine.key("ana").get_secret_value())
    ana = Person(office, "U0ANA0001")
    await ana.ask("/issue new To work on project:webshop-search")
    key = redmine.key("ana")
    number = (await service.list_issues(key, IssueFilters(subject="To work on"))).items[0].id

    card = await ana.ask(f"/issue {number}")
    await ana.press(card, "Log time")
    await ana.after(ana.submit(await ana.form("Log time"), {"Hours": "0:45", "Comment": "Looked at it"}))
    await ana.command(f"/issue attach {number}")
    file = await ana.upload("notes.txt", b"what I found")
    await ana.submit(await ana.form("Attach files"), {"Files": [file]})
    await until(lambda: _said(ana, "notes.txt"))

    issue = await service.beyond.get_issue(key, number, ["attachments"])
    assert issue is not None
    assert str(issue.spent_hours) == "0.75"
    assert [a.filename for a in issue.attachments] == ["notes.txt"]


async def _said(person: Person, text: str) -> bool:
    return text in text_of(await person.form("Files"))
