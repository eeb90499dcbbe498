"""Every filter of the issue list, alone and in pairs, compared with the issues themselves, and filters that a
service ignores or misreads: the client never returns an unfiltered list.
"""

import asyncio
import re
from collections.abc import Sequence

import pytest

from bot.errors import Forbidden, NotFound, Refused
from bot.service.client import Client
from bot.service.filters import IssueFilters
from tests.contract.oracle import Depot, Row, Way, depot, differing
from tests.contract.reference import SEED
from tests.contract.world import World
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of
from tests.support.wording import worded

ANA = "U0ANA0001"
AT_ONCE = 4
DATED = ("created", "updated", "closed", "start", "due")


async def unlike(
    client: Client, world: World, login: str, oracle: Depot, cases: Sequence[tuple[Way, ...]]
) -> dict[str, tuple[set[int], set[int]]]:
    """Returns the filters with which the client finds other issues than it should."""
    free = asyncio.Semaphore(AT_ONCE)

    async def result(ways: tuple[Way, ...]) -> tuple[str, set[int], set[int]]:
        async with free:
            numbers = {i.id async for i in client.iter_issues(world.key(login), oracle.filters(*ways))}
        return oracle.typed(*ways), numbers, oracle.matches(*ways)

    return differing(await asyncio.gather(*(result(ways) for ways in cases)))


async def test_every_filter_alone_finds_matching_issues(client: Client, world: World) -> None:
    oracle = await depot(world, "ana", "Europe/Madrid")

    assert await unlike(client, world, "ana", oracle, world.some([(way,) for way in oracle.ways()])) == {}


async def test_filters_respect_permissions_and_time_zone(client: Client, world: World) -> None:
    oracle = await depot(world, "wes", "America/New_York")

    assert len(oracle.rows) < len(SEED["depot"])
    assert await unlike(client, world, "wes", oracle, oracle.forms()) == {}


async def test_any_two_filters_find_issues_that_match_both(client: Client, world: World) -> None:
    oracle = await depot(world, "ana", "Europe/Madrid")

    assert await unlike(client, world, "ana", oracle, world.some(oracle.pairs(), 2)) == {}


async def listed(person: Person, typed: str) -> set[int]:
    """Returns the numbers of all issues that `/issues` lists, from every page."""
    numbers: set[int] = set()
    reply = await person.ask(f"/issues {typed}")
    while True:
        page = {int(number) for number in re.findall(r"#(\d+)", reply["text"])}
        assert page or "No issues found" in reply["text"], f"{typed}: {reply['text']}"
        assert not page & numbers
        numbers |= page
        if "Next ›" not in str(reply["blocks"]):
            return numbers
        reply = await person.after(person.press(reply, "Next ›"))


async def unlike_typed(
    person: Person, oracle: Depot, cases: Sequence[tuple[Way, ...]]
) -> dict[str, tuple[set[int], set[int]]]:
    """Returns the typed filters that list other issues than they should."""
    typed = [oracle.typed(*ways) for ways in cases]
    return differing(
        [
            (text, await listed(person, text), oracle.matches(*ways))
            for text, ways in zip(typed, cases, strict=True)
        ]
    )


async def test_typed_filters_and_pairs_list_matching_issues(office: Office, world: World) -> None:
    await office.link(ANA, world.keys["ana"])
    oracle = await depot(world, "ana", "Europe/Madrid")

    assert await unlike_typed(Person(office, ANA), oracle, world.some(oracle.forms(), 2)) == {}
    assert await unlike_typed(Person(office, ANA, "webshop"), oracle, world.some(oracle.pairs(), 24)) == {}


async def test_days_follow_the_users_slack_time_zone(office: Office, world: World) -> None:
    await office.link("U0BEN0001", world.keys["wes"])
    oracle = await depot(world, "wes", "Europe/London")
    days = [ways for ways in oracle.forms() if ways[0].about in DATED]

    assert await unlike_typed(Person(office, "U0BEN0001"), oracle, world.some(days)) == {}


@pytest.fixture
async def oracle(world: World) -> Depot:
    return await depot(world, "ana", "UTC")


def shelf(oracle: Depot) -> int:
    """The custom field that the service can't filter by."""
    return next(int(f["id"]) for f in oracle.rows[0]["custom_fields"] if f["name"] == "Shelf")


async def numbers(client: Client, world: World, filters: IssueFilters) -> set[int]:
    return {issue.id async for issue in client.iter_issues(world.key("ana"), filters)}


