"""How many requests a command sends to a service that lists everything."""

from collections import Counter

import pytest

from bot.sandbox.tracker.server import Tracker
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of
from tests.support.wire import Wire

LATEST = "GET /issues.json"


@pytest.fixture
def service() -> Tracker:
    return demo_tracker(issue_reads=True, listing=True)


@pytest.mark.parametrize(
    ("options", "at_first"), [("", 4), ("priority:high", 5), ("status:new priority:high to:me", 6)]
)
async def test_a_new_issue_reads_only_the_lists_that_it_names(
    wired: Person, wire: Wire, options: str, at_first: int
) -> None:
    for most in (at_first, 3):
        wire.heal()
        assert "created" in text_of(await wired.ask(f"/issue new Requests project:webshop {options}"))
        await wired.office.idle()

        asked = Counter(wire.heal())
        assert asked.pop(LATEST) == 1  # for possible duplicates
        assert asked.total() <= most, asked


async def test_a_search_reads_only_the_lists_that_it_names(wired: Person, wire: Wire) -> None:
    for most in (5, 2):
        wire.heal()
        await wired.ask("/issues project:webshop priority:high")

        asked = Counter(wire.heal())
        assert asked.total() <= most, asked
