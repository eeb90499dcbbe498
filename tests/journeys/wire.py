"""What lies between the bot and the service: an HTTP proxy that fails as it is told."""

import asyncio
import re
from typing import Literal

import aiohttp
from aiohttp import web

Fault = Literal[
    "lose the request", "lose the answer", "fail after it", "refuse the key", "hide the key", "slow", "pass"
]
HOP_BY_HOP = {"transfer-encoding", "content-length", "connection", "content-encoding", "host"}


class Wire:
    """Passes requests on to `target`; `faults` are applied to writes, one each, in turn.

    `seconds` is how slow "slow" is.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.faults: list[Fault] = []
        self.seconds = 1.0
        self.port = 0
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """What the bot takes for the service."""
        return f"http://127.0.0.1:{self.port}"

    async def up(self) -> None:
        """Listen, on the same port as before."""
        app = web.Application(client_max_size=10**9)
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]

    async def down(self) -> None:
        """Break every connection and listen no more."""
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        fault = self.faults.pop(0) if self.faults and request.method != "GET" else None
        body = await request.read()
        if fault == "lose the request":
            return self._broken(request)
        if fault == "refuse the key":
            return web.Response(status=401)
        if fault == "slow":
            await asyncio.sleep(self.seconds)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in HOP_BY_HOP}
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method,
                self.target + request.raw_path,
                data=body,
                headers=headers,
                allow_redirects=False,
            ) as answer,
        ):
            content = await answer.read()
        if fault == "lose the answer":
            return self._broken(request)
        if fault == "fail after it":
            return web.Response(status=500, text="<html>")
        if fault == "hide the key":
            content = re.sub(rb'"api_key": "[0-9a-f]+"', b'"api_key": null', content)
        kept = {k: v for k, v in answer.headers.items() if k.lower() not in HOP_BY_HOP}
        return web.Response(status=answer.status, body=content, headers=kept)

    @staticmethod
    def _broken(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()
