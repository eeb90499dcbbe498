from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.timings import Delays
from tests.support.office import FORGETFUL, Office
from tests.support.prepared import demo_tracker
from tests.support.slackwire import SlackWire


@pytest.fixture
async def office(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    """Opens an office whose jobs run only when a test runs them, behind a faulty proxy to Slack.

    It keeps to Slack's rates, and Slack to its own, for tests that give it their `Delays`.
    """
    paced: Delays | None = getattr(request, "param", None)
    at_once = Delays(channels=0, background_retry=0.1, channel_pace=0, workspace_pace=0, update_pace=0)
    timings = replace(FORGETFUL, interval=3600)
    tracker, wire = demo_tracker(issue_reads=True), SlackWire()
    office = Office(
        tmp_path,
        tracker=tracker,
        slack_wire=wire,
        timings=timings,
        delays=paced or at_once,
        rate_limits=paced is not None,
    )
    async with office.opened("ana"):
        yield office
    assert office.violations() == []
