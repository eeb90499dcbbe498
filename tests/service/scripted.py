"""A scripted service on localhost, which records requests and sends prepared replies."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.support.serving import serving


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: object = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


@dataclass
class Service:
    """Sends `replies` in order, repeating the last one, or the replies that `handle` returns."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    handle: Callable[[Asked], Awaitable[Reply]] | None = None
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    def reply(self, body: object = b"", status: int = 200, **headers: str) -> None:
        self.replies.append(
            Reply(status, body, {name.replace("_", "-"): text for name, text in headers.items()})
        )

    def fault(self, fault: str, status: int = 200) -> None:
        self.replies.append(Reply(status, {}, fault=fault))

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(
            request.method,
            request.rel_url.raw_path,
            dict(request.query),
            dict(request.headers),
            await request.read(),
        )
        self.asked.append(asked)
        if self.handle is not None:
            reply = await self.handle(asked)
        else:
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply.fault == "hang":
            await self.stopped.wait()
        assert request.transport is not None
        if reply.fault == "drop":
            request.transport.abort()
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        if reply.fault == "cut":
            response = web.StreamResponse(status=reply.status, headers={"Content-Length": "1000"})
            await response.prepare(request)
            await response.write(b'{"issues": [')
            request.transport.close()
            return response
        if reply.fault == "stall":
            response = web.StreamResponse(status=reply.status)
            await response.prepare(request)
            await self.stopped.wait()
            return response
        return web.Response(status=reply.status, body=content, headers=reply.headers)


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[Service]:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", service.serve)
    async with serving(app) as service.url:
        yield service
        service.stopped.set()
