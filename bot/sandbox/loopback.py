"""Restrict the sandbox to loopback, so that no website open in a browser can reach it."""

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


def check_host(host: str) -> None:
    """Raise ValueError unless `host` is a loopback address to listen on."""
    if not is_loopback(host):
        raise ValueError("The sandbox listens on loopback addresses only.")


@web.middleware
async def loopback_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Reject requests with a foreign Host header, which guards against DNS rebinding."""
    try:
        name = urlsplit(f"//{request.host}").hostname
    except ValueError:
        name = None
    if not is_loopback(name):
        raise web.HTTPForbidden(text="The sandbox answers on this machine only.")
    return await handler(request)
