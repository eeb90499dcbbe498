"""The order of the issue list, by every key, and its pages."""

import re
import typing
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from bot.service.client import Client
from bot.service.conventions import SortField
from bot.service.filters import IssueFilters, Sort
from tests.contract.oracle import Depot, Row, depot
from tests.contract.world import World
from tests.support.office import Office
from tests.support.person import Person

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


async def ordered(client: Client, world: World, held: Depot, *sort: Sort, tracker: str = "") -> list[Row]:
    """Returns the depot's issues, or those of one tracker, in the order in which the client lists them."""
    wanted = (world.trackers[tracker],) if tracker else ()
    filters = IssueFilters(project_id=held.project, tracker_ids=wanted, status="any", sort=sort)
    page = await client.list_issues(world.key("ana"), filters)
    rows = {row["id"]: row for row in held.rows}
    return [rows[issue.id] for issue in page.items]


async def test_every_key_sorts_up_or_down(client: Client, world: World) -> None:
    held = await depot(world, "ana", "UTC")
    unsorted = []
    for number, field in enumerate(sorted(set(typing.get_args(SortField)) - {"parent"})):
        descending = bool(number % 2)
        rows = await ordered(client, world, held, Sort(field, descending), tracker="Feature")
        keys = [key_of(field)(row) for row in rows]
        valued = [key for key in keys if key not in (None, "")]
        gaps = sum((one in (None, "")) != (other in (None, "")) for one, other in pairwise(keys))
        if gaps > 1 or valued != sorted(valued, reverse=descending):
            unsorted.append((field, keys))

    assert unsorted == []


async def test_subtasks_sort_below_their_parents(client: Client, world: World) -> None:
    held = await depot(world, "ana", "UTC")

    order = [row["id"] for row in await ordered(client, world, held, Sort("parent"))]

    children = [row for row in held.rows if "parent" in row]
    assert children
    for row in children:
        assert order.index(row["parent"]["id"]) < order.index(row["id"])


async def test_three_sort_keys_combine_and_pages_have_no_gaps(client: Client, world: World) -> None:
    held = await depot(world, "ana", "UTC")
    sort = (Sort("tracker"), Sort("priority", descending=True), Sort("created_on"))
    expected = sorted(
        held.rows, key=lambda row: (row["tracker"]["id"], -row["priority"]["id"], row["created_on"])
    )
    filters = IssueFilters(project_id=held.project, status="any", sort=sort)

    numbers: list[int] = []
    for offset in range(0, len(expected) + 1, 9):
        page = await client.list_issues(world.key("ana"), filters, offset=offset, limit=9)
        assert page.total_count == len(expected)
        numbers += [issue.id for issue in page.items]

    assert numbers == [row["id"] for row in expected]


async def test_typed_sort_order_is_applied(office: Office, world: World) -> None:
    await office.link("U0ANA0001", world.keys["ana"])
    held = await depot(world, "ana", "UTC")
    ana = Person(office, "U0ANA0001")

    shown = await ana.ask("/issues project:depot status:any tracker:feature sort:priority:desc,-updated")

    rows = [row for row in held.rows if row["tracker"]["name"] == "Feature"]
    rows.sort(key=lambda row: (row["priority"]["id"], row["updated_on"]), reverse=True)
    assert [int(number) for number in re.findall(r"#(\d+)", shown["text"])] == [
        row["id"] for row in rows[:10]
    ]
