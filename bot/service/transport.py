"""Sending a call and reading its answer: the only module of the service's that knows aiohttp.

Bounded in every way: connecting, each read, the whole call, the answer's size, the number of tries. Never
follows a redirect, as the key would travel along. No error raised here holds a request, a header or a
body, neither itself nor as its cause or context.
"""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlencode

import aiohttp
import stamina
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse
from pydantic import SecretStr
from yarl import URL

from bot.errors import ServiceBroken, ServiceError, TooManyRequests, Unauthorized, Unreachable, UserError
from bot.service.wire import CONNECTION_BROKE, CUT_SHORT, GATEWAY, Answer, Call, Decoder

T = TypeVar("T")
NOTHING: Mapping[str, str] = {}

OnAnswer = Callable[[str, int | None, float], None]

LARGEST_ANSWER = 16 * 1024 * 1024
ATTEMPTS = 3
LONGEST_WAIT = 5.0  # a Retry-After beyond it is the person's to wait for
PROBE = 3.0
SHORTEST_KEY = 16  # shorter ones, as test installations have, may be ordinary words
KEY_QUOTED = (
    "Your API key is in what you typed, where others would read it: take it out, renew it under "
    "“My account” in {service}, then link your account anew with `/tracker link`."
)
CONNECTIONS = 50
SECONDS_UNUSED = 4
"""An idle connection is closed after these, as the service's own side closes it some time after."""


@dataclass(frozen=True)
class Timeouts:
    """Seconds: to connect, between two pieces of data, for a whole call with its tries, for an upload."""

    connect: float = 5.0
    read: float = 20.0
    total: float = 30.0
    upload: float = 600.0


class Source:
    """An upload's content on its way: each piece is waited for within bounds, and so is whoever takes it;
    the size said is kept to.

    Raises ValueError when the content is longer or shorter than `size`, TimeoutError when no piece comes;
    whatever was raised on the way is its `failure`. `taking` expires where a piece isn't taken in time.
    """

    def __init__(self, content: AsyncIterable[bytes], size: int | None, patience: float) -> None:
        self._content = content
        self._patience = patience
        self.size = size
        self.failure: Exception | None = None
        self.taking = asyncio.timeout(None)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._bounded():
                self.taking.reschedule(asyncio.get_running_loop().time() + self._patience)
                yield piece
                self.taking.reschedule(None)
        except Exception as error:
            self.failure = error
            raise

    async def _bounded(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._content)
        sent = 0
        while True:
            async with asyncio.timeout(self._patience):
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


class Transport:
    """Sends calls to one service. Raises ValueError for an address that isn't one."""

    def __init__(
        self, base_url: str, key_header: str, timeouts: Timeouts, on_answer: OnAnswer | None = None
    ) -> None:
        self.base_url = _address(base_url)
        self._key_header = key_header
        self._timeouts = timeouts
        self._on_answer = on_answer

    @cached_property
    def _http(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=SECONDS_UNUSED),
            cookie_jar=aiohttp.DummyCookieJar(),  # a session of the service's would be everybody's
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(connect=self._timeouts.connect, sock_read=self._timeouts.read),
            middlewares=(_once,),
        )

    async def aclose(self) -> None:
        """Close all connections."""
        if "_http" in vars(self):
            await self._http.close()

    async def send(self, key: SecretStr, call: Call, decode: Decoder[T], source: Source | None = None) -> T:
        """Send the call with this key and decode its answer; tried again where that is safe.

        Reads are tried again after whatever may pass by itself, writes only when no connection was made.
        Raises the ServiceErrors, and UserError when the key is in the call itself, where the service would
        show it or log it; whatever `source` raises passes unchanged.
        """
        if not _sendable(key):
            # A key with other characters can't be in a header, and the attempt would quote it in an error.
            raise Unauthorized(call.method, call.path, None, "not a key")
        if _quoted(key, call):
            raise UserError(KEY_QUOTED)
        total = self._timeouts.total if source is None else self._timeouts.upload
        deadline = asyncio.timeout(total)
        try:
            async with deadline:
                try:
                    return decode(call, await self._attempt(key, call, source))
                except ServiceError as error:
                    failed = [error]
                # Only now, as stamina would take a tenth of the time of those that need no second try.
                async for attempt in stamina.retry_context(
                    lambda error: _again(call, error), attempts=ATTEMPTS, timeout=total, wait_jitter=0.3
                ):
                    with attempt:
                        if failed:
                            raise failed.pop()
                        return decode(call, await self._attempt(key, call, source))
        except TimeoutError:
            if not deadline.expired():
                raise
        raise call.late(f"no answer in {total:g} s")

    async def reachable(self, path: str) -> bool:
        """Whether this path is answered without a key in a few seconds, by a status below 500."""
        try:
            async with (
                asyncio.timeout(PROBE),
                self._http.get(self._url(path), allow_redirects=False) as answer,
            ):
                return answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def _attempt(self, key: SecretStr, call: Call, source: Source | None) -> Answer:
        began = time.monotonic()
        status: int | None = None
        taking = asyncio.timeout(None)
        if source is not None:
            source.taking = taking
        try:
            async with (
                taking,
                self._http.request(
                    call.method,
                    self._url(call.path, call.params),
                    headers=self._headers(key, call, source),
                    data=source if source is not None else call.body,
                    allow_redirects=False,
                ) as response,
            ):
                status = response.status
                return await _answer(response)
        except (aiohttp.ClientError, TimeoutError) as error:
            failure = _failure(call, error)
        finally:
            if self._on_answer is not None:
                self._on_answer(call.operation, status, time.monotonic() - began)
        # Outside the handler: aiohttp's errors may hold the request with the key in its headers.
        raise (source and source.failure) or failure

    def _url(self, path: str, params: Mapping[str, str] = NOTHING) -> URL:
        query = f"?{urlencode(params)}" if params else ""
        return URL(f"{self.base_url}{path}{query}", encoded=True)

    def _headers(self, key: SecretStr, call: Call, source: Source | None) -> dict[str, str]:
        headers = {self._key_header: key.get_secret_value()}
        if source is not None:
            headers["Content-Type"] = "application/octet-stream"
            if source.size is not None:
                headers["Content-Length"] = str(source.size)
        elif call.body is not None:
            headers["Content-Type"] = "application/json"
        return headers


