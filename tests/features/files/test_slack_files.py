"""Downloading files from Slack: failures are explained, and the token goes to Slack only."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.files.errors import Loss, LostFile
from bot.features.files.slack_files import download
from bot.features.files.views import why_lost
from bot.slack import web_client
from tests.support.serving import serving
from tests.support.wording import WORDING

JSON = dict[str, Any]
CONTENT = b"line\n" * 40_000
HOSTS = frozenset({"files.slack.com"})
PAGE = "<html>Sign in</html>"


BEGUN = {
    Loss.NOT_OWN: "Someone else uploaded it to Slack. Use",
    Loss.UNREACHED: "I can't reach Slack. Try again",
    Loss.INCOMPLETE: "The download from Slack was incomplete. Try again.",
    Loss.NOT_UPLOADED: "The connection to Tracker was lost. Try again.",
    Loss.NOT_ATTACHED: "It isn't among the issue's files. Try again.",
}
"""How the sentences begin about losses that the downloads here don't have."""


class FileHost:
    """A fake Web API and file host; `files` is what `files.info` returns."""

    def __init__(self) -> None:
        self.url = ""
        self.files: dict[str, JSON] = {}
        self.error = "file_not_found"
        self.served: list[str | None] = []

    def file(self, path: str = "whole", **more: Any) -> JSON:
        address = f"{self.url}/files-pri/{path}"
        return {
            "id": "F1",
            "name": "a.log",
            "mimetype": "text/plain",
            "size": len(CONTENT),
            "url_private_download": address,
            **more,
        }

    async def info(self, request: web.Request) -> web.Response:
        found = self.files.get(str((await request.post()).get("file") or request.query.get("file")))
        return web.json_response({"ok": True, "file": found} if found else {"ok": False, "error": self.error})

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.served.append(request.headers.get("Authorization"))
        match request.match_info["kind"]:
            case "whole":
                return web.Response(body=CONTENT, content_type="text/plain")
            case "page":
                return web.Response(text=PAGE, content_type="text/html")
            case "elsewhere":
                return web.Response(status=302, headers={"Location": f"{self.url}/files-pri/whole"})
            case "broken":
                return await self.break_off(request)
        return web.Response(status=int(request.match_info["kind"]))

    async def break_off(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": str(len(CONTENT))})
        await answer.prepare(request)
        await answer.write(CONTENT[:1000])
        assert request.transport
        request.transport.abort()
        return answer


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
        yield web_client.web_client(SecretStr("xoxb-1"), f"{host.url}/api/", connections)


async def read(slack: AsyncWebClient, file: JSON) -> bytes:
    found = await download(slack, HOSTS, file)
    return b"".join([piece async for piece in found.content])


async def lost(slack: AsyncWebClient, file: JSON) -> str:
    with pytest.raises(LostFile) as caught:
        await read(slack, file)
    return why_lost(caught.value, WORDING)


async def test_a_file_downloads_with_its_metadata(slack: AsyncWebClient, host: FileHost) -> None:
    found = await download(slack, HOSTS, host.file())

    assert (found.size, found.content_type) == (len(CONTENT), "text/plain")
    assert b"".join([piece async for piece in found.content]) == CONTENT
    assert host.served == ["Bearer xoxb-1"]


async def test_abbreviated_file_objects_are_completed(slack: AsyncWebClient, host: FileHost) -> None:
    host.files["F1"] = host.file()

    assert await read(slack, {"id": "F1", "file_access": "check_file_info"}) == CONTENT


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("page", "Slack sent a web page instead of the file. Invite me"),
        ("elsewhere", "Slack redirected the download, so I stopped."),
        ("broken", "The connection to Slack was lost. Try again."),
        ("403", "I can't see it in Slack. Invite me"),
        ("404", "It was deleted in Slack."),
        ("500", "Slack couldn't send it. Try again in a minute."),
    ],
)
async def test_failed_downloads_explain_why(
    slack: AsyncWebClient, host: FileHost, path: str, said: str
) -> None:
    assert (await lost(slack, host.file(path))).startswith(said)
    assert len(host.served) == 1


async def test_an_html_page_is_distinguished_from_an_html_file(slack: AsyncWebClient, host: FileHost) -> None:
    page = host.file("page", mimetype="text/html", size=len(PAGE))

    assert await read(slack, page) == PAGE.encode()
    assert "bytes instead of" in await lost(slack, page | {"size": len(PAGE) + 1})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"mode": "tombstone"}, "It was deleted in Slack."),
        ({"is_external": True, "external_type": "gdrive"}, "It's stored in gdrive, not in Slack."),
        ({"file_access": "access_denied"}, "I can't see it in Slack."),
        ({"mode": "hidden_by_limit"}, "Slack no longer provides it."),
        ({"url_private_download": "https://evil.example/a"}, "It isn't stored on Slack's"),
        ({"url_private_download": "http://files.slack.com/a"}, "It isn't stored on Slack's"),
        ({"url_private_download": "https://evilfiles.slack.com/a"}, "It isn't stored on Slack's"),
        ({"url_private_download": "https://files.slack.com.evil.example/a"}, "It isn't stored on Slack's"),
    ],
)
async def test_unfetchable_files_are_not_requested(
    slack: AsyncWebClient, host: FileHost, more: JSON, said: str
) -> None:
    assert (await lost(slack, host.file(**more))).startswith(said)
    assert host.served == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("file_deleted", "It was deleted in Slack."),
        ("file_not_found", "I can't see it in Slack."),
        ("ratelimited", "Slack is limiting my downloads."),
    ],
)
async def test_an_unreadable_file_is_explained(
    slack: AsyncWebClient, host: FileHost, error: str, said: str
) -> None:
    host.error = error

    assert (await lost(slack, {"id": "F9", "file_access": "check_file_info"})).startswith(said)


def test_every_loss_says_what_happened() -> None:
    said = {why: why_lost(LostFile(why), WORDING) for why in Loss}

    assert len(set(said.values())) == len(Loss)
    assert {why: begun for why, begun in BEGUN.items() if not said[why].startswith(begun)} == {}
