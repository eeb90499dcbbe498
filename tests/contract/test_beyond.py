"""Optional operations: Redmine has them, the reference service deliberately doesn't."""

import pytest

from bot.service.client import Client
from tests.contract.raw import Wire, an_issue, some_time
from tests.contract.world import World


@pytest.fixture
def has_more(world: World) -> bool:
    """Returns whether the service has the optional operations."""
    return world.key_header == "X-Redmine-API-Key"


async def test_names_resolve_if_the_service_lists_them(
    client: Client, world: World, *, has_more: bool
) -> None:
    key = world.key("ana")
    statuses = await client.optional.issue_statuses(key)
    priorities = await client.optional.issue_priorities(key)
    activities = await client.optional.time_entry_activities(key)
    trackers = await client.optional.trackers(key)
    memberships = await client.optional.memberships(key, world.project("public"))
    versions = await client.optional.versions(key, world.project("public"))

    if not has_more:
        assert [statuses, priorities, activities, trackers, memberships, versions] == [None] * 6
        return
    assert statuses is not None
    assert {status.name for status in statuses if status.is_closed} == {"Closed", "Rejected"}
    for answer, expected in (
        (priorities, world.priorities),
        (activities, world.activities),
        (trackers, world.trackers),
        (versions, world.versions),
    ):
        assert answer is not None
        assert {row.name: row.id for row in answer} == expected
    assert memberships is not None
    assert {row.user.name for row in memberships if row.user} == {
        "Ana Ruiz",
        "Ben Okafor",
        "Chris Lindqvist",
        "Dora Weiss",
        "Lena Vogt",  # she is locked, but the service doesn't say so
    }


async def test_a_conflicting_update_is_rejected_without_a_message(wire: Wire, *, has_more: bool) -> None:
    number = (await an_issue(wire)).json["issue"]["id"]
    stale = {"issue": {"subject": "Changed", "lock_version": 99}}

    answer = await wire("PUT", f"/issues/{number}.json", body=stale)

    assert (answer.status, answer.json) == ((422, {"errors": []}) if has_more else (404, None))


async def test_an_update_of_nothing_tells_whether_a_time_entry_exists(wire: Wire) -> None:
    entry = (await some_time(wire)).json["time_entry"]
    paths = [f"/time_entries/{number}.json" for number in (entry["id"], 999_999)]

    here, gone = [(await wire("PUT", path, "ana", body={"time_entry": {}})).status for path in paths]

    assert here in (200, 204)
    assert gone == 404