async def test_an_unfilterable_custom_field_is_rejected(client: Client, world: World, oracle: Depot) -> None:
    for field in (shelf(oracle), world.custom_fields["Severity"]):
        filters = IssueFilters(project_id=oracle.project, custom_fields=((field, "S1"),))
        with pytest.raises(Refused, match="200") as refused:
            await client.list_issues(world.key("ana"), filters)
        assert "can't filter by" in worded(refused.value)


async def test_a_custom_field_filters_across_its_projects(
    client: Client, world: World, oracle: Depot
) -> None:
    filters = IssueFilters(status="any", custom_fields=((world.custom_fields["Colour"], "green"),))

    matches = await numbers(client, world, filters)

    def green(row: Row) -> bool:
        return any(field["name"] == "Colour" and field["value"] == "green" for field in row["custom_fields"])

    assert matches & {row["id"] for row in oracle.rows} == {row["id"] for row in oracle.rows if green(row)}


async def test_an_impossible_value_gets_the_services_message(client: Client, world: World) -> None:
    field = world.custom_fields["Attempts"]
    with pytest.raises(Refused, match="422") as refused:
        await client.list_issues(world.key("ana"), IssueFilters(custom_fields=((field, "many"),)))
    assert "Attempts is invalid" in worded(refused.value)


async def test_a_project_without_children_is_listed_alone(
    client: Client, world: World, oracle: Depot
) -> None:
    filters = IssueFilters(project_id=oracle.cellar, subprojects="none", status="any")

    expected = {row["id"] for row in oracle.rows if row["project"]["id"] == oracle.cellar}
    assert await numbers(client, world, filters) == expected


async def test_issue_numbers_match_any_status(client: Client, world: World, oracle: Depot) -> None:
    opened = {row["id"] for row in oracle.rows if not row["status"]["is_closed"]}
    every = {row["id"] for row in oracle.rows}

    assert await numbers(client, world, IssueFilters(project_id=oracle.project)) == opened
    assert await numbers(client, world, IssueFilters(issue_ids=tuple(every))) == every


async def test_a_saved_query_works_in_its_own_project(client: Client, world: World, oracle: Depot) -> None:
    late = {
        row["id"]
        for row in oracle.rows
        if not row["status"]["is_closed"] and row["due_date"] and row["due_date"] <= "2024-06-30"
    }
    urgent = {row["id"] for row in oracle.rows if row["priority"]["name"] == "Urgent"}

    def query(name: str, project: int | None = None) -> IssueFilters:
        return IssueFilters(query_id=world.queries[name], project_id=project)

    assert await numbers(client, world, query("late", oracle.project)) == late
    assert await numbers(client, world, query("urgent", oracle.project)) == urgent
    assert await numbers(client, world, query("urgent")) >= urgent
    for lost in (query("late"), query("late", oracle.cellar), IssueFilters(query_id=99_999)):
        with pytest.raises(NotFound):
            await client.list_issues(world.key("ana"), lost)
    with pytest.raises(Forbidden):
        await client.list_issues(world.key("ana"), query("bens"))
    assert (await client.list_issues(world.key("ben"), query("bens"))).items


async def test_users_learn_what_a_search_cannot_do(office: Office, world: World, oracle: Depot) -> None:
    await office.link(ANA, world.keys["ana"])
    ana = Person(office, ANA)
    query = f"query:{world.queries['late']}"
    for typed, sentence in (
        ("category:inbound", "Add `project:`"),
        ("subproject:cellar", "Add `project:`"),
        ("project:depot subproject:webshop", "isn’t a subproject of Depot"),
        ("project:cellar subproject:depot", "isn’t a subproject of Cellar"),
        (f"project:depot {query} tracker:bug", "can only be combined with `project:` and `sort:`"),
        (f"project:depot {query} status:any", "can only be combined with `project:` and `sort:`"),
        (f"project:depot cf_{shelf(oracle)}:S1", "can’t filter by"),
        (f"project:depot {query} sort:id", "Saved query"),
        (
            "project:depot pallet jams at the north dock today",
            "contains the words: pallet, jams, north, dock, today",
        ),
        (
            "project:depot pallet jams north dock gate today",
            "pallet, jams, north, dock, gate · I can search for 5 words at once",
        ),
        ("project:depot a pallet", "contains the word: pallet"),
    ):
        answer = text_of(await ana.ask(f"/issues {typed}"))
        assert sentence in answer.replace("'", "’"), f"{typed}: {answer}"
