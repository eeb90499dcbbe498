"""HTTP details of requests and answers: compression, redirects, cookies, proxies."""

import gzip
import tracemalloc
import zlib

import pytest
from pydantic import SecretStr

from bot import errors
from bot.service.client import Client
from tests.service.scripted import Service

USER = {"user": {"id": 1}}


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_compressed_answers_are_decompressed(
    client: Client, service: Service, key: SecretStr, encoding: str
) -> None:
    service.reply(
        packed(b'{"user": {"id": 1, "login": "' + b"x" * 200_000 + b'"}}', encoding),
        Content_Encoding=encoding,
    )

    assert (await client.get_user(key)).id == 1
    assert service.last.headers["Accept-Encoding"] == "identity"


async def test_a_decompression_bomb_stops_at_the_limit(service: Service, key: SecretStr) -> None:
    service.reply(packed(b" " * 100_000_000), Content_Encoding="gzip")
    async with Client(service.url) as client:
        tracemalloc.start()
        with pytest.raises(errors.ServiceBroken):
            await client.get_user(key)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert most < 30_000_000


def packed(body: bytes, encoding: str = "gzip") -> bytes:
    return gzip.compress(body) if encoding == "gzip" else zlib.compress(body)


async def test_no_cookie_is_stored(client: Client, service: Service, key: SecretStr) -> None:
    service.reply(USER, Set_Cookie="session=anas; Path=/")

    await client.get_user(key)
    await client.get_user(key)

    assert "Cookie" not in service.last.headers


async def test_proxy_environment_variables_are_ignored(
    service: Service, elsewhere: Service, key: SecretStr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", elsewhere.url)
    service.reply(USER)
    async with Client(service.url) as client:
        await client.get_user(key)

    assert elsewhere.asked == []
