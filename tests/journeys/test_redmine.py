"""The same bot, in HTTP mode, against a real Redmine with its own header and text format."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.service.client import Client
from bot.service.filters import IssueFilters
from tests.contract.world import World
from tests.journeys.office import Office
from tests.journeys.person import Person
from tests.journeys.reading import text_of, until, values_of

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


async def test_files_come_along_with_a_new_issue_and_are_renamed(
    office: Office, redmine: World, service: Client
) -> None:
    key = redmine.key("ana")
    await office.link("U0ANA0001", key.get_secret_value())
    ana = Person(office, "U0ANA0001")
    await ana.ask("/tracker default webshop-search")
    ids = [(await ana.upload(name, b"a,b"))["id"] for name in ("büro: a.csv", "b.csv")]
    channel = office.channel_id(ana.channel)
    await ana._post("message", channel=channel, text="Made of files", file_ids=ids)
    message = next(m for m in reversed(await ana.messages()) if m["files"])
    await ana.shortcut("issue_from_message", message)
    await ana.submit(await ana.form("New issue"), {"Files": ["büro: a.csv"]})

    async def told() -> Any:
        private = [m for m in await ana.messages() if m["ephemeral"] and "attached" in text_of(m)]
        return private[-1] if private else None

    await ana.press(await until(told), "Rename or describe")
    form = await ana.form("Rename or describe")
    await ana.submit(form, {"File name": "c.csv", "Description": "Renamed"})
    await ana.form("Files")

    number = (await service.list_issues(key, IssueFilters(subject="Made of files"))).items[0].id
    issue = await service.beyond.get_issue(key, number, ["attachments"])
    assert issue is not None
    assert [(a.filename, a.description) for a in issue.attachments] == [("c.csv", "Renamed")]


async def test_an_administrator_makes_an_account_that_is_linked_at_once(
    office: Office, redmine: World, service: Client
) -> None:
    await office.link("U0CHRIS01", redmine.key("chris").get_secret_value())
    chris, gwen = Person(office, "U0CHRIS01"), Person(office, "U0GWEN001")
    await chris.command("/tracker user new @gwen")
    form = await chris.form("New account")
    await chris.submit(form, {"Login": "ana", "Mail": "ana@example.test"})
    assert set(await chris.errors()) == {"login", "mail"}

    said = text_of(await chris.after(chris.submit(await chris.form("New account"), {"Login": "gwen"})))

    assert "linked to <@U0GWEN001>" in said
    assert "(gwen)" in text_of(await gwen.ask("/tracker whoami"))
    number = re.search(r"/users/(\d+)", said)
    assert number is not None
    await chris.command(f"/tracker user edit {number[1]}")
    await chris.after(chris.submit(await chris.form("Change account"), {"Last name": "Adair-Stone"}))
    held = await service.get_user(redmine.key("chris"), int(number[1]))
    assert (held.login, held.lastname, held.mail) == ("gwen", "Adair-Stone", "gwen@harbor.example")


async def test_a_project_is_created_by_who_may_and_refused_to_who_may_not(
    office: Office, redmine: World, service: Client
) -> None:
    for slack_id, login in (("U0CHRIS01", "chris"), ("U0BEN0001", "ben")):
        await office.link(slack_id, redmine.key(login).get_secret_value())
        person = Person(office, slack_id)
        await person.command("/tracker project new From Slack")
        await person.submit(await person.form("New project"), {"Description": "Made there"})

    await person.form_saying("New project", "doesn't let you create projects")
    made = await service.get_project(redmine.key("chris"), "from-slack")
    assert (made.name, made.description, made.is_public) == ("From Slack", "Made there", False)


async def test_time_is_logged_by_command_and_changed_against_a_real_redmine(
    office: Office, redmine: World, service: Client
) -> None:
    key = redmine.key("ana")
    await office.link("U0ANA0001", key.get_secret_value())
    ana = Person(office, "U0ANA0001")
    await ana.ask("/issue new To spend time on project:webshop-search")
    number = (await service.list_issues(key, IssueFilters(subject="To spend time on"))).items[0].id

    async def minutes() -> int:
        issue = await service.beyond.get_issue(key, number)
        return round((issue.spent_hours or 0) * 60) if issue else 0

    await ana.command(f"/timelog {number} 20m on:yesterday Looked into it")
    form = await ana.form("Log time")
    assert values_of(form)["Hours"] == "0:20"
    await ana.submit(form, {})
    await until(lambda: _told(ana, "20 min on"))
    assert await minutes() == 20
    await ana.command("/timelog edit")
    await ana.submit(await ana.form("Edit time"), {"Hours": "1,5", "Comment": "Mended it"})
    await until(lambda: _told(ana, "Changed to 1 h 30 min on"))
    assert await minutes() == 90


async def _told(person: Person, text: str) -> bool:
    return any(message["ephemeral"] and text in text_of(message) for message in await person.messages())


async def _said(person: Person, text: str) -> bool:
    return text in text_of(await person.form("Files"))


async def test_a_digest_has_what_was_opened_in_redmine_and_an_issue_is_taken_from_it(
    office: Office, redmine: World, service: Client
) -> None:
    await office.link("U0ANA0001", redmine.key("ana").get_secret_value())
    ana = Person(office, "U0ANA0001")
    await ana.ask("/issue new From before the digest project:webshop-search")
    set_up = await ana.ask("/digest add webshop-search hourly tz:UTC")
    assert "Digest 1 is set" in text_of(set_up)
    await ana.ask("/issue new After the digest was set project:webshop-search")
    await ana.ask("/issue new Nobody else's business project:webshop-search private:yes")

    await office.bot.digests.run_due(datetime.now(UTC) + timedelta(hours=1))
    await office.bot.digests.idle()

    post = (await ana.messages())[-1]
    said = text_of(post)
    assert "1 new issue" in said
    assert "After the digest was set" in said
    key = redmine.key("ana")
    issue = (await service.list_issues(key, IssueFilters(subject="After the digest"))).items[0]
    answer = await ana.after(ana.choose_from_menu(post, f"#{issue.id} ", "Take it"))
    assert f"#{issue.id}" in text_of(answer)
    taken = (await service.list_issues(key, IssueFilters(issue_ids=(issue.id,)))).items[0]
    assert taken.assigned_to == taken.author
