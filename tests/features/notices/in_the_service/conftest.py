"""An office whose users' issues are read only when a test says so."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.timings import Delays, KeyTimings, Timeouts, Timings
from tests.features.notices.in_the_service.turns import TURN, Turns
from tests.support.office import Office
from tests.support.prepared import demo_tracker
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire


@pytest.fixture
def timeouts() -> Timeouts:
    """Those of the office's bot. Tests that need others override it."""
    return Timeouts()


@pytest.fixture
async def office(
    tmp_path: Path, wire: Wire, timeouts: Timeouts, request: pytest.FixtureRequest
) -> AsyncIterator[Office]:
    """Opens an office whose jobs run only when a test runs them, behind proxies to the service and Slack. It
    reads what it found changed at once, unless the test's timings, the indirect parameter, say otherwise.
    """
    tracker = demo_tracker(issue_reads=True, listing=True)
    keys = KeyTimings(recheck=0.01, first_retry=0, longest_retry=0)
    timings = Timings(interval=300, look_up_after=0.1, keys=keys, notice_after=0)
    timings = replace(timings, **getattr(request, "param", {}))
    delays = Delays(still_working=60, background_retry=0.1, service=timeouts)
    office = Office(
        tmp_path, tracker=tracker, wire=wire, slack_wire=SlackWire(), timings=timings, delays=delays
    )
    async with office.opened("ana", "ben"):
        yield office
    assert office.violations() == []


@pytest.fixture
async def turns(office: Office) -> Turns:
    """Everyone's first turn is over: it finds where telling them starts."""
    turns = Turns(office)
    turns.pass_time(-TURN)
    await turns.next()
    return turns
