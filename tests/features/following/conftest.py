from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.slack.waits import Waits
from tests.support.office import FORGETFUL, Office
from tests.support.prepared import demo_tracker
from tests.support.slackwire import SlackWire


@pytest.fixture
async def office(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    """Opens an office whose jobs run only when a test runs them, behind a faulty proxy to Slack."""
    # Always due: the database's clock is in whole seconds.
    waits = getattr(request, "param", Waits(channels=0, background_retry=0.5))
    timings = replace(FORGETFUL, interval=3600, follow_every=-2)
    tracker, wire = demo_tracker(issue_reads=True), SlackWire()
    office = Office(tmp_path, tracker=tracker, slack_wire=wire, timings=timings, waits=waits)
    async with office.opened("ana"):
        yield office
    assert office.violations() == []
