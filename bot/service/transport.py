"""Sends requests to the service and reads the responses. The only module that imports httpx.

There are limits for everything: waiting for a free connection, connecting, each read and write, the whole
call, the size of the response, and the number of attempts. Redirects aren't followed, because the key would
go with them. No error raised here contains a request, a header, or a body, not even as its cause or context.
"""

import asyncio
import ssl
import sys
import time
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TypeVar
from urllib.parse import urlencode
from weakref import WeakValueDictionary

import httpx
import stamina
from pydantic import SecretStr

from bot import errors
from bot.service import protocol
from bot.timings import Timeouts

if find_spec("sniffio") is None:
    # httpcore imports it several times a request: without this entry Python searches for it each time,
    # which took a tenth of a command's CPU.
    sys.modules["sniffio"] = None  # type: ignore[assignment] # how Python notes a missing module

T = TypeVar("T")
OnAnswer = Callable[[str, int | None, float], None]

MAX_ATTEMPTS = 3
LONGEST_RETRY_AFTER = 5.0  # with a longer Retry-After the bot doesn't retry
SHORTEST_KEY = 16  # shorter keys, as in test installations, can be ordinary words
KEEP_ALIVE = 4  # seconds; services usually close an idle connection after 5 or more
PIECE = 64 * 1024
LARGE = 1024 * 1024  # bytes of an answer that takes too long to read while others wait
HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Connection": "keep-alive",
    "User-Agent": f"python-httpx/{httpx.__version__}",
}


@dataclass(frozen=True)
class Limits:
    """Limits on concurrent calls, concurrent uploads in all and per user, and the bytes of a response."""

    calls: int = 50
    uploads: int = 20
    uploads_each: int = 3
    answer: int = 16 * 1024 * 1024


@dataclass(frozen=True)
class UploadContent:
    """The content of an upload, and its size in bytes if known."""

    content: AsyncIterable[bytes]
    size: int | None

    async def pieces(self, timeout: float) -> AsyncGenerator[bytes, None]:  # noqa: ASYNC109 - for each piece
        """Yield the content. Raises TimeoutError if a chunk takes too long, ValueError if the content doesn't
        match `size`, and any error of `content`.
        """
        pieces = aiter(self.content)
        sent = 0
        while True:
            async with asyncio.timeout(timeout):
                piece = await anext(pieces, None)
            if piece is None:
                break
            sent += len(piece)
            if self.size is not None and sent > self.size:
                raise ValueError("the content is longer than its size")
            if piece:
                yield piece
        if self.size is not None and sent < self.size:
            raise ValueError("the content is shorter than its size")


_on_read: ContextVar[Callable[[], None]] = ContextVar("on_read", default=lambda: None)


@contextmanager
def watched_reads(on_read: Callable[[], None]) -> Iterator[None]:
    """Call `on_read` right before each read that the block and the tasks started in it send, even a retry."""
    token = _on_read.set(on_read)
    try:
        yield
    finally:
        _on_read.reset(token)


@dataclass(frozen=True)
class Probe:
    """The service's response to a request without a key."""

    status: int
    authenticate: str
    date: str | None


class Connections:
    """Limits concurrent requests, so that slow uploads don't block other calls.

    httpx's own pool isn't used for this: a request canceled while waiting there can leak a connection.
    """

    def __init__(self, limits: Limits, timeouts: Timeouts) -> None:
        self._calls = asyncio.Semaphore(limits.calls)
        self._uploads = asyncio.Semaphore(limits.uploads)
        self._each = limits.uploads_each
        self._uploads_of: WeakValueDictionary[SecretStr, asyncio.Semaphore] = WeakValueDictionary()
        self._timeouts = timeouts

    @asynccontextmanager
    async def slot(self, call: protocol.Call, key: SecretStr, *, upload: bool) -> AsyncIterator[None]:
        """Hold a connection slot for this call. Raises NoFreeConnection."""
        slots = [self._calls]
        if upload:
            slots = [self._uploads_of.setdefault(key, asyncio.Semaphore(self._each)), self._uploads]
        async with AsyncExitStack() as stack:
            waiting = asyncio.timeout(self._timeouts.upload_free if upload else self._timeouts.free)
            try:
                async with waiting:
                    for slot in slots:
                        await stack.enter_async_context(slot)
            except TimeoutError:
                raise errors.NoFreeConnection(call.method, call.path) from None
            yield


