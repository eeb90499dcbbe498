"""How the service answers requests for the issue list, read without the client (docs/service.md, Lists)."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.contract.oracle import Depot, Fits, depot, differing
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
async def oracle(world: World) -> Depot:
    return await depot(world, "ana", "UTC")


async def in_depot(wire: Wire, oracle: Depot, **params: Any) -> list[int]:
    return await listed(wire, project_id=oracle.project, **{"status_id": "*"} | params)


async def test_page_length_is_echoed_and_capped(wire: Wire) -> None:
    pages = [
        await wire("GET", "/issues.json", **params) for params in ({}, {"limit": "100"}, {"limit": "999"})
    ]

    for page in pages:
        assert page.json["limit"] == len(page.json["issues"]) < page.json["total_count"]
    unsaid, most, more = pages
    assert unsaid.json["limit"] in UNSAID
    assert more.json == most.json
    for params in ({"limit": "0"}, {"limit": "x"}, {"offset": "-4"}):
        odd = await wire("GET", "/issues.json", **params)
        assert (odd.json["limit"] in UNSAID, odd.json["offset"]) == (True, 0)


async def test_three_sort_keys_apply_and_unknown_ones_are_ignored(wire: Wire, oracle: Depot) -> None:
    async def order(sort: str) -> list[int]:
        return await in_depot(wire, oracle, sort=sort)

    latest_first = await order("")
    assert await order("tracker,status,priority,id") == await order("tracker,status,priority")
    assert await order("tracker,status,id") != await order("tracker,status,id:desc")
    assert await order("nonsense,id") == sorted(latest_first)
    assert await order("nonsense,other,unheard,id") == latest_first


async def test_text_filters_are_exact_and_end_at_a_bar(wire: Wire, oracle: Depot) -> None:
    async def by_subject(subject: str) -> list[int]:
        return await in_depot(wire, oracle, subject=subject)

    jams = await by_subject("~jams")
    assert len(jams) == 4
    assert await by_subject("~jams|zebra") == jams
    assert await by_subject("~zebra|jams") == []
    assert await by_subject("jams") == []
    assert len(await by_subject("Pallet jams at the north dock")) == 1
    pallets = {row["id"] for row in oracle.rows if row["subject"].startswith("Pallet")}
    assert set(await by_subject("^Pallet")) == pallets
    assert set(await by_subject("!~jams")) == set(await by_subject("*")) - set(jams)


async def test_operators_select_by_value(wire: Wire, oracle: Depot) -> None:
    ana, numbers = wire.world.users["ana"], sorted(row["id"] for row in oracle.rows)
    above = {row["id"]: row["parent"]["id"] for row in oracle.rows if "parent" in row}
    first, last, top = numbers[3], numbers[9], min(above.values())

    def below(number: int) -> bool:
        return number in above and (above[number] == top or below(above[number]))

    def day(row: dict[str, Any]) -> str:
        created = datetime.fromisoformat(row["created_on"])
        return str(created.astimezone(ZoneInfo("Europe/Madrid")).date())

    assert not all(parent == top for parent in above.values())  # some are two levels below
    cases: dict[tuple[str, str], Fits] = {
        ("issue_id", f"><{first}|{last}"): lambda row: first <= row["id"] <= last,
        ("author_id", f"!{ana}"): lambda row: row["author"]["id"] != ana,
        ("parent_id", f"~{top}"): lambda row: below(row["id"]),
        ("parent_id", "!*"): lambda row: row["id"] not in above,
        ("subject", "$dock"): lambda row: row["subject"].endswith("dock"),
        ("start_date", "*"): lambda row: row["start_date"] is not None,
        ("created_on", "2024-05-04"): lambda row: day(row) == "2024-05-04",  # still the 3rd in UTC
        ("closed_on", "!*"): lambda row: row["closed_on"] is None,
        ("subproject_id", "*"): lambda _: True,
        ("subproject_id", f"!{oracle.cellar}"): lambda row: row["project"]["id"] != oracle.cellar,
    }
    numbers_by_case = {case: set(await in_depot(wire, oracle, **{case[0]: case[1]})) for case in cases}
    expected = {case: {row["id"] for row in oracle.rows if fits(row)} for case, fits in cases.items()}
    assert differing((str(case), numbers_by_case[case], expected[case]) for case in cases) == {}


MALFORMED = {
    ("created_on", "2024-06-01T00:00:00+02:00"): "Created is invalid",
    ("created_on", "2024-06-01T00:00:00.5Z"): "Created is invalid",
    ("created_on", "2024-06-01 00:00:00Z"): "Created is invalid",
    ("created_on", ">=soon"): "Created is invalid",
    ("start_date", "2026-02-30"): "Start date is invalid",
    ("issue_id", "x"): "Issue is invalid",
    ("tracker_id", ""): "Tracker cannot be blank",
    ("subject", "~"): "Subject cannot be blank",
}


async def test_malformed_filters_are_rejected(wire: Wire) -> None:
    for (name, value), message in MALFORMED.items():
        answer = await wire("GET", "/issues.json", **{name: value})

        assert (answer.status, answer.json["errors"]) == (422, [message])


async def test_an_unavailable_filter_lists_everything(wire: Wire, oracle: Depot) -> None:
    everything = await listed(wire, limit=5)
    cellar = await listed(wire, limit=5, project_id=oracle.cellar)

    assert await listed(wire, limit=5, nonsense="1") == everything
    assert await listed(wire, limit=5, category_id=wire.world.categories["Checkout"]) == everything
    assert await listed(wire, limit=5, project_id=oracle.cellar, subproject_id="!*") == cellar


async def test_a_saved_query_overrides_other_filters_but_not_the_order(wire: Wire, oracle: Depot) -> None:
    query = wire.world.queries["urgent"]
    alone = await in_depot(wire, oracle, query_id=query)

    assert alone
    assert (
        await in_depot(wire, oracle, query_id=query, tracker_id=1, subject="~zebra", status_id="c") == alone
    )
    assert await in_depot(wire, oracle, query_id=query, sort="id") == sorted(alone) != alone
