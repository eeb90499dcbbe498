"""Serves an application on loopback for a test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from bot.sandbox.loopback import Listener


@asynccontextmanager
async def serving(app: web.Application, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Yields the URL, without a trailing slash; port 0 picks a free port."""
    listener = Listener()
    url = await listener.start(app, host, port, shutdown_timeout=0.1)
    try:
        yield url
    finally:
        await listener.stop()
