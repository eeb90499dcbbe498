"""Optional operations: Redmine has them, the reference service deliberately doesn't."""

from collections.abc import AsyncIterator

import pytest

from bot.errors import NotFound
from bot.service.client import Client
from bot.service.inputs import IssueChanges, NewIssue, UploadInput
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


async def test_one_issue_is_shown_with_its_children(client: Client, world: World, *, has_more: bool) -> None:
    issue = await client.optional.get_issue(world.key("ana"), world.issues["parent"], include=["children"])

    if not has_more:
        assert issue is None
        return
    assert issue is not None
    assert world.issues["child"] in {child.id for child in issue.children}


async def test_a_file_a_note_and_an_assignee_are_added_to_an_issue(
    client: Client, wire: Wire, world: World, *, has_more: bool
) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield b"later"

    key = world.key("ana")
    made = await client.create_issue(key, NewIssue(project_id=world.project("child"), subject="Later"))
    upload = await client.upload_file(key, content(), filename="later.txt")
    changes = IssueChanges(
        notes="See the file",
        assigned_to_id=world.users["ana"],
        uploads=(UploadInput(token=upload.token, filename="later.txt"),),
    )

    if not has_more:
        with pytest.raises(NotFound):
            await client.optional.update_issue(key, made.id, changes)
        return
    await client.optional.update_issue(key, made.id, changes)
    read = await client.optional.get_issue(key, made.id, include=["attachments"])
    assert read is not None
    assert [file.filename for file in read.attachments] == ["later.txt"]
    assert read.assigned_to is not None
    assert read.assigned_to.id == world.users["ana"]
    journals = (await wire("GET", f"/issues/{made.id}.json", include="journals")).json["issue"]["journals"]
    assert "See the file" in [journal["notes"] for journal in journals]


async def test_a_hidden_issue_is_skipped_and_others_are_shown(
    client: Client, world: World, *, has_more: bool
) -> None:
    assert await client.optional.get_issue(world.key("ben"), world.issues["vault"]) is None

    shown = await client.optional.get_issue(world.key("ben"), world.issues["child"])
    assert (shown is not None) == has_more


async def test_a_conflicting_update_is_rejected_without_a_message(wire: Wire, *, has_more: bool) -> None:
    number = (await an_issue(wire)).json["issue"]["id"]
    stale = {"issue": {"subject": "Changed", "lock_version": 99}}

    answer = await wire("PUT", f"/issues/{number}.json", body=stale)

    assert (answer.status, answer.json) == ((422, {"errors": []}) if has_more else (404, None))


async def test_a_time_entry_is_deleted_by_its_author_only(wire: Wire, *, has_more: bool) -> None:
    path = f"/time_entries/{(await some_time(wire)).json['time_entry']['id']}.json"

    statuses = [(await wire("DELETE", path, who)).status for who in (None, "ben", "ana", "ana")]

    assert statuses == ([401, 403, 204, 404] if has_more else [404] * 4)


async def test_an_update_of_nothing_tells_whether_a_time_entry_exists(wire: Wire) -> None:
    entry = (await some_time(wire)).json["time_entry"]
    paths = [f"/time_entries/{number}.json" for number in (entry["id"], 999_999)]

    here, gone = [(await wire("PUT", path, "ana", body={"time_entry": {}})).status for path in paths]

    assert here in (200, 204)
    assert gone == 404
