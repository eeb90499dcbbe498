"""A key is revoked without notice: from then on the service treats its owner as an anonymous user.

The key is revoked at the command's first request, then at the second, and so on until the command finishes
first.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest_asyncio
from aiohttp import web

from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.timings import KeyTimings, Timings
from tests.contract.switches import switched
from tests.contract.world import World
from tests.support.office import WIRED, Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, waiting
from tests.support.wire import Wire

REJECTED = "refused your API key"
MAX_REQUESTS = 20
NEVER = 10**9
TRIES = 3
"""On a busy machine a check may overtake a read that was sent before it; see `KeyChecks`. So a command
that breaks a rule is typed again: without a check after its reads it would break the rule each time.
"""


class Fading(Wire):
    """Removes the key from all requests, starting with the one with the number `fades_at`."""

    def __init__(self, target: str, key_header: str) -> None:
        super().__init__(target)
        self.key_header = key_header
        self.fades_at = NEVER
        self.written_faded: list[str] = []

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        if len(self.asked) >= self.fades_at:
            if request.method != "GET":
                self.written_faded.append(f"{request.method} {request.path}")
            kept = {name: value for name, value in request.headers.items() if name != self.key_header}
            request = request.clone(headers=kept)
        return await super()._pass_on(request)

    def fade(self, at: int) -> None:
        """Revokes the key at this request from now on."""
        self.fades_at = at
        self.heal()


@pytest_asyncio.fixture
async def wire(world: World) -> AsyncIterator[Fading]:
    wire = Fading(world.url, world.key_header)
    await wire.up()
    yield wire
    await wire.down()


@pytest_asyncio.fixture
async def ana(world: World, wire: Fading, tmp_path: Path) -> AsyncIterator[Person]:
    """Ana, not linked yet, in an office that reaches its service through the proxy."""
    header, timings = {"SERVICE_API_KEY_HEADER": world.key_header}, Timings(keys=KeyTimings(recheck=0.01))
    office = Office(tmp_path, service_url=wire.url, variables=header, timings=timings, delays=WIRED)
    await office.open()
    yield Person(office, "U0ANA0001")
    await office.close()
    assert office.violations() == []


Typed = Callable[[World], str]
READS: dict[str, Typed] = {
    "found issues": lambda _: "/issues rounding project:webshop status:any",
    "an issue": lambda w: f"/issue {w.issues['parent']}",
    "one's own account": lambda _: "/tracker whoami",
    "all issues": lambda _: "/issues status:any project:any",
    "the projects": lambda _: "/tracker projects",
    "a project": lambda _: "/tracker project webshop",
    "a person": lambda w: f"/tracker user {w.users['ben']}",
}
WRITES: dict[str, Typed] = {
    "a new issue": lambda w: (
        f"/issue new Fading away project:webshop-search priority:high to:{w.users['ana']}"
    ),
    "time": lambda w: f"/timelog {w.issues['in_child']} 20m activity:design Fading away",
    "a digest": lambda _: "/digest add webshop hourly tz:UTC",
    "a channel's project": lambda _: "/tracker default webshop-search",
}


async def answers(ana: Person, world: World, wire: Fading, typed: str) -> AsyncIterator[str]:
    """Yields the answer for each later revocation; the last revocation comes too late to matter."""
    for at in range(MAX_REQUESTS):
        wire.fade(NEVER)
        await ana.office.link(ana.user_id, world.keys["ana"])
        wire.fade(at)
        reply_text = await answer(ana, typed)
        faded = len(wire.asked) > at
        wire.fade(NEVER)
        yield reply_text
        if not faded:
            return
    raise AssertionError("it asks for ever more")


async def answer(ana: Person, typed: str) -> str:
    """Types the command and returns the answer: a message, or the form to link again, which it closes."""
    before = {message["ts"] for message in await ana.messages()}

    async def fresh() -> list[JSON]:
        return [message for message in await ana.messages() if message["ts"] not in before]

    async def there() -> list[JSON]:
        return [view for view in (await ana.state())["views"] if not waiting(view)] or await fresh()

    await ana.command(typed)
    reply = (await until(there))[-1]
    if "title" in reply:
        await ana.close(reply)
        await until(fresh)
    return text_of(reply)


async def test_anonymous_results_are_not_shown_as_own(ana: Person, world: World, wire: Fading) -> None:
    for name in world.some(READS):
        for _ in range(TRIES):
            replies = [text async for text in answers(ana, world, wire, READS[name](world))]
            if all(REJECTED in text for text in replies[:-1]):
                break

        assert len(replies) > 1, name
        assert [text for text in replies[:-1] if REJECTED not in text] == [], name
        assert REJECTED not in replies[-1], name
    assert wire.written_faded == []


async def test_a_revoked_key_writes_nothing(ana: Person, world: World, wire: Fading, client: Client) -> None:
    for name in world.some(WRITES):
        for _ in range(TRIES):
            wire.written_faded.clear()
            replies = [text async for text in answers(ana, world, wire, WRITES[name](world))]
            rejected = [REJECTED in text for text in replies]
            if rejected == sorted(rejected, reverse=True) and len(wire.written_faded) <= 1:
                break

        assert len(replies) > 1, name
        assert rejected == sorted(rejected, reverse=True), name  # a check after the write doesn't undo it
        assert rejected[0], name
        assert len(wire.written_faded) <= 1, name  # its key was revoked after the last check
    page = await client.list_issues(world.key("chris"), IssueFilters(subject="Fading away"))
    assert {issue.author.id for issue in page.items if issue.author} <= {world.users["ana"]}


async def test_a_disabled_api_is_reported_and_links_are_kept(ana: Person, world: World, wire: Fading) -> None:
    await ana.office.link(ana.user_id, world.keys["ana"])
    async with switched(world, rest_enabled=False) as off:
        wire.target = off.url
        for typed in world.some([*READS.values(), *WRITES.values()]):
            assert "REST API is turned off" in await answer(ana, typed(world))
    wire.target = world.url

    assert "Ana Ruiz" in await answer(ana, "/tracker whoami")