class _Broke(aiohttp.ClientError):
    """The connection broke, and nobody knows what the service has done."""


async def _once(request: ClientRequest, send: ClientHandlerType) -> ClientResponse:
    """Sends a request once: aiohttp would repeat reads and PUTs whose connection broke."""
    try:
        return await send(request)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        pass
    raise _Broke


async def _answer(response: ClientResponse) -> Answer:
    pieces: list[bytes] = []
    size = 0
    flaw = ""
    try:
        async for piece in response.content.iter_any():
            size += len(piece)
            if size > LARGEST_ANSWER:
                flaw = "the answer is too large"
                break
            pieces.append(piece)
    except TimeoutError:
        raise
    except aiohttp.ClientError:
        flaw = CUT_SHORT
    body = b"" if flaw else b"".join(pieces)
    return Answer(response.status, body, flaw, response.headers.get("Retry-After"))


def _failure(call: Call, error: aiohttp.ClientError | TimeoutError) -> ServiceError:
    if isinstance(error, aiohttp.ClientConnectorError):
        return Unreachable(call.method, call.path, None, str(error)[:200] or type(error).__name__)
    if isinstance(error, aiohttp.ConnectionTimeoutError):  # whose words are the whole address, with its query
        return Unreachable(call.method, call.path, None, "not connected in time")
    if isinstance(error, TimeoutError):
        return call.late(type(error).__name__)
    return call.broken(CONNECTION_BROKE)


def _again(call: Call, error: Exception) -> bool | float:
    """Whether to try again, or after how many seconds."""
    if isinstance(error, Unreachable):
        return True
    if call.writes:
        return False
    if isinstance(error, TooManyRequests):
        if error.retry_after is None:
            return True
        return error.retry_after if error.retry_after <= LONGEST_WAIT else False
    return isinstance(error, ServiceBroken) and (
        error.status in GATEWAY or error.detail in (CUT_SHORT, CONNECTION_BROKE)
    )


def _sendable(key: SecretStr) -> bool:
    return bool(key) and all("!" <= character <= "~" for character in key.get_secret_value())


def _quoted(key: SecretStr, call: Call) -> bool:
    secret = key.get_secret_value()
    said = (call.path, *call.params.values(), (call.body or b"").decode())
    return len(secret) >= SHORTEST_KEY and any(secret in part for part in said)


def _address(base_url: str) -> str:
    problem = "the service's address must be http(s)://host, with a path if it has one, and nothing else"
    try:
        url = URL(base_url.strip())
    except ValueError:
        raise ValueError(problem) from None
    if (
        url.scheme not in ("http", "https")
        or not url.host
        or url.user
        or url.password
        or url.query_string
        or url.fragment
    ):
        raise ValueError(problem)
    return str(url).rstrip("/")
