"""A faulty HTTP proxy between the bot and Slack.

Faults, each for one call of its method:
- before Slack gets it: "lose the request", "500 before it", "503 before it" (empty), "page" (200 with HTML),
  "307 elsewhere", "refuse:<error>", "429:<seconds to wait>", "429" (without Retry-After), "slow 429:<seconds
  to wait>" and "slow refuse:<error>" (answered when `released` is set);
- after Slack has done it: "lose the answer", "500 after it", "page after it", "truncate",
  "refuse after it:<error>", "late answer:<seconds>", "leave out:<field>" (of every object in the answer);
- "slow:<seconds>": delayed, or until `released` is set, then successful.

Posts to response URLs count as the method `response_url`, downloads as `file`, and opening a socket as
`socket`. A socket can also be "deaf" (nothing comes through) or have "no hello".
"""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from aiohttp import WSMsgType, web

from bot.sandbox.workspace.api.call import arguments
from tests.support.wire import HTML, Proxy, broken, http

ROOM = 10**9
BEFORE = {
    "lose the request": None,
    "500 before it": http("500 Internal Server Error", HTML, "text/html"),
    "503 before it": http("503 Service Unavailable"),
    "page": http("200 OK", HTML, "text/html"),
}
AFTER = {"lose the answer": None, "500 after it": BEFORE["500 before it"], "page after it": BEFORE["page"]}
SOCKET = {"no hello", "deaf"}
ELSEWHERE = "307 elsewhere"
PARTLY = {"truncate", "leave out"}
FAULTS = {
    *("", ELSEWHERE, "refuse", "refuse after it", "429", "slow 429", "slow refuse", "slow", "late answer"),
    *(*PARTLY, *BEFORE, *AFTER, *SOCKET),
}


@dataclass(frozen=True)
class Call:
    """A call of the Web API as the bot made it; the arguments don't include the token."""

    method: str
    arguments: dict[str, Any]
    at: float
    """When it came, on the monotonic clock."""


class SlackWire(Proxy):
    """A proxy for the whole workspace. Only Web API calls can fail; the rest passes unchanged, the bot's
    socket too.

    `faults` are pairs of method and fault, applied to that method's next calls in order. `lasting` maps a
    method to a fault for all its calls. `calls` holds every call so far. `sockets` are the bot's open
    connections.
    """

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[tuple[str, str]] = []
        self.lasting: dict[str, str] = {}
        self.calls: list[Call] = []
        self.released = asyncio.Event()
        self.behind = 0.0
        """How many seconds Slack's clock is behind this machine's, as its answers tell."""
        self.sockets: list[web.WebSocketResponse] = []
        self.frames: list[str] = []
        """The frames that the workspace has sent over sockets."""
        self.hangs_up_at: str | None = None
        """A substring of a frame. The socket that carries it is closed right after."""
        self.lost: set[str] = set()
        """The envelopes of those frames, whose answers don't reach the workspace over a new socket either."""

    async def up(self, target: str) -> str:
        """Starts the proxy in front of the workspace at `target` and returns the proxy's address."""
        self.target = target.rstrip("/")
        app = web.Application(client_max_size=ROOM)
        app.router.add_get("/link/", self._socket)
        app.router.add_route("*", "/api/{method}", self._called)
        app.router.add_post("/{kind:commands|actions|app}/{team}/{key}", self._responded)
        app.router.add_get("/files-pri/{path:.*}", self._downloaded)
        app.router.add_route("*", "/{path:.*}", self._passed_on)
        await self._connect()
        return f"{await self._serve(app)}/"

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
        if fault in (ELSEWHERE, *BEFORE):
            return broken(request, self._instead(fault))
        if fault in ("refuse", "429"):
            return _refused(fault, more, request)
        if fault in ("slow 429", "slow refuse"):
            await self.released.wait()
            return _refused(fault.removeprefix("slow "), more, request)
        if fault == "slow":
            with suppress(TimeoutError):
                await asyncio.wait_for(self.released.wait(), float(more))
        answer = await self._passed_on(request)
        answer.headers["Date"] = formatdate(time.time() - self.behind, usegmt=True)
        if fault == "late answer":
            await asyncio.sleep(float(more))
        if fault == "refuse after it":
            return _refused("refuse", more, request)
        if fault in PARTLY:
            assert isinstance(answer.body, bytes)
            part = _without(more, answer.body) if more else answer.body[: len(answer.body) // 2]
            return web.Response(status=answer.status, body=part, headers=answer.headers)
        return broken(request, AFTER[fault]) if fault in AFTER else answer

    def _fault(self, method: str) -> tuple[str, str]:
        pair = next((pair for pair in self.faults if pair[0] == method), None)
        if pair is not None:
            self.faults.remove(pair)
        fault, _, more = (pair[1] if pair else self.lasting.get(method, "")).partition(":")
        assert fault in FAULTS, fault
        return fault, more

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        self.calls.append(Call("socket", {}, time.monotonic()))
        fault, _ = self._fault("socket")
        if fault in (ELSEWHERE, *BEFORE):
            return broken(request, self._instead(fault))
        async with self._session.ws_connect(self.target + request.raw_path, max_msg_size=ROOM) as there:
            if fault == "lose the answer":
                return broken(request, None)
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

    def _instead(self, fault: str) -> bytes | None:
        elsewhere = http("307 Temporary Redirect", Location=self._elsewhere)
        return elsewhere if fault == ELSEWHERE else BEFORE[fault]

    def _hangs_up(self, frame: str) -> bool:
        hangs_up = self.hangs_up_at is not None and self.hangs_up_at in frame
        if hangs_up:
            self.lost.add(json.loads(frame)["envelope_id"])
        return hangs_up


def _without(field: str, body: bytes) -> bytes:
    """Returns JSON without a field of its objects."""

    def left(given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if name != field}

    return json.dumps(json.loads(body, object_hook=left)).encode()


def _refused(fault: str, more: str, request: web.Request) -> web.Response:
    body = {"ok": False, "error": more if fault == "refuse" else "ratelimited"}
    headers = {"Retry-After": more} if fault == "429" and more else {}
    status = 429 if fault == "429" else 200 if request.path.startswith("/api/") else 404
    return web.json_response(body, status=status, headers=headers)
