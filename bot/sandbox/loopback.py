"""On this machine only: whom the sandbox's listeners answer, so that no site in a browser gets at them."""

from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_loopback(host: str | None) -> bool:
    """Whether a host's name or address is this machine's own, and nobody else's."""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


def check_host(host: str) -> None:
    """Raises ValueError for a host to listen on that is not this machine's own."""
    if not is_loopback(host):
        raise ValueError("The sandbox listens on loopback addresses only.")


@web.middleware
async def only_here(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests under other names: a site's name may be made to lead here."""
    try:
        name = urlsplit(f"//{request.host}").hostname
    except ValueError:
        name = None
    if not is_loopback(name):
        raise web.HTTPForbidden(text="The sandbox answers on this machine only.")
    return await handler(request)
