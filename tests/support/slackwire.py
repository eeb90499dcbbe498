"""A faulty HTTP proxy between the bot and Slack.

Faults, each for one call of its method:
- before Slack gets it: "lose the request", "500 before it", "page" (200 with HTML), "refuse:<error>",
  "429:<seconds to wait>", "429" (without Retry-After);
- after Slack has done it: "lose the answer", "500 after it", "page after it", "truncate",
  "late answer:<seconds>";
- "slow:<seconds>": delayed, then successful.

Posts to response URLs count as the method `response_url`, downloads as `file`, and opening a socket as
`socket`. A socket can also be "deaf" (nothing comes through) or have "no hello".
"""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import WSMsgType, web

from bot.sandbox.workspace.api.call import arguments
from tests.support.serving import serving
from tests.support.wire import HOP_BY_HOP

ROOM = 10**9
BEFORE = frozenset({"lose the request", "500 before it", "page", "refuse", "429"})
AFTER = frozenset({"lose the answer", "500 after it", "page after it", "truncate", "slow", "late answer"})
SOCKET = frozenset({"lose the request", "lose the answer", "no hello", "deaf"})
BROKEN = frozenset({"lose the answer", "lose the request"})
PAGE = "<!DOCTYPE html><html><body>Something went wrong</body></html>"
GONE = {"refuse": 404, "429": 429}


@dataclass(frozen=True)
class Call:
    """A call of the Web API as the bot made it; the arguments don't include the token."""

    method: str
    arguments: dict[str, Any]
    at: float
    """When it came, on the monotonic clock."""


