"""An HTTP proxy."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from tests.support.serving import serving


@dataclass
class HttpProxy:
    """Forwards requests, and keeps their URLs in `passed`."""

    url: str = ""
    passed: list[str] = field(default_factory=list)

    async def forward(self, request: web.Request) -> web.Response:
        self.passed.append(str(request.url))
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, request.url, headers=request.headers, data=await request.read()
            ) as answer,
        ):
            content = await answer.read()
        return web.Response(status=answer.status, body=content, content_type=answer.content_type)


@asynccontextmanager
async def proxying() -> AsyncIterator[HttpProxy]:
    """Runs a proxy while the block runs."""
    proxy, application = HttpProxy(), web.Application()
    application.router.add_route("*", "/{path:.*}", proxy.forward)
    async with serving(application) as proxy.url:
        yield proxy
