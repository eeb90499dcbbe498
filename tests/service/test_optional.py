"""Optional operations, which a service may not have."""

import asyncio

import pytest
from pydantic import SecretStr

from bot.errors import ServiceBroken, Unauthorized
from bot.service.client import Client
from tests.service.scripted import Asked, Reply, Service


@pytest.mark.parametrize("status", [403, 404])
async def test_a_missing_issue_does_not_affect_others(
    client: Client, service: Service, key: SecretStr, status: int
) -> None:
    service.reply(status=status)
    service.reply({"issue": {"id": 7}})

    assert await client.optional.get_issue(key, 8) is None
    assert await client.optional.get_issue(key, 7) is not None


async def test_an_endpoint_noted_as_missing_is_not_called(
    client: Client, service: Service, key: SecretStr
) -> None:
    client.optional.note_missing("get_issue")

    assert await client.optional.get_issue(key, 7) is None
    assert service.asked == []


async def test_an_endpoint_in_constant_use_is_called_again(
    client: Client, service: Service, key: SecretStr
) -> None:
    client.optional.remembered = 0.3
    service.reply({"issue": {"id": 7}})

    client.optional.note_missing("get_issue")
    for _ in range(5):
        if issue := await client.optional.get_issue(key, 7):
            break
        client.optional.note_missing("get_issue")
        await asyncio.sleep(0.1)

    assert issue


async def test_lists_of_choices(client: Client, service: Service, key: SecretStr) -> None:
    lists: dict[str, object] = {
        "issue_statuses": [{"id": 1, "name": "New", "is_closed": False}],
        "issue_priorities": [{"id": 1, "name": "Low"}, {"id": 2, "name": "Old", "active": False}],
        "time_entry_activities": [{"id": 1, "name": "Design", "active": True}],
        "trackers": [{"id": 1, "name": "Bug"}],
        "versions": [{"id": 1, "name": "1.0", "status": "closed"}],
    }

    async def lists_by_name(asked: Asked) -> Reply:
        name = asked.path.rpartition("/")[2].removesuffix(".json")
        return Reply(body={name: lists[name]})

    service.handle = lists_by_name
    optional = client.optional

    statuses, priorities = await optional.issue_statuses(key), await optional.issue_priorities(key)
    activities, trackers = await optional.time_entry_activities(key), await optional.trackers(key)
    versions = await optional.versions(key, "site")

    assert statuses is not None
    assert statuses[0].is_closed is False
    assert [ref.name for ref in priorities or ()] == ["Low"]
    assert [ref.name for ref in activities or ()] == ["Design"]
    assert [ref.name for ref in trackers or ()] == ["Bug"]
    assert [(version.name, version.status) for version in versions or ()] == [("1.0", "closed")]


async def test_memberships_are_read_page_by_page(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"memberships": [{"id": 1, "user": {"id": 5, "name": "Ada"}}], "total_count": 2})
    service.reply({"memberships": [{"id": 2, "group": {"id": 6}, "roles": [{"id": 3}]}], "total_count": 2})

    members = await client.optional.memberships(key, 3)

    assert [asked.query["offset"] for asked in service.asked] == ["0", "1"]
    assert [
        (member.user and member.user.name, member.group and member.group.id) for member in members or ()
    ] == [
        ("Ada", None),
        (None, 6),
    ]


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (405, 1), (406, 1), (403, 2)])
async def test_a_missing_list_is_cached_but_a_403_is_not(
    client: Client, service: Service, key: SecretStr, status: int, asked: int
) -> None:
    service.reply(status=status)

    assert await client.optional.issue_priorities(key) is None
    assert await client.optional.issue_priorities(key) is None

    assert len(service.asked) == asked


async def test_a_404_for_one_project_does_not_affect_others(
    client: Client, service: Service, key: SecretStr
) -> None:
    service.reply(status=404)

    assert await client.optional.memberships(key, 1) is None
    assert await client.optional.versions(key, 1) is None
    assert await client.optional.versions(key, 2) is None

    assert len(service.asked) == 3


@pytest.mark.parametrize(("status", "kind"), [(401, Unauthorized), (500, ServiceBroken)])
async def test_other_errors_are_raised(
    client: Client, service: Service, key: SecretStr, status: int, kind: type[Exception]
) -> None:
    service.reply(status=status)

    with pytest.raises(kind):
        await client.optional.trackers(key)
