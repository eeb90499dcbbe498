"""Every filter of the issue list, alone and in pairs, against what the issues themselves say."""

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
    """The cases in which the client doesn't find what it should."""
    free = asyncio.Semaphore(AT_ONCE)

    async def told(ways: tuple[Way, ...]) -> tuple[str, set[int], set[int]]:
        async with free:
            found = {i.id async for i in client.iter_issues(world.key(login), held.filters(*ways))}
        return held.typed(*ways), found, held.found(*ways)

    return differing(await asyncio.gather(*(told(ways) for ways in cases)))


async def test_every_filter_alone_finds_what_fits(client: Client, world: World) -> None:
    held = await depot(world, "ana", "Europe/Madrid")

    assert await unlike(client, world, "ana", held, world.some([(way,) for way in held.ways()])) == {}


async def test_a_person_with_few_rights_and_days_that_begin_later_finds_what_fits(
    client: Client, world: World
) -> None:
    held = await depot(world, "wes", "America/New_York")

    assert len(held.rows) < len(ISSUES)
    assert await unlike(client, world, "wes", held, held.forms()) == {}


async def test_any_two_filters_find_what_fits_both(client: Client, world: World) -> None:
    held = await depot(world, "ana", "Europe/Madrid")

    assert await unlike(client, world, "ana", held, world.some(held.pairs())) == {}


async def listed(person: Person, typed: str) -> set[int]:
    """The numbers of all issues that `/issues` lists, page by page."""
    numbers: set[int] = set()
    shown = await person.ask(f"/issues {typed}")
    while True:
        page = {int(number) for number in re.findall(r"#(\d+)", shown["text"])}
        assert page or "No issue fits" in shown["text"], f"{typed}: {shown['text']}"
        assert not page & numbers
        numbers |= page
        if "Next ›" not in str(shown["blocks"]):
            return numbers
        shown = await person.after(person.press(shown, "Next ›"))


async def unlike_typed(
    person: Person, held: Depot, cases: Sequence[tuple[Way, ...]]
) -> dict[str, tuple[set[int], set[int]]]:
    """The cases in which what is typed doesn't list what it should."""
    typed = [held.typed(*ways) for ways in cases]
    return differing(
        [
            (text, await listed(person, text), held.found(*ways))
            for text, ways in zip(typed, cases, strict=True)
        ]
    )


async def test_every_filter_and_pairs_of_them_list_what_fits_as_they_are_typed(
    office: Office, world: World
) -> None:
    await office.link("U0ANA0001", world.keys["ana"])
    held = await depot(world, "ana", "Europe/Madrid")

    assert await unlike_typed(Person(office, "U0ANA0001"), held, world.some(held.forms())) == {}
    assert (
        await unlike_typed(Person(office, "U0ANA0001", "webshop"), held, world.some(held.pairs()[::12])) == {}
    )


async def test_days_are_those_of_the_persons_slack_whatever_the_service_takes_for_theirs(
    office: Office, world: World
) -> None:
    await office.link("U0BEN0001", world.keys["wes"])
    held = await depot(world, "wes", "Europe/London")
    days = [ways for ways in held.forms() if ways[0].about in DATED]

    assert await unlike_typed(Person(office, "U0BEN0001"), held, world.some(days)) == {}
