"""Downloading files from Slack: failures are explained, and the token goes to Slack only."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import UserError
from bot.features.files.selections import download
from bot.slack.workspaces import web_client
from tests.support.proxying import proxying
from tests.support.serving import serving
from tests.support.wire import broken, http
from tests.support.wording import worded

JSON = dict[str, Any]
CONTENT = b"line\n" * 40_000
HOSTS = frozenset({"files.slack.com"})
PAGE = "<html>Sign in</html>"
SERVED = {
    "whole": http("200 OK", CONTENT, "text/plain"),
    "page": http("200 OK", PAGE.encode(), "text/html"),
    "elsewhere": http("302 Found", Location="/files-pri/whole"),
    "broken": http("200 OK", CONTENT[:1000], Content_Length=str(len(CONTENT))),
}
ABBREVIATED = {"id": "F1", "file_access": "check_file_info"}
NOT_SLACKS = "It isn't stored on Slack's"


class FileHost:
    """A fake Web API and file host; `files` is what `files.info` returns."""

    def __init__(self) -> None:
        self.url = ""
        self.files: dict[str, JSON] = {}
        self.error = "file_not_found"
        self.served: list[str | None] = []

    def file(self, path: str = "whole", **more: Any) -> JSON:
        details = {"id": "F1", "name": "a.log", "mimetype": "text/plain", "size": len(CONTENT)}
        return details | {"url_private_download": f"{self.url}/files-pri/{path}"} | more

    async def info(self, request: web.Request) -> web.Response:
        file = self.files.get(str((await request.post()).get("file") or request.query.get("file")))
        return web.json_response({"ok": True, "file": file} if file else {"ok": False, "error": self.error})

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.served.append(request.headers.get("Authorization"))
        kind = request.match_info["kind"]
        return broken(request, SERVED.get(kind) or http(f"{kind} Failed"))


@pytest.fixture
async def host() -> AsyncIterator[FileHost]:
    host = FileHost()
    app = web.Application()
    app.router.add_route("*", "/api/files.info", host.info)
    app.router.add_get("/files-pri/{kind}", host.serve)
    async with serving(app) as host.url:
        yield host


@pytest.fixture
async def slack(host: FileHost) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as connections:
        yield web_client.web_client(SecretStr("xoxb-1"), f"{host.url}/api/", connections, 0)


async def read(slack: AsyncWebClient, file: JSON, uploader: str | None = None) -> bytes:
    content = await download(slack, HOSTS, file, uploader)
    return b"".join([piece async for piece in content.content])


async def lost(slack: AsyncWebClient, file: JSON, uploader: str | None = None) -> str:
    with pytest.raises(UserError) as caught:
        await read(slack, file, uploader)
    return worded(caught.value)


async def test_a_file_downloads_with_its_metadata(slack: AsyncWebClient, host: FileHost) -> None:
    content = await download(slack, HOSTS, host.file())

    assert (content.size, content.content_type) == (len(CONTENT), "text/plain")
    assert b"".join([piece async for piece in content.content]) == CONTENT
    assert host.served == ["Bearer xoxb-1"]
    host.files["F1"] = host.file()
    assert await read(slack, ABBREVIATED) == CONTENT


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"path": "page"}, "Slack didn't let me download it. Invite me"),
        ({"path": "elsewhere"}, "Slack redirected the download, so I stopped."),
        ({"path": "broken"}, "The connection to Slack was lost. Try again."),
        ({"path": "403"}, "I can't see it in Slack. Invite me"),
        ({"path": "404"}, "It was deleted in Slack."),
        ({"path": "500"}, "Slack couldn't send it. Try again in a minute."),
        ({"mode": "tombstone"}, "It was deleted in Slack."),
        ({"is_external": True, "external_type": "gdrive"}, "It's stored in Google Drive, not in Slack."),
        ({"file_access": "access_denied"}, "I can't see it in Slack."),
        ({"mode": "hidden_by_limit"}, "Slack no longer provides it."),
        ({"url_private_download": "https://evil.example/a"}, NOT_SLACKS),
        ({"url_private_download": "http://files.slack.com/a"}, NOT_SLACKS),
        ({"url_private_download": "https://evilfiles.slack.com/a"}, NOT_SLACKS),
        ({"url_private_download": "https://files.slack.com:8443/a"}, NOT_SLACKS),
        ({"url_private_download": "http://127.0.0.1:9/a"}, NOT_SLACKS),  # the Web API's host
        ({"url_private_download": "https://files.slack.com.evil.example/a"}, NOT_SLACKS),
    ],
)
async def test_a_file_that_cant_be_fetched_is_requested_once_or_not_at_all(
    slack: AsyncWebClient, host: FileHost, more: JSON, expected: str
) -> None:
    assert (await lost(slack, host.file(**more))).startswith(expected)
    assert len(host.served) == ("path" in more)


async def test_a_file_is_downloaded_through_the_proxy(slack: AsyncWebClient, host: FileHost) -> None:
    async with proxying() as proxy:
        slack.proxy = proxy.url

        assert await read(slack, host.file()) == CONTENT

    assert proxy.passed == [host.file()["url_private_download"]]


async def test_an_html_page_is_distinguished_from_an_html_file(slack: AsyncWebClient, host: FileHost) -> None:
    page = host.file("page", mimetype="text/html", size=len(PAGE))

    assert await read(slack, page) == PAGE.encode()
    assert "was incomplete" in await lost(slack, page | {"size": len(PAGE) + 1})


async def test_an_unreadable_file_is_explained(slack: AsyncWebClient, host: FileHost) -> None:
    for error, explanation in (
        ("file_deleted", "It was deleted in Slack."),
        ("file_not_found", "I can't see it in Slack."),
        ("ratelimited", "Slack is limiting my downloads."),
    ):
        host.error = error
        assert (await lost(slack, ABBREVIATED)).startswith(explanation)
    slack.base_url = "http://127.0.0.1:1/api/"
    assert await lost(slack, ABBREVIATED) == "I can't reach Slack. Try again in a minute."


async def test_a_file_of_someone_else_is_not_requested(slack: AsyncWebClient, host: FileHost) -> None:
    file = host.file(user="U2")

    assert (await lost(slack, file, "U1")).startswith("Someone else uploaded it to Slack. On")
    assert host.served == []
    assert await read(slack, file, "U2") == CONTENT