class SlackWire:
    """A proxy for the whole workspace. Only Web API calls can fail; the rest passes unchanged, the bot's
    socket too.

    `faults` are pairs of method and fault, applied to that method's next calls in order. `lasting` maps a
    method to a fault for all its calls. `calls` holds every call so far. `sockets` are the bot's open
    connections.
    """

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []
        self.lasting: dict[str, str] = {}
        self.calls: list[Call] = []
        self.sockets: list[web.WebSocketResponse] = []
        self.frames: list[str] = []
        """The frames that the workspace has sent over sockets."""
        self.hangs_up_at: str | None = None
        """A substring of a frame. The socket that carries it is closed right after."""
        self.lost: set[str] = set()
        """The envelopes of those frames, whose answers don't reach the workspace over a new socket either."""
        self._target = ""
        self._running = AsyncExitStack()

    async def up(self, target: str) -> str:
        """Starts the proxy in front of the workspace at `target` and returns the proxy's address."""
        self._target = target.rstrip("/")
        app = web.Application(client_max_size=ROOM)
        app.router.add_get("/link/", self._socket)
        app.router.add_route("*", "/api/{method}", self._called)
        app.router.add_post("/{kind:commands|actions|app}/{team}/{key}", self._responded)
        app.router.add_get("/files-pri/{path:.*}", self._downloaded)
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        url = await self._running.enter_async_context(serving(app))
        self._session = await self._running.enter_async_context(aiohttp.ClientSession(auto_decompress=False))
        return f"{url}/"

    async def down(self) -> None:
        """Closes every connection and stops listening."""
        await self._running.aclose()

    def called(self, method: str) -> list[Call]:
        """Returns the calls of one method."""
        return [call for call in self.calls if call.method == method]

    def cut(self) -> None:
        """Closes the bot's sockets."""
        for socket in tuple(self.sockets):
            assert socket._req is not None
            assert socket._req.transport is not None
            socket._req.transport.abort()

    async def _called(self, request: web.Request) -> web.StreamResponse:
        given, _ = await arguments(request)
        return await self._call(request.match_info["method"], given.all, request)

    async def _responded(self, request: web.Request) -> web.StreamResponse:
        return await self._call("response_url", json.loads(await request.read()), request)

    async def _downloaded(self, request: web.Request) -> web.StreamResponse:
        return await self._call("file", {"path": request.path}, request)

    async def _call(self, method: str, given: dict[str, Any], request: web.Request) -> web.StreamResponse:
        self.calls.append(Call(method, given, time.monotonic()))
        fault, more = self._fault(method)
        if fault in BEFORE:
            return self._before(fault, more, request)
        if fault == "slow":
            await asyncio.sleep(float(more))
        answer = await self._pass_on(request)
        if fault == "late answer":
            await asyncio.sleep(float(more))
        return self._after(fault, answer, request)

    def _fault(self, method: str) -> tuple[str, str]:
        pair = next((pair for pair in self.faults if pair[0] == method), None)
        if pair is not None:
            self.faults.remove(pair)
        fault, _, more = (pair[1] if pair else self.lasting.get(method, "")).partition(":")
        assert fault in BEFORE | AFTER | SOCKET | {""}, fault
        return fault, more

    def _before(self, fault: str, more: str, request: web.Request) -> web.StreamResponse:
        if fault in BROKEN:
            return self._broken(request)
        if fault == "500 before it":
            return web.Response(status=500, text=PAGE, content_type="text/html")
        if fault == "page":
            return web.Response(text=PAGE, content_type="text/html")
        api = request.path.startswith("/api/")
        said = {"ok": False, "error": more if fault == "refuse" else "ratelimited"}
        headers = {"Retry-After": more} if fault == "429" and more else {}
        status = 200 if api and fault == "refuse" else GONE[fault]
        return web.json_response(said, status=status, headers=headers)

    def _after(self, fault: str, answer: web.Response, request: web.Request) -> web.StreamResponse:
        if fault in BROKEN:
            return self._broken(request)
        if fault == "500 after it":
            return web.Response(status=500, text=PAGE, content_type="text/html")
        if fault == "page after it":
            return web.Response(text=PAGE, content_type="text/html")
        if fault == "truncate":
            assert isinstance(answer.body, bytes)
            return web.Response(
                status=answer.status, body=answer.body[: len(answer.body) // 2], headers=answer.headers
            )
        return answer

    async def _pass_on(self, request: web.Request) -> web.Response:
        async with self._session.request(
            request.method,
            self._target + request.raw_path,
            data=await request.read(),
            headers={k: v for k, v in request.headers.items() if k.lower() not in HOP_BY_HOP},
            allow_redirects=False,
        ) as answer:
            content = await answer.read()
            kept = {k: v for k, v in answer.headers.items() if k.lower() not in HOP_BY_HOP}
            return web.Response(status=answer.status, body=content, headers=kept)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        self.calls.append(Call("socket", {}, time.monotonic()))
        fault, _ = self._fault("socket")
        if fault == "lose the request":
            return self._broken(request)
        async with self._session.ws_connect(self._target + request.raw_path, max_msg_size=ROOM) as there:
            if fault == "lose the answer":
                return self._broken(request)
            here = web.WebSocketResponse(max_msg_size=ROOM, autoping=fault != "deaf")
            await here.prepare(request)
            self.sockets.append(here)

            async def forth() -> None:
                async for message in here:
                    if message.type is WSMsgType.TEXT and not any(it in message.data for it in self.lost):
                        await there.send_str(message.data)

            async def back() -> None:
                async for message in there:
                    self.frames.append(message.data)
                    if fault == "deaf" or (fault == "no hello" and '"hello"' in message.data):
                        continue
                    hangs_up = self._hangs_up(message.data)
                    await here.send_str(message.data)
                    if hangs_up:
                        return

            ways = {asyncio.create_task(forth()), asyncio.create_task(back())}
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self.sockets.remove(here)
        self.hangs_up_at = None
        if request.transport:
            request.transport.close()
        return here

    def _hangs_up(self, frame: str) -> bool:
        hangs_up = self.hangs_up_at is not None and self.hangs_up_at in frame
        if hangs_up:
            self.lost.add(json.loads(frame)["envelope_id"])
        return hangs_up

    @staticmethod
    def _broken(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()