class Transport:
    """Sends calls to one service. Raises ValueError for an invalid address.

    It uses httpx below its client, where no redirect is followed, no cookie kept (a session cookie would be
    shared by all users), and no proxy taken from the environment.
    """

    def __init__(
        self,
        base_url: str,
        key_header: str,
        timeouts: Timeouts,
        limits: Limits,
        on_answer: OnAnswer | None = None,
    ) -> None:
        self.base_url = _validated(base_url)
        self._key_header = key_header
        self._timeouts = timeouts
        self._limits = limits
        self._on_answer = on_answer
        self._connections = Connections(limits, timeouts)
        self._http = httpx.AsyncHTTPTransport(
            verify=_ssl_context(),
            trust_env=False,
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=limits.calls, keepalive_expiry=KEEP_ALIVE
            ),
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    async def send(
        self,
        key: SecretStr,
        call: protocol.Call,
        read: Callable[[protocol.Answer], T],
        source: UploadContent | None = None,
    ) -> T:
        """Send the call with this key and return the result of `read`. Retries if that's safe.

        Reads are retried after temporary failures, writes only if no connection was made. Raises a
        ServiceError, or KeyInRequest if the call itself contains the key. Errors of `source` pass through.
        """
        secret = key.get_secret_value()
        if not secret or not all("!" <= character <= "~" for character in secret):
            # httpx can't send such a header, and its error would quote the key.
            raise errors.Unauthorized(call.method, call.path, None, "not a key")
        texts = (call.path, *call.params.values(), (call.body or b"").decode())
        if len(secret) >= SHORTEST_KEY and any(secret in text for text in texts):
            raise errors.KeyInRequest
        total = self._timeouts.total if source is None else self._timeouts.upload
        deadline = asyncio.timeout(total)
        try:
            async with deadline:
                async for attempt in stamina.retry_context(
                    lambda error: _should_retry(call, error),
                    attempts=MAX_ATTEMPTS,
                    timeout=total,
                    wait_jitter=0.3,
                ):
                    with attempt:
                        return await self._attempt(key, call, read, source)
        except TimeoutError:
            if not deadline.expired():
                raise
        raise call.error(errors.TimedOut, f"no response in {total:g} s")

    async def probe(self, path: str, seconds: float) -> Probe | None:
        """Return the response to a request without a key, or None if there's none in time."""
        request = self._request(protocol.Call("probe", "GET", path), {}, None)
        try:
            async with (
                asyncio.timeout(seconds),
                aclosing(await self._http.handle_async_request(request)) as response,
            ):
                headers = response.headers
                return Probe(response.status_code, headers.get("WWW-Authenticate", ""), headers.get("Date"))
        except (httpx.HTTPError, TimeoutError):
            return None

    async def _attempt(
        self,
        key: SecretStr,
        call: protocol.Call,
        read: Callable[[protocol.Answer], T],
        source: UploadContent | None,
    ) -> T:
        async with self._connections.slot(call, key, upload=source is not None), AsyncExitStack() as opened:
            if not call.writes:
                _on_read.get()()
            began = time.monotonic()
            status: int | None = None
            content: AsyncIterable[bytes] | bytes | None = call.body
            headers = {self._key_header: key.get_secret_value()}
            if call.body is not None:
                headers["Content-Type"] = "application/json"

            if source is not None:
                content = await opened.enter_async_context(aclosing(source.pieces(self._timeouts.read)))
                headers["Content-Type"] = "application/octet-stream"
                if source.size is not None:
                    headers["Content-Length"] = str(source.size)

            try:
                request = self._request(call, headers, content)
                async with aclosing(await self._http.handle_async_request(request)) as response:
                    status = response.status_code
                    body, defect = await _body(response, self._limits.answer)
                retry_after = response.headers.get("Retry-After")

                def reading() -> T:
                    return read(protocol.answered(call, status, body, defect, retry_after))

                return await asyncio.to_thread(reading) if len(body) > LARGE else reading()
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                failure = _failure(call, error)
            finally:
                if self._on_answer is not None:
                    self._on_answer(call.operation, status, time.monotonic() - began)
        # Raised outside the handler: httpx's errors contain the request, with the key in its headers.
        raise failure

    def _request(
        self, call: protocol.Call, headers: Mapping[str, str], content: AsyncIterable[bytes] | bytes | None
    ) -> httpx.Request:
        params = urlencode({name: text for name, text in call.params.items() if text})
        wait = self._timeouts.read
        return httpx.Request(
            call.method,
            f"{self.base_url}{call.path}?{params}" if params else f"{self.base_url}{call.path}",
            headers={**HEADERS, **headers},
            content=content,
            extensions={"timeout": {"connect": self._timeouts.connect, "read": wait, "write": wait}},
        )


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the system's certificate authorities, which include a company's own, unlike httpx's list."""
    return ssl.create_default_context()


