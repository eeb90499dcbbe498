"""Optional operations, which a service may not have."""

import asyncio

import pytest
from pydantic import SecretStr

from bot.errors import ServiceBroken, Unauthorized
from bot.service.client import Client, OptionalOperations
from tests.service.scripted import Reply, Service


async def test_a_missing_endpoint_is_not_called(client: Client, service: Service, key: SecretStr) -> None:
    client.optional.note_missing("get_issue")

    assert await client.optional.get_issue(key, 7) is None
    assert service.asked == []


async def test_an_endpoint_in_use_is_called_again(client: Client, service: Service, key: SecretStr) -> None:
    optional = OptionalOperations(client._transport, remembered=0.3)
    service.reply({"issue": {"id": 7}})

    optional.note_missing("get_issue")
    for _ in range(5):
        if issue := await optional.get_issue(key, 7):
            break
        optional.note_missing("get_issue")
        await asyncio.sleep(0.1)

    assert issue


@pytest.mark.parametrize(("status", "asked"), [(404, 2), (405, 2), (406, 2), (403, 3)])
async def test_a_missing_list_is_cached_but_a_403_is_not(
    client: Client, service: Service, key: SecretStr, status: int, asked: int
) -> None:
    service.reply(status=status)

    for _ in range(3):
        assert await client.optional.issue_priorities(key) is None

    assert len(service.asked) == asked


@pytest.mark.parametrize(("status", "kind"), [(401, Unauthorized), (500, ServiceBroken)])
async def test_other_errors_are_raised(
    client: Client, service: Service, key: SecretStr, status: int, kind: type[Exception]
) -> None:
    service.reply(status=status)

    with pytest.raises(kind):
        await client.optional.trackers(key)


async def test_a_404_to_a_list_is_checked_again(client: Client, service: Service, key: SecretStr) -> None:
    service.replies = [Reply(status=404), Reply(body={"trackers": [{"id": 1, "name": "Bug"}]})]

    assert await client.optional.trackers(key) is not None


async def test_a_404_for_one_resource_is_its_own(client: Client, service: Service, key: SecretStr) -> None:
    optional = client.optional
    service.reply(status=404)
    assert [await optional.get_issue(key, 8), await optional.versions(key, 1)] == [None, None]

    service.replies = [Reply(body={"issue": {"id": 7}, "versions": []})]
    assert await optional.get_issue(key, 7) is not None
    assert await optional.versions(key, 2) == ()


async def test_members_and_choices_are_read_whole(client: Client, service: Service, key: SecretStr) -> None:
    for member in ({"id": 1, "user": {"id": 5}}, {"id": 2, "group": {"id": 6}, "roles": [{"id": 3}]}):
        service.reply({"memberships": [member], "total_count": 2})
    service.reply({"issue_priorities": [{"id": 1, "name": "Low"}, {"id": 2, "active": False}]})

    members = await client.optional.memberships(key, 3) or ()

    assert [(one.user and one.user.id, one.group and one.group.id) for one in members] == [
        (5, None),
        (None, 6),
    ]
    assert [asked.query["offset"] for asked in service.asked] == ["0", "1"]
    assert [ref.name for ref in await client.optional.issue_priorities(key) or ()] == ["Low"]
