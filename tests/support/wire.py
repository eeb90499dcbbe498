"""A faulty HTTP proxy between the bot and the service."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack

import aiohttp
from aiohttp import web

from bot.service.client import Limits
from tests.support.serving import serving

Fault = str
"""One of `FAULTS`."""
FULL = "create trigger full before {act} on {table} begin select raise(abort, 'full'); end"
"""A trigger that makes SQLite reject writes to a table, as a full disk would."""
HOP_BY_HOP = {"transfer-encoding", "content-length", "connection", "content-encoding", "host"}
HTML = b"<html><body><h1>One moment please</h1></body></html>"
KEY = re.compile(rb'(?<="api_key": )"[^"]+"')


def http(status: str, body: bytes = b"", kind: str = "application/json", **headers: str) -> bytes:
    """Returns a raw HTTP response."""
    all_headers = {"Content_Type": kind, "Content_Length": str(len(body)), "Connection": "close"} | headers
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in all_headers.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


BEFORE: dict[Fault, Callable[[str], bytes | None]] = {
    "lose the request": lambda _: None,
    "close at once": lambda _: b"",
    "refuse the key": lambda _: http("401 Unauthorized"),
    "forbid": lambda _: http("403 Forbidden", HTML, "text/html"),
    "404": lambda _: http("404 Not Found"),
    "410": lambda _: http("410 Gone"),
    "413 in HTML": lambda _: http("413 Content Too Large", HTML, "text/html"),
    "422 without a word": lambda _: http("422 Unprocessable Content", b'{"errors": []}'),
    "500 before it": lambda _: http("500 Internal Server Error", HTML, "text/html"),
    "502 before it": lambda _: http("502 Bad Gateway", HTML, "text/html"),
    "503 before it": lambda _: http("503 Service Unavailable", HTML, "text/html"),
    "HTML before it": lambda _: http("200 OK", HTML, "text/html"),
    "nothing before it": lambda _: http("200 OK"),
    "garbage before it": lambda _: b"\x16\x03\x01 nobody speaks HTTP here\r\n\r\n",
    "301 elsewhere": lambda url: http("301 Moved Permanently", Location=url),
    "302 elsewhere": lambda url: http("302 Found", Location=url),
    "307 elsewhere": lambda url: http("307 Temporary Redirect", Location=url),
    "429": lambda _: http("429 Too Many Requests"),
    "429 for a moment": lambda _: http("429 Too Many Requests", Retry_After="0.05"),
    "429 for an hour": lambda _: http("429 Too Many Requests", Retry_After="3600"),
    "429 for nonsense": lambda _: http("429 Too Many Requests", Retry_After="-1e999; soon"),
}
"""Responses sent instead of forwarding the request; None closes the connection."""
AFTER: dict[Fault, Callable[[str, bytes], bytes | None]] = {
    "lose the answer": lambda *_: None,
    "close after it": lambda *_: b"",
    "fail after it": lambda *_: http("500 Internal Server Error", HTML, "text/html"),
    "502 after it": lambda *_: http("502 Bad Gateway", HTML, "text/html"),
    "503 after it": lambda *_: http("503 Service Unavailable", HTML, "text/html"),
    "HTML after it": lambda *_: http("200 OK", HTML, "text/html"),
    "nothing after it": lambda *_: http("200 OK"),
    "garbage after it": lambda *_: b"\x00" * 100,
    "invalid JSON after it": lambda status, body: http(status, body.rstrip()[:-1] + b",,"),
    "another shape after it": lambda status, body: http(status, json.dumps([body.decode()]).encode()),
    "cut short": lambda status, body: http(status, body, Content_Length=str(len(body) + 10)),
    "oversized": lambda status, body: http(status, b" " * Limits().answer + body),
    "gzip in name only": lambda status, body: http(status, body, Content_Encoding="gzip"),
    "hide the key": lambda status, body: http(status, KEY.sub(b"null", body)),
}
"""Changes to the service's response after it has handled the request."""


