from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.people import ANA
from bot.sandbox.tracker.server import Tracker
from tests.slack.crashes.leftovers import TIMINGS
from tests.support.office import Office
from tests.support.person import Person
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire


@pytest.fixture
async def ana(
    service: Tracker, wire: Wire, tmp_path: Path, request: pytest.FixtureRequest, url_of_postgresql: str
) -> AsyncIterator[Person]:
    office = Office(
        tmp_path,
        tracker=service,
        wire=wire,
        slack_wire=SlackWire(),
        database_url=url_of_postgresql,  # whose clock has fractions of seconds
        timings=TIMINGS,
        delays=getattr(request, "param", None),
    )
    async with office.opened("ana"):
        yield Person(office, ANA.slack_id)
        assert office.violations() == []
