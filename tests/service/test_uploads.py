"""File uploads to the service."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from bot.errors import NoFreeConnection
from bot.service.client import Client, Limits
from bot.timings import Timeouts
from tests.service.scripted import Asked, Reply, Service
from tests.support.wording import worded


@pytest.mark.parametrize("size", [2, 4])
async def test_a_wrong_size_raises_error(client: Client, service: Service, key: SecretStr, size: int) -> None:
    service.reply({"upload": {"id": 9, "token": "9.abc"}}, 201)

    with pytest.raises(ValueError, match="its size"):
        await client.upload_file(key, pieces(b"one"), size=size)


async def test_errors_of_an_uploads_source_pass(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"upload": {"id": 9, "token": "9.abc"}}, 201)

    with pytest.raises(LookupError, match="gone"):
        await client.upload_file(key, pieces(b"one", LookupError("gone")))


async def pieces(*content: bytes | Exception) -> AsyncIterator[bytes]:
    for piece in content:
        if isinstance(piece, Exception):
            raise piece
        yield piece


def slow(service: Service, *logins: str) -> None:
    """Make the service never answer uploads; with `logins`, only those of these users."""

    async def answer(asked: Asked) -> Reply:
        if not asked.path.endswith("/uploads.json"):
            return Reply(body={"user": {"id": 1}})
        if not logins or asked.headers["X-Service-API-Key"] in logins:
            await service.stopped.wait()
        return Reply(201, {"upload": {"id": 9, "token": "9.abc"}})

    service.handle = answer


async def received(service: Service, count: int) -> None:
    """Wait until the service has received that many requests."""
    async with asyncio.timeout(20):
        while len(service.asked) < count:
            await asyncio.sleep(0.01)


async def test_slow_uploads_do_not_block_other_calls(service: Service, key: SecretStr) -> None:
    slow(service)
    async with Client(service.url) as client, asyncio.TaskGroup() as group:
        uploads = [
            group.create_task(client.upload_file(SecretStr(f"person-{n // 3}"), pieces(b"one")))
            for n in range(51)
        ]
        await received(service, Limits().uploads)

        assert (await client.get_user(key)).id == 1
        for upload in uploads:
            upload.cancel()


async def test_one_users_uploads_do_not_block_others(service: Service) -> None:
    slow(service, "ana")
    async with (
        Client(service.url, limits=Limits(uploads=4, uploads_each=2)) as client,
        asyncio.TaskGroup() as group,
    ):
        anas = [group.create_task(client.upload_file(SecretStr("ana"), pieces(b"one"))) for _ in range(9)]
        await received(service, 2)

        assert (await client.upload_file(SecretStr("ben"), pieces(b"two"))).id == 9
        assert sum(asked.headers["X-Service-API-Key"] == "ana" for asked in service.asked) == 2
        for upload in anas:
            upload.cancel()


async def test_waiting_too_long_raises_no_free_connection(service: Service, key: SecretStr) -> None:
    slow(service)
    async with (
        Client(service.url, timeout=Timeouts(upload_free=0.2), limits=Limits(uploads=1)) as client,
        asyncio.TaskGroup() as group,
    ):
        first = group.create_task(client.upload_file(SecretStr("ana"), pieces(b"one")))
        await received(service, 1)

        with pytest.raises(NoFreeConnection) as caught:
            await client.upload_file(key, pieces(b"two"))
        first.cancel()

    assert len(service.asked) == 1
    assert worded(caught.value) == (
        "I'm sending Tracker too many requests, so this wasn't sent. Try again in a minute."
    )


async def test_canceled_uploads_release_their_slots(service: Service, key: SecretStr) -> None:
    slow(service, "ana")
    async with Client(service.url, limits=Limits(uploads=1)) as client:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.upload_file(SecretStr("ana"), pieces(b"one")), 0.2)

        assert (await client.upload_file(key, pieces(b"two"))).id == 9
