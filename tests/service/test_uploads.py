"""Files on their way to the service."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from bot.errors import Refused
from bot.service.client import Client
from tests.service.scripted import Service


async def test_an_upload_streams_with_its_size(client: Client, service: Service, key: SecretStr) -> None:
    service.reply({"upload": {"id": 9, "token": "9.abc"}}, 201)

    upload = await client.upload_file(key, pieces(b"one", b"", b"two"), filename="à b&c.txt", size=6)

    assert (service.last.method, service.last.path) == ("POST", "/prefix/uploads.json")
    assert service.last.query == {"filename": "à b&c.txt"}
    assert service.last.headers["Content-Type"] == "application/octet-stream"
    assert service.last.headers["Content-Length"] == "6"
    assert service.last.body == b"onetwo"
    assert (upload.id, upload.token.get_secret_value()) == (9, "9.abc")
    assert "9.abc" not in repr(upload)


async def test_an_upload_of_unknown_size_may_be_empty(
    client: Client, service: Service, key: SecretStr
) -> None:
    service.reply({"upload": {"id": 9, "token": "9.abc"}}, 201)

    await client.upload_file(key, pieces())

    assert (service.last.query, service.last.body) == ({}, b"")


@pytest.mark.parametrize("size", [2, 4])
async def test_an_upload_that_is_not_its_size_is_broken_off(
    client: Client, service: Service, key: SecretStr, size: int
) -> None:
    service.reply({"upload": {"id": 9, "token": "9.abc"}}, 201)

    with pytest.raises(ValueError, match="its size"):
        await client.upload_file(key, pieces(b"one"), size=size)


async def test_what_breaks_the_source_of_an_upload_is_told_as_it_is(
    client: Client, service: Service, key: SecretStr
) -> None:
    service.reply({"upload": {"id": 9, "token": "9.abc"}}, 201)

    with pytest.raises(LookupError, match="gone"):
        await client.upload_file(key, pieces(b"one", LookupError("gone")))


async def test_a_service_may_refuse_an_upload_by_its_name(
    client: Client, service: Service, key: SecretStr
) -> None:
    service.reply({"errors": ["This file cannot be uploaded"]}, 422)

    with pytest.raises(Refused, match="422"):
        await client.upload_file(key, pieces(b"one"), filename="a.exe")


async def pieces(*content: bytes | Exception) -> AsyncIterator[bytes]:
    for piece in content:
        if isinstance(piece, Exception):
            raise piece
        yield piece
