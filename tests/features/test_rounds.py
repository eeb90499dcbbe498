"""How many round trips to the service an answer takes, with a service that is far away."""

import asyncio
import time

import pytest
from aiohttp import web

from tests.support.person import Person
from tests.support.rounds import Span, rounds
from tests.support.wire import Wire

LATENCY = 0.3
ISSUE = 28


class FarAway(Wire):
    """Answers each request after a delay, and records when."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[Span] = []

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        began = time.monotonic()
        try:
            await asyncio.sleep(LATENCY)
            return await super()._pass_on(request)
        finally:
            self.spans.append(Span(began, time.monotonic()))

    def count(self) -> int:
        """The rounds since the last call."""
        spans, self.spans = self.spans, []
        return rounds(spans)


@pytest.fixture
def wire() -> FarAway:
    return FarAway()


AT_FIRST_AND_LATER = {
    f"/issue {ISSUE}": (3, 1),  # at first the bot learns that this service has no address for one issue
    "/issues project:webshop priority:high": (3, 1),
    "/tracker project webshop": (2, 1),
    # The last round tells whether everyone can see the project, so that it may be announced.
    "/issue new Rounds project:webshop to:me priority:high": (4, 3),
    f"/timelog {ISSUE} 20m activity:design": (4, 2),  # likewise
    "/timelog 20m project:webshop activity:design": (3, 2),
}


@pytest.mark.parametrize(("typed", "expected"), AT_FIRST_AND_LATER.items())
async def test_rounds_of_a_command_at_first_and_within_the_same_minute(
    wired: Person, wire: FarAway, typed: str, expected: tuple[int, int]
) -> None:
    data = wired.office.tracker.data  # what an issue is related to takes another round
    data.relations.clear()
    data.issues[ISSUE].parent_id = None
    counted = []
    wire.count()
    for _ in range(2):
        await wired.ask(typed)
        await wired.office.idle()
        counted.append(wire.count())

    assert tuple(counted) == expected