class Proxy:
    """Passes requests on to `target`, which has no slash at the end.

    `elsewhere` lists the requests to the host that redirects point to: there must never be any.
    """

    def __init__(self, target: str = "") -> None:
        self.target = target
        self.elsewhere: list[str] = []
        self._running = AsyncExitStack()

    async def _serve(self, app: web.Application, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listens until `down`; returns the URL."""
        return await self._running.enter_async_context(serving(app, host, port))

    async def _connect(self) -> None:
        self._elsewhere = f"{await self._serve(app(self._overhear), '127.0.0.2')}/login"
        self._session = await self._running.enter_async_context(aiohttp.ClientSession(auto_decompress=False))

    async def down(self) -> None:
        """Closes every connection and stops listening."""
        await self._running.aclose()

    async def _passed_on(self, request: web.Request) -> web.Response:
        """Sends the request to the target and returns its answer."""
        async with self._session.request(
            request.method,
            self.target + request.raw_path,
            data=await request.read(),
            headers=kept(request.headers),
            allow_redirects=False,
        ) as answer:
            content = await answer.read()
            return web.Response(
                status=answer.status, reason=answer.reason, body=content, headers=kept(answer.headers)
            )

    async def _overhear(self, request: web.Request) -> web.Response:
        self.elsewhere.append(f"{request.method} {request.path} {dict(request.headers)}")
        return web.json_response({})


def kept(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers that a proxy passes on."""
    return {name: value for name, value in headers.items() if name.lower() not in HOP_BY_HOP}


class Wire(Proxy):
    """Forwards requests to `target`; `faults` are applied to write requests in order, one each.

    `fail` breaks one chosen request of any kind, `lasting` all requests with a text in their method and URL.
    "slow" delays a request by `seconds`, or until `released` is set; `slowed` counts such requests since the
    last `heal`, `held` those delayed to the end. `too_late` is the delay of "late" and "trickle". `asked`
    lists the requests since the last `fail` or `heal`.
    """

    def __init__(self, target: str = "") -> None:
        super().__init__(target)
        self.faults: list[Fault] = []
        self.lasting: dict[str, Fault] = {}
        self.seconds = 1.0
        self.released = asyncio.Event()
        self.full_waits = self.slowed = 0
        self.too_late = 1.0
        self.port = 0
        self.asked: list[str] = []
        self._plan: tuple[Fault, int | str, bool] | None = None

    @property
    def url(self) -> str:
        """The address to configure as the service's base URL."""
        return f"http://127.0.0.1:{self.port}"

    async def up(self, target: str = "") -> str:
        """Listens, on the same port each time, and returns the URL."""
        self.target = target or self.target
        url = await self._serve(app(self._pass_on), port=self.port)
        self.port = int(url.rpartition(":")[2])
        await self._connect()
        return url

    def fail(self, fault: Fault, at: int | str = 0, *, lasting: bool = False) -> None:
        """Applies the fault to the request with that number from now on, or to the first that starts with
        that text, such as `POST /issues`; `lasting` also to all later ones.
        """
        assert fault in FAULTS, fault
        self._plan, self.asked = (fault, at, lasting), []
        self.full_waits = 0
        self.released.clear()

    def heal(self) -> list[str]:
        """Removes all faults and returns the requests since they were set."""
        self._plan, self.faults, self.slowed = None, [], 0
        asked, self.asked = self.asked, []
        return asked

    def _fault(self, request: web.Request) -> Fault | None:
        number, asked = len(self.asked), f"{request.method} {request.path}"
        self.asked.append(asked)
        for part, lasting_fault in self.lasting.items():
            if part in f"{request.method} {request.path_qs}":
                return lasting_fault
        if self._plan:
            fault, at, lasting = self._plan
            if isinstance(at, str):
                if not asked.startswith(at):
                    return None
                at, self._plan = number, (fault, number, lasting)
            return fault if number == at or (lasting and number > at) else None
        return self.faults.pop(0) if self.faults and request.method != "GET" else None

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        fault = self._fault(request)
        await request.read()
        if fault in BEFORE:
            return broken(request, BEFORE[fault](self._elsewhere))
        if fault == "slow":
            await self._hold()
        answer = await self._passed_on(request)
        assert isinstance(answer.body, bytes)
        if fault in AFTER:
            return broken(request, AFTER[fault](f"{answer.status} {answer.reason}", answer.body))
        if fault == "late":
            await asyncio.sleep(self.too_late)
        if fault == "trickle":
            return await self._trickled(request, answer.status, answer.body)
        return answer

    async def _hold(self) -> None:
        self.slowed += 1
        try:
            await asyncio.wait_for(self.released.wait(), self.seconds)
        except TimeoutError:
            self.full_waits += 1

    async def _trickled(self, request: web.Request, status: int, content: bytes) -> web.StreamResponse:
        slowly = web.StreamResponse(status=status, headers={"Content-Type": "application/json"})
        await slowly.prepare(request)
        for at in range(10):
            await slowly.write(content[at : at + 1] or b" ")
            await asyncio.sleep(self.too_late / 10)
        return slowly


Body = dict[str, object]
"""An object in an answer."""


class Altered(Wire):
    """As from a service whose answers have, in place of each object, what `alter` makes of it."""

    def __init__(self, alter: Callable[[Body], Body]) -> None:
        super().__init__()
        self._alter = alter

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        answer = await super()._pass_on(request)
        if not isinstance(answer, web.Response) or not isinstance(answer.body, bytes) or not answer.body:
            return answer
        body = json.dumps(self._altered(json.loads(answer.body)))
        return web.Response(status=answer.status, text=body, content_type="application/json")

    def _altered(self, part: object) -> object:
        if isinstance(part, dict):
            return self._alter({name: self._altered(value) for name, value in part.items()})
        return [self._altered(each) for each in part] if isinstance(part, list) else part


class Silent(Altered):
    """As from a service that leaves one field out of its answers, or sends the same value `instead`."""

    def __init__(self, field: str, instead: object = None) -> None:
        sent = {} if instead is None else {field: instead}

        def alter(body: Body) -> Body:
            left = {name: value for name, value in body.items() if name != field}
            return left | (sent if field in body else {})

        super().__init__(alter)


def app(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.Application:
    application = web.Application(client_max_size=10**9)
    application.router.add_route("*", "/{path:.*}", handler)
    return application


def broken(request: web.Request, raw: bytes | None) -> web.StreamResponse:
    """Sends these bytes in place of a response, or aborts the connection for None."""
    assert request.transport is not None
    if raw is None:
        request.transport.abort()
    else:
        request.transport.write(raw)
        request.transport.close()
    return web.Response()


FAULTS = (*BEFORE, *AFTER, "slow", "late", "trickle")
"""All faults that any request can have."""
