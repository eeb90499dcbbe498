"""How the service answers requests for the issue list, read without the client (docs/service.md, Lists)."""

from typing import Any

import pytest

from tests.contract.oracle import Depot, depot
from tests.contract.raw import Wire
from tests.contract.world import World

UNSAID = (25, 40)
"""The default page length: Redmine's, and the maximum of this reference service."""


async def listed(wire: Wire, **params: Any) -> list[int]:
    """Returns the issue numbers on the first page that Ana gets."""
    answer = await wire("GET", "/issues.json", **{"limit": "100"} | {key: str(params[key]) for key in params})
    assert answer.status == 200
    return [issue["id"] for issue in answer.json["issues"]]


@pytest.fixture
async def held(world: World) -> Depot:
    return await depot(world, "ana", "UTC")


async def in_depot(wire: Wire, held: Depot, **params: Any) -> list[int]:
    return await listed(wire, project_id=held.project, **{"status_id": "*"} | params)


async def test_page_length_is_echoed_and_capped(wire: Wire) -> None:
    pages = [
        await wire("GET", "/issues.json", **params) for params in ({}, {"limit": "100"}, {"limit": "999"})
    ]

    for page in pages:
        assert page.json["limit"] == len(page.json["issues"]) < page.json["total_count"]
    unsaid, most, more = pages
    assert unsaid.json["limit"] in UNSAID
    assert more.json == most.json


async def test_three_sort_keys_apply_and_unknown_ones_are_ignored(wire: Wire, held: Depot) -> None:
    async def order(sort: str) -> list[int]:
        return await in_depot(wire, held, sort=sort)

    latest_first = await order("")
    assert await order("tracker,status,priority,id") == await order("tracker,status,priority")
    assert await order("tracker,status,id") != await order("tracker,status,id:desc")
    assert await order("nonsense,id") == sorted(latest_first)
    assert await order("nonsense,other,unheard,id") == latest_first


async def test_text_filters_are_exact_and_end_at_a_bar(wire: Wire, held: Depot) -> None:
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


async def test_a_malformed_timestamp_is_rejected(wire: Wire) -> None:
    for moment in ("2024-06-01T00:00:00+02:00", "2024-06-01T00:00:00.5Z", "2024-06-01 00:00:00Z", "soon"):
        answer = await wire("GET", "/issues.json", created_on=f">={moment}")

        assert (answer.status, answer.json["errors"]) == (422, ["Created is invalid"])


async def test_an_unavailable_filter_lists_everything(wire: Wire, held: Depot) -> None:
    everything = await listed(wire, limit=5)
    cellar = await listed(wire, limit=5, project_id=held.cellar)

    assert await listed(wire, limit=5, nonsense="1") == everything
    assert await listed(wire, limit=5, category_id=wire.world.categories["Checkout"]) == everything
    assert await listed(wire, limit=5, project_id=held.cellar, subproject_id="!*") == cellar


async def test_a_saved_query_overrides_other_filters_but_not_the_order(wire: Wire, held: Depot) -> None:
    query = wire.world.queries["urgent"]
    alone = await in_depot(wire, held, query_id=query)

    assert alone
    assert await in_depot(wire, held, query_id=query, tracker_id=1, subject="~zebra", status_id="c") == alone
    assert await in_depot(wire, held, query_id=query, sort="id") == sorted(alone) != alone
