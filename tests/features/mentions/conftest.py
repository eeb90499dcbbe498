"""Fixtures: Ana is linked and talks to the bot, Ben isn't linked."""

import pytest

from tests.features.mentions.talking import Talker
from tests.support.office import Office
from tests.support.person import Person


@pytest.fixture
def talker(office: Office, ana: Person) -> Talker:
    office.workspace.state.rate_limits = False  # tests talk faster than people
    return Talker(ana)


@pytest.fixture
def stranger(office: Office, ben: Person) -> Talker:
    office.workspace.state.rate_limits = False
    return Talker(ben)
