"""The issue list: complete, in every order, by page, with included parts, and its link."""

import re
import typing
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import aiohttp

from bot.service.client import Client
from bot.service.conventions import SortField, issues_url
from bot.service.filters import IssueFilters, Sort, TimeRange
from tests.contract.oracle import Depot, Row, depot
from tests.contract.world import World
from tests.support.office import Office
from tests.support.person import Person

NOW = datetime.now(UTC)
NAMED = ("project", "author", "category", "fixed_version")
NUMBERED = ("tracker", "status", "priority")


def key_of(field: str) -> Callable[[Row], Any]:
    """Returns an issue's sort key; a group has no first name and sorts like an unassigned issue."""
    if field == "assigned_to":
        return lambda row: name if " " in (name := row.get(field, {}).get("name", "")) != "Depot crew" else ""
    if field in NAMED:
        return lambda row: row.get(field, {}).get("name", "")
    if field in NUMBERED:
        return lambda row: row[field]["id"]
    return lambda row: row[field]


async def ordered(client: Client, world: World, oracle: Depot, *sort: Sort, tracker: str = "") -> list[Row]:
    """Returns the depot's issues, or those of one tracker, in the order in which the client lists them."""
    tracker_ids = (world.trackers[tracker],) if tracker else ()
    filters = IssueFilters(project_id=oracle.project, tracker_ids=tracker_ids, status="any", sort=sort)
    page = await client.list_issues(world.key("ana"), filters)
    rows = {row["id"]: row for row in oracle.rows}
    return [rows[issue.id] for issue in page.items]


async def test_every_key_sorts_up_or_down(client: Client, world: World) -> None:
    oracle = await depot(world, "ana", "UTC")
    unsorted = []
    for number, field in enumerate(sorted(set(typing.get_args(SortField)) - {"parent"})):
        descending = bool(number % 2)
        rows = await ordered(client, world, oracle, Sort(field, descending), tracker="Feature")
        keys = [key_of(field)(row) for row in rows]
        valued = [key for key in keys if key not in (None, "")]
        gaps = sum((one in (None, "")) != (other in (None, "")) for one, other in pairwise(keys))
        if gaps > 1 or valued != sorted(valued, reverse=descending):
            unsorted.append((field, keys))

    assert unsorted == []


async def test_subtasks_sort_below_their_parents(client: Client, world: World) -> None:
    oracle = await depot(world, "ana", "UTC")

    order = [row["id"] for row in await ordered(client, world, oracle, Sort("parent"))]

    children = [row for row in oracle.rows if "parent" in row]
    assert children
    for row in children:
        assert order.index(row["parent"]["id"]) < order.index(row["id"])


async def test_three_sort_keys_combine_and_pages_have_no_gaps(client: Client, world: World) -> None:
    oracle = await depot(world, "ana", "UTC")
    sort = (Sort("tracker"), Sort("priority", descending=True), Sort("created_on"))
    expected = sorted(
        oracle.rows, key=lambda row: (row["tracker"]["id"], -row["priority"]["id"], row["created_on"])
    )
    filters = IssueFilters(project_id=oracle.project, status="any", sort=sort)

    numbers: list[int] = []
    for offset in range(0, len(expected) + 1, 9):
        page = await client.list_issues(world.key("ana"), filters, offset=offset, limit=9)
        assert (page.offset, page.limit, page.total_count) == (offset, 9, len(expected))
        numbers += [issue.id for issue in page.items]

    assert numbers == [row["id"] for row in expected]


async def test_typed_sort_order_is_applied(office: Office, world: World) -> None:
    await office.link("U0ANA0001", world.keys["ana"])
    oracle = await depot(world, "ana", "UTC")
    ana = Person(office, "U0ANA0001")

    reply = await ana.ask("/issues project:depot status:any tracker:feature sort:priority:desc,-updated")

    rows = [row for row in oracle.rows if row["tracker"]["name"] == "Feature"]
    rows.sort(key=lambda row: (row["priority"]["id"], row["updated_on"]), reverse=True)
    assert [int(number) for number in re.findall(r"#(\d+)", reply["text"])] == [
        row["id"] for row in rows[:10]
    ]


async def test_a_list_is_read_completely_in_order(client: Client, world: World) -> None:
    filters = IssueFilters(project_id=world.project("public"), subject="Question customer")

    numbers = [issue.id async for issue in client.iter_issues(world.key("ana"), filters)]

    assert len(numbers) == world.bulk
    assert numbers == sorted(set(numbers))


async def test_more_ids_than_a_page_holds_are_all_found(client: Client, world: World) -> None:
    first = max(world.issues.values()) + 1
    numbers = tuple(range(first, first + 150))

    listed_numbers = [
        i.id async for i in client.iter_issues(world.key("ana"), IssueFilters(issue_ids=numbers))
    ]

    assert listed_numbers == list(numbers)


async def test_relations_and_attachments_are_included_on_request(client: Client, world: World) -> None:
    numbers = (world.issues["parent"],)

    plain = await client.list_issues(world.key("ana"), IssueFilters(issue_ids=numbers))
    both = IssueFilters(issue_ids=numbers, include=frozenset({"relations", "attachments"}))
    full = await client.list_issues(world.key("ana"), both)

    assert "relations" not in plain.items[0].model_fields_set
    [relation] = full.items[0].relations
    assert (relation.issue_id, relation.issue_to_id) == (world.issues["parent"], world.issues["child"])
    assert (relation.relation_type, relation.delay) == ("relates", None)
    assert full.items[0].attachments == ()


async def test_a_list_link_opens_the_same_issues(client: Client, world: World) -> None:
    async def linked(since: datetime, until: datetime) -> set[str]:
        filters = IssueFilters(
            project_id=world.project("public"),
            subprojects="none",
            status="any",
            created_on=TimeRange(since, until),
            category_ids=(world.categories["Checkout"],),
        )
        async with session.get(issues_url(client.base_url, filters.to_params())) as answer:
            page = await answer.text()
        return {name for name, number in world.issues.items() if f'/issues/{number}"' in page}

    async with aiohttp.ClientSession() as session:
        assert await linked(NOW - timedelta(days=3650), NOW + timedelta(days=1)) == {"parent"}
        assert await linked(NOW - timedelta(days=3651), NOW - timedelta(days=3650)) == set()