async def _body(response: httpx.Response, largest: int) -> tuple[bytes, str]:
    """Return the body, or why it is incomplete."""
    plain = response.headers.get("Content-Encoding", "identity").lower() == "identity"
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in response.aiter_raw() if plain else _unpacked(response):
            size += len(piece)
            if size > largest:
                return b"", protocol.TOO_LARGE
            pieces.append(piece)
    except httpx.TimeoutException:
        raise
    except (httpx.HTTPError, zlib.error):
        return b"", protocol.CUT_SHORT
    return b"".join(pieces), ""


async def _unpacked(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body in bounded chunks, decompressed: a proxy may compress it against our request, and httpx
    would expand each chunk up to a thousand times its size.

    Raises zlib.error for invalid or incomplete data.
    """
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or deflate, by their headers
    async for piece in response.aiter_raw():
        packed = piece
        while packed and not unpack.eof:
            yield unpack.decompress(packed, PIECE)
            packed = unpack.unconsumed_tail
        if unpack.eof:
            return
    raise zlib.error


def _failure(call: protocol.Call, error: httpx.HTTPError | httpx.InvalidURL) -> errors.ServiceError:
    if isinstance(error, httpx.InvalidURL):  # only a query that is far too long raises it
        return errors.TooLarge(call.method, call.path)
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return errors.Unreachable(call.method, call.path, None, str(error)[:200] or type(error).__name__)
    if isinstance(error, httpx.TimeoutException):
        return call.error(errors.TimedOut, type(error).__name__)
    return call.error(errors.ServiceBroken, protocol.CONNECTION_BROKE)


def _should_retry(call: protocol.Call, error: Exception) -> bool | float:
    """Return whether to retry, or the seconds to wait first."""
    if isinstance(error, errors.NoFreeConnection):
        return False
    if isinstance(error, errors.Unreachable):
        return True
    if call.writes:
        return False
    if isinstance(error, errors.TooManyRequests):
        if error.retry_after is None:
            return True
        return error.retry_after if error.retry_after <= LONGEST_RETRY_AFTER else False
    return isinstance(error, errors.ServiceBroken) and (
        error.status in protocol.GATEWAY
        or error.detail in (protocol.CUT_SHORT, protocol.CONNECTION_BROKE, protocol.NOT_JSON)
    )


def _validated(base_url: str) -> str:
    problem = "the service's address must be http(s)://host, with a path if it has one, and nothing else"
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL:
        raise ValueError(problem) from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise ValueError(problem)
    return str(url).rstrip("/")
