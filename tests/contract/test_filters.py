"""Every filter of the issue list, alone and in pairs, compared with the issues themselves."""

import asyncio
import re
from collections.abc import Sequence

from bot.service.client import Client
from tests.contract.depot import ISSUES
from tests.contract.oracle import Depot, Way, depot, differing
from tests.contract.world import World
from tests.support.office import Office
from tests.support.person import Person

AT_ONCE = 4
DATED = ("created", "updated", "closed", "start", "due")


async def unlike(
    client: Client, world: World, login: str, held: Depot, cases: Sequence[tuple[Way, ...]]
) -> dict[str, tuple[set[int], set[int]]]:
    """Returns the filters with which the client finds other issues than it should."""
    free = asyncio.Semaphore(AT_ONCE)

    async def told(ways: tuple[Way, ...]) -> tuple[str, set[int], set[int]]:
        async with free:
            found = {i.id async for i in client.iter_issues(world.key(login), held.filters(*ways))}
        return held.typed(*ways), found, held.found(*ways)

    return differing(await asyncio.gather(*(told(ways) for ways in cases)))


async def test_every_filter_alone_finds_matching_issues(client: Client, world: World) -> None:
    held = await depot(world, "ana", "Europe/Madrid")

    assert await unlike(client, world, "ana", held, world.some([(way,) for way in held.ways()])) == {}


async def test_filters_respect_permissions_and_time_zone(client: Client, world: World) -> None:
    held = await depot(world, "wes", "America/New_York")

    assert len(held.rows) < len(ISSUES)
    assert await unlike(client, world, "wes", held, held.forms()) == {}


async def test_any_two_filters_find_issues_that_match_both(client: Client, world: World) -> None:
    held = await depot(world, "ana", "Europe/Madrid")

    assert await unlike(client, world, "ana", held, world.some(held.pairs(), 2)) == {}


async def listed(person: Person, typed: str) -> set[int]:
    """Returns the numbers of all issues that `/issues` lists, from every page."""
    numbers: set[int] = set()
    shown = await person.ask(f"/issues {typed}")
    while True:
        page = {int(number) for number in re.findall(r"#(\d+)", shown["text"])}
        assert page or "No issues found" in shown["text"], f"{typed}: {shown['text']}"
        assert not page & numbers
        numbers |= page
        if "Next ›" not in str(shown["blocks"]):
            return numbers
        shown = await person.after(person.press(shown, "Next ›"))


async def unlike_typed(
    person: Person, held: Depot, cases: Sequence[tuple[Way, ...]]
) -> dict[str, tuple[set[int], set[int]]]:
    """Returns the typed filters that list other issues than they should."""
    typed = [held.typed(*ways) for ways in cases]
    return differing(
        [
            (text, await listed(person, text), held.found(*ways))
            for text, ways in zip(typed, cases, strict=True)
        ]
    )


async def test_typed_filters_and_pairs_list_matching_issues(office: Office, world: World) -> None:
    await office.link("U0ANA0001", world.keys["ana"])
    held = await depot(world, "ana", "Europe/Madrid")

    assert await unlike_typed(Person(office, "U0ANA0001"), held, world.some(held.forms(), 2)) == {}
    assert (
        await unlike_typed(Person(office, "U0ANA0001", "webshop"), held, world.some(held.pairs(), 24)) == {}
    )


async def test_days_follow_the_users_slack_time_zone(office: Office, world: World) -> None:
    await office.link("U0BEN0001", world.keys["wes"])
    held = await depot(world, "wes", "Europe/London")
    days = [ways for ways in held.forms() if ways[0].about in DATED]

    assert await unlike_typed(Person(office, "U0BEN0001"), held, world.some(days)) == {}
