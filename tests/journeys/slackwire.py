"""What lies between the bot and Slack: an HTTP proxy that fails chosen calls as it is told.

Faults, each for one call of its method: "lose the request", "lose the answer", "500 before it",
"500 after it", "refuse:<error>", "429:<seconds to wait>", "slow:<seconds>", "late answer:<seconds>".
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web

from bot.sandbox.workspace.api.call import arguments
from tests.journeys.wire import HOP_BY_HOP

ROOM = 10**9
BEFORE = frozenset({"lose the request", "500 before it", "refuse", "429"})
AFTER = frozenset({"lose the answer", "500 after it", "slow", "late answer"})


@dataclass(frozen=True)
class Call:
    """A call of the Web API as the bot made it, its arguments without the token."""

    method: str
    arguments: dict[str, Any]
    at: float
    """When it came, on a clock that only tells distances."""


class SlackWire:
    """Stands for the whole workspace: what isn't a call of the Web API passes as it is, the bot's socket too.

    `faults` are pairs of method and fault, taken in turn by the calls of that method; `calls` are all that
    came.
    """

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []
        self.calls: list[Call] = []
        self._target = ""
        self._runner: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None

    async def up(self, target: str) -> str:
        """Stand before the workspace at this address; the address to reach it by instead."""
        self._target = target.rstrip("/")
        self._session = aiohttp.ClientSession(auto_decompress=False)
        app = web.Application(client_max_size=ROOM)
        app.router.add_get("/link/", self._socket)
        app.router.add_route("*", "/api/{method}", self._call)
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/"

    async def down(self) -> None:
        """Break every connection and listen no more."""
        if self._session and self._runner:
            await self._session.close()
            await self._runner.cleanup()

    def called(self, method: str) -> list[Call]:
        """The calls of a method."""
        return [call for call in self.calls if call.method == method]

    async def _call(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        given, _ = await arguments(request)
        self.calls.append(Call(method, given.all, time.monotonic()))
        pair = next((pair for pair in self.faults if pair[0] == method), None)
        if pair is None:
            return await self._pass_on(request)
        self.faults.remove(pair)
        fault, _, more = pair[1].partition(":")
        assert fault in BEFORE | AFTER, fault
        if fault in BEFORE:
            return await self._before(fault, more, request)
        if fault == "slow":
            await asyncio.sleep(float(more))
        answer = await self._pass_on(request)
        if fault == "late answer":
            await asyncio.sleep(float(more))
        if fault == "lose the answer":
            return self._broken(request)
        return web.Response(status=500, text="<html>") if fault == "500 after it" else answer

    async def _before(self, fault: str, more: str, request: web.Request) -> web.StreamResponse:
        if fault == "lose the request":
            return self._broken(request)
        if fault == "500 before it":
            return web.Response(status=500, text="<html>")
        if fault == "refuse":
            return web.json_response({"ok": False, "error": more})
        limited = {"ok": False, "error": "ratelimited"}
        return web.json_response(limited, status=429, headers={"Retry-After": more})

    async def _pass_on(self, request: web.Request) -> web.Response:
        assert self._session
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
        assert self._session
        here = web.WebSocketResponse(max_msg_size=ROOM)
        await here.prepare(request)
        async with self._session.ws_connect(self._target + request.raw_path, max_msg_size=ROOM) as there:

            async def forth() -> None:
                async for message in here:
                    await there.send_str(message.data)

            async def back() -> None:
                async for message in there:
                    await here.send_str(message.data)

            ways = {asyncio.create_task(forth()), asyncio.create_task(back())}
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        await here.close()
        return here

    @staticmethod
    def _broken(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()
