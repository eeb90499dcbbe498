"""The Slack of the comparisons: signs and sends payloads, receives the answers, serves one large file."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from bot.sandbox.workspace.http import signature
from tests.support.serving import serving

TEAM, USER, CHANNEL = "T0HARBOR01", "U0ANA0001", "C0GENERAL1"
TOKEN, SECRET = "xoxb-1-1-a", "0123456789abcdef0123456789abcdef"
FILE_SIZE = 200 * 1000 * 1000
PIECE = bytes(256 * 1024)
SECONDS_TO_ANSWER = 30


@dataclass(frozen=True)
class Times:
    """Seconds until a payload was acknowledged, and until its answer arrived."""

    acknowledged: float
    answered: float


class Slack:
    """Serves the Web API methods in use, response URLs, and one 200 MB file."""

    def __init__(self) -> None:
        self._answers: dict[str, asyncio.Future[float]] = {}
        self._shown: list[str] = []
        self._number = 0

    @asynccontextmanager
    async def up(self) -> AsyncIterator[Self]:
        """Serves while the block lasts."""
        app = web.Application(client_max_size=10**6)
        app.router.add_route("*", "/api/{method}", self._call)
        app.router.add_post("/commands/{name}", self._answered)
        app.router.add_get("/files/large", self._file)
        async with serving(app) as self.url, aiohttp.ClientSession() as self._http:
            yield self

    async def command(self, to: str, typed: str) -> Times:
        """Sends a slash command and waits for its answer."""
        self._number += 1
        name, _, text = typed.partition(" ")
        token = f"{time.monotonic_ns()}.{self._number}"
        self._answers[token] = answer = asyncio.get_running_loop().create_future()
        about = {"team_id": TEAM, "user_id": USER, "user_name": "ana", "api_app_id": "A0ISSUEBOT"}
        about |= {"channel_id": CHANNEL, "channel_name": "general", "trigger_id": token}
        about |= {"command": name, "text": text, "response_url": f"{self.url}/commands/{token}"}
        body = urlencode(about)
        began = time.perf_counter()
        await self._send(to, body)
        acknowledged = time.perf_counter() - began
        async with asyncio.timeout(SECONDS_TO_ANSWER):
            return Times(acknowledged, await answer - began)

    async def submit_file(self, to: str, name: str, issue: int) -> None:
        """Submits the form that attaches the large file to an issue, and waits for the confirmation."""
        values = {"files": {"files": {"type": "file_input", "files": [self._object(name)]}}}
        view = {
            "id": f"V{name}",
            "team_id": TEAM,
            "type": "modal",
            "callback_id": "files.attach",
            "private_metadata": json.dumps({"issue": issue, "place": {"channel_id": CHANNEL}}),
            "title": {"type": "plain_text", "text": "Attach files"},
            "blocks": [],
            "hash": "1",
            "state": {"values": values},
        }
        user = {"id": USER, "team_id": TEAM, "username": "ana", "name": "ana"}
        payload = {"type": "view_submission", "team": {"id": TEAM}, "user": user, "view": view}
        body = urlencode({"payload": json.dumps(payload | {"trigger_id": name})})
        self._shown = [await self._send(to, body)]
        async with asyncio.timeout(SECONDS_TO_ANSWER):
            while not any(f"{name}* attached" in reply_text for reply_text in self._shown):
                await asyncio.sleep(0.01)

    async def _send(self, to: str, body: str) -> str:
        now = str(int(time.time()))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": now,
            "X-Slack-Signature": signature(SECRET, now, body.encode()),
        }
        async with self._http.post(f"{to}/slack/events", data=body, headers=headers) as answer:
            reply_text = await answer.text()
            assert answer.status == 200, reply_text
        return reply_text

    async def _call(self, request: web.Request) -> web.Response:
        given = await request.json() if request.content_type == "application/json" else request.query
        answer: dict[str, Any] = {"ok": True}
        match request.match_info["method"]:
            case "auth.test":
                answer |= {"team_id": TEAM, "team": "Harbor", "url": f"{self.url}/"}
                answer |= {"user_id": "U0BOT", "bot_id": "B0BOT", "user": "bot"}
            case "conversations.info":
                answer |= {"channel": {"id": CHANNEL, "is_ext_shared": False}}
            case "chat.postMessage":
                answer |= {"channel": CHANNEL, "ts": f"{time.time():.6f}"}
            case "users.info":
                answer |= {"user": {"id": USER, "team_id": TEAM, "real_name": "Ana", "tz": "UTC"}}
            case "files.info":
                answer |= {"file": self._object(str(given["file"]))}
            case "views.update":
                self._shown.append(json.dumps(given))
        return web.json_response(answer, headers={"X-OAuth-Scopes": "commands"})

    async def _answered(self, request: web.Request) -> web.Response:
        heard = time.perf_counter()
        body = await request.text()
        assert "blocks" in body, body
        answer = self._answers.pop(request.match_info["name"], None)
        if answer is not None:
            answer.set_result(heard)
        return web.Response(text="ok")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": str(FILE_SIZE)})
        answer.content_type = "application/octet-stream"
        await answer.prepare(request)
        for sent in range(0, FILE_SIZE, len(PIECE)):
            await answer.write(PIECE[: FILE_SIZE - sent])
        await answer.write_eof()
        return answer

    def _object(self, name: str) -> dict[str, Any]:
        url, kind = f"{self.url}/files/large", "application/octet-stream"
        file = {"id": name, "user": USER, "name": name, "title": name, "mimetype": kind, "size": FILE_SIZE}
        return file | {"url_private": url, "url_private_download": url}
