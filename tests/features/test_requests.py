"""How many requests a command sends, and how many round trips to a service far away its answer takes."""

import asyncio
import time
from collections import Counter

import pytest
from aiohttp import web

from bot.sandbox.tracker.server import Tracker
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until_so
from tests.support.rounds import Span, rounds
from tests.support.wire import Wire

LATEST = "GET /issues.json"
LATENCY = 0.3
ISSUE = 28


class FarAway(Wire):
    """Answers each request after a delay, if there is one, and records when."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[Span] = []
        self.latency = 0.0

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        began = time.monotonic()
        try:
            await asyncio.sleep(self.latency)
            return await super()._pass_on(request)
        finally:
            self.spans.append(Span(began, time.monotonic()))


@pytest.fixture
def wire() -> FarAway:
    return FarAway()


@pytest.fixture(params=["nothing"])
def service(request: pytest.FixtureRequest) -> Tracker:
    """The parameter tells whether the service lists everything."""
    lists = request.param == "everything"
    return demo_tracker(issue_updates=lists, issue_reads=lists, listing=lists)


NEW = "/issue new Requests project:webshop"


@pytest.mark.parametrize("service", ["everything"], indirect=True)
@pytest.mark.parametrize(
    ("typed", "at_first", "later"),
    [
        (NEW, 4, 3),
        (f"{NEW} priority:high", 5, 3),
        (f"{NEW} status:new priority:high to:me", 6, 3),
        ("/issues project:webshop priority:high", 5, 2),
    ],
)
async def test_a_command_reads_only_the_lists_that_it_names(
    wired: Person, wire: FarAway, typed: str, at_first: int, later: int
) -> None:
    for most in (at_first, later):
        wire.heal()
        said = text_of(await wired.ask(typed))
        await wired.office.idle()

        asked = Counter(wire.heal())
        if typed.startswith(NEW):
            assert "created" in said
            assert asked.pop(LATEST) == 1  # for possible duplicates
        assert asked.total() <= most, asked


async def test_a_new_issue_needs_no_request_before_its_create(wired: Person, wire: FarAway) -> None:
    await wired.ask(NEW)
    wire.seconds = 60
    wire.fail("slow", 1, lasting=True)  # all after the check of the key, which the create waits for

    await wired.command(NEW)
    await until_so(lambda: wire.slowed == 3)

    check, *beside = wire.heal()
    wire.released.set()
    assert check == "GET /users/current.json"
    assert sorted(beside) == [LATEST, "GET /projects/1.json", "POST /issues.json"]


@pytest.mark.parametrize("typed", [NEW, f"/timelog {ISSUE} 20m activity:design"])
async def test_nothing_is_written_before_the_key_is_checked(wired: Person, wire: FarAway, typed: str) -> None:
    await wired.ask(typed)
    wire.fail("refuse the key", lasting=True)

    await wired.command(typed)
    await until_so(lambda: wire.asked)
    await wired.office.idle()

    assert [asked for asked in wire.heal() if not asked.startswith("GET")] == []


AT_FIRST_AND_LATER = {
    f"/issue {ISSUE}": (3, 1),  # at first the bot learns that this service has no address for one issue
    # An address that is missing is asked twice before that is believed.
    "/issues project:webshop priority:high": (5, 1),
    "/issues urgent bugs assigned to ben in webshop zebra": (9, 2),  # the last one offers wider searches
    "/issues project:webshop tracker:bug category:checkout to:ben zebra": (6, 2),
    "/tracker project webshop": (2, 1),
    # Whether everyone can see the project, so that it may be announced, is read beside the create.
    "/issue new Rounds project:webshop to:me priority:high": (4, 2),
    f"/timelog {ISSUE} 20m activity:design": (5, 2),
    "/timelog 20m project:webshop activity:design": (3, 2),
}


@pytest.mark.parametrize(("typed", "expected"), AT_FIRST_AND_LATER.items())
async def test_rounds_of_a_command_at_first_and_within_the_same_minute(
    wired: Person, wire: FarAway, typed: str, expected: tuple[int, int]
) -> None:
    data = wired.office.tracker.data  # what an issue is related to takes another round
    data.relations.clear()
    data.issues[ISSUE].parent_id = None
    counted, wire.latency = [], LATENCY
    for _ in range(2):
        wire.spans.clear()
        await wired.ask(typed)
        await wired.office.idle()
        counted.append(rounds(wire.spans))

    assert tuple(counted) == expected
