"""The same bot over signed HTTP, with a command prefix, and brought to a stop while it works."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.people import PEOPLE
from tests.journeys.office import Office, Person, text_of

KEY = next(person.api_key for person in PEOPLE if person.login == "ana")


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path, transport="http", prefix="acme-")
    await office.open()
    await office.link("U0ANA0001", KEY)
    yield office
    await office.close()
    assert office.violations() == []


@pytest.fixture
def ana(office: Office) -> Person:
    return Person(office, "U0ANA0001")


async def test_the_whole_way_works_over_signed_http(office: Office, ana: Person) -> None:
    ben = Person(office, "U0BEN0001")
    await ben.command("/acme-issue 28")
    link = await ben.form("Link Tracker")
    key = next(person.api_key for person in PEOPLE if person.login == "ben")
    assert "#28" in (await ben.after(ben.submit(link, {"API key": key})))["text"]

    await ana.command("/acme-issue new project:webshop")
    announced = await ana.after(ana.submit(await ana.form("New issue"), {"Subject": "By HTTP"}))
    assert "By HTTP" in announced["text"]
    assert "By HTTP" in text_of(await ana.ask("/acme-issues by http"))


async def test_sentences_name_the_commands_as_they_are_called_here(ana: Person) -> None:
    assert "`/acme-tracker default`" in (await ana.ask("/acme-issue new Where to"))["text"]
    assert "/acme-issues to:me" in text_of(await ana.ask("/acme-tracker help"))


async def test_work_in_progress_is_finished_before_the_bot_stops(office: Office, ana: Person) -> None:
    asking = asyncio.create_task(ana.ask("/acme-issues status:any"))
    while not len(office.bot.in_flight):
        await asyncio.sleep(0)

    await office.bot.stop(5)

    assert "issues*" in text_of(await asking)
