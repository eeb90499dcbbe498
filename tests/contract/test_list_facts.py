"""What the issue list does with what it is asked, read without the client (service-facts.md, "Lists")."""

from typing import Any

import pytest

from tests.contract.oracle import Depot, depot
from tests.contract.raw import Wire
from tests.contract.world import World

UNSAID = (25, 40)
"""A page's length where none is asked for: Redmine's, and the most that the reference service gives here."""


async def listed(wire: Wire, **params: Any) -> list[int]:
    """The numbers in the first page of what Ana is given."""
    answer = await wire("GET", "/issues.json", limit="100", **{key: str(params[key]) for key in params})
    assert answer.status == 200
    return [issue["id"] for issue in answer.json["issues"]]


@pytest.fixture
async def held(world: World) -> Depot:
    return await depot(world, "ana", "UTC")


async def in_depot(wire: Wire, held: Depot, **params: Any) -> list[int]:
    return await listed(wire, project_id=held.project, **{"status_id": "*"} | params)


async def test_a_page_is_as_long_as_it_says_and_never_longer_than_may_be(wire: Wire) -> None:
    pages = [
        await wire("GET", "/issues.json", **params) for params in ({}, {"limit": "100"}, {"limit": "999"})
    ]

    for page in pages:
        assert page.json["limit"] == len(page.json["issues"]) < page.json["total_count"]
    unsaid, most, more = pages
    assert unsaid.json["limit"] in UNSAID
    assert more.json == most.json


async def test_three_keys_sort_and_unknown_ones_are_passed_over(wire: Wire, held: Depot) -> None:
    async def order(sort: str) -> list[int]:
        return await in_depot(wire, held, sort=sort)

    latest_first = await order("")
    assert await order("tracker,status,priority,id") == await order("tracker,status,priority")
    assert await order("tracker,status,id") != await order("tracker,status,id:desc")
    assert await order("nonsense,id") == sorted(latest_first)
    assert await order("nonsense,other,unheard,id") == latest_first


async def test_a_text_without_a_sign_before_it_is_exact_and_a_bar_ends_it(wire: Wire, held: Depot) -> None:
    async def found(subject: str) -> list[int]:
        return await in_depot(wire, held, subject=subject)

    jams = await found("~jams")
    assert len(jams) == 4
    assert await found("~jams|zebra") == jams
    assert await found("~zebra|jams") == []
    assert await found("jams") == []
    assert len(await found("Pallet jams at the north dock")) == 1
    assert await found("^Pallet jams at") == await found("Pallet jams at the north dock")
    assert set(await found("!~jams")) == set(await found("*")) - set(jams)


@pytest.mark.parametrize(
    "moment",
    ["2024-06-01T00:00:00+02:00", "2024-06-01T00:00:00.5Z", "2024-06-01 00:00:00Z", "01.06.2024", "soon"],
)
async def test_a_moment_in_another_form_is_refused(wire: Wire, moment: str) -> None:
    answer = await wire("GET", "/issues.json", created_on=f">={moment}")

    assert (answer.status, answer.json["errors"]) == (422, ["Created is invalid"])


async def test_a_filter_that_is_not_available_lists_everything(wire: Wire, held: Depot) -> None:
    everything, cellar = await listed(wire), await listed(wire, project_id=held.cellar)

    assert await listed(wire, nonsense="1") == everything
    assert await listed(wire, category_id=wire.world.categories["Checkout"]) == everything
    assert await listed(wire, project_id=held.cellar, subproject_id="!*") == cellar


async def test_a_closed_issue_is_found_by_its_number_only_where_any_status_is_asked_for(wire: Wire) -> None:
    closed = wire.world.issues["closed"]

    assert await listed(wire, issue_id=closed) == []
    assert await listed(wire, issue_id=closed, status_id="*") == [closed]


async def test_a_saved_query_lets_no_other_filter_count_but_an_order(wire: Wire, held: Depot) -> None:
    query = wire.world.queries["urgent"]
    alone = await in_depot(wire, held, query_id=query)

    assert alone
    assert await in_depot(wire, held, query_id=query, tracker_id=1, subject="~zebra", status_id="c") == alone
    assert await in_depot(wire, held, query_id=query, sort="id") == sorted(alone) != alone
