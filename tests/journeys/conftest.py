"""The office, with Ana linked and at work, Ben not linked yet, Chris an administrator."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.people import PEOPLE
from tests.journeys.office import Office, Person

KEYS = {person.login: person.api_key for person in PEOPLE}


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """An office whose bot must not break a rule of Slack's."""
    office = Office(tmp_path)
    await office.open()
    try:
        await office.link("U0ANA0001", KEYS["ana"])
        yield office
        assert office.violations() == []
    finally:
        await office.close()


@pytest.fixture
def ana(office: Office) -> Person:
    return Person(office, "U0ANA0001")


@pytest.fixture
def ben(office: Office) -> Person:
    return Person(office, "U0BEN0001")
