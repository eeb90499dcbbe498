"""Restrict the sandbox to loopback, so that no website open in a browser can reach it."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_loopback(host: str | None) -> bool:
    """Return whether a host name or address is loopback."""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


class Listener:
    """Serves one application on a loopback address."""

    def __init__(self) -> None:
        self._runner: web.AppRunner | None = None

    async def start(
        self, app: web.Application, host: str, port: int, *, shutdown_timeout: float = 1.0
    ) -> str:
        """Start listening and return the root URL, without a trailing slash; port 0 picks a free one.

        Raises ValueError for a host that isn't loopback, OSError when the port is in use.
        """
        if not is_loopback(host):
            raise ValueError("The sandbox listens on loopback addresses only.")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=shutdown_timeout)
        await self._runner.setup()
        await web.SockSite(self._runner, self._socket).start()
        return f"http://{f'[{host}]' if ':' in host else host}:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        """Let in-flight requests finish for a moment, then close; does nothing when not running."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        # asyncio leaves open what it accepts just before closing: https://github.com/python/cpython/issues/109564
        asyncio.get_running_loop().remove_reader(self._socket)
        for _ in range(3):
            await asyncio.sleep(0)
        await runner.cleanup()


@web.middleware
async def loopback_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Reject other websites: a foreign Origin, or after DNS rebinding, a foreign Host."""
    try:
        name = urlsplit(f"//{request.host}").hostname
    except ValueError:
        name = None
    if not is_loopback(name):
        raise web.HTTPForbidden(text="The sandbox accepts requests from this machine only.")
    own = str(request.url.origin())
    if request.headers.get("Origin", own) != own:
        raise web.HTTPForbidden(text="Other sites can't use the sandbox.")
    return await handler(request)
