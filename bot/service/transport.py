"""Sending a call and reading its answer: the only module that knows httpx.

Bounded in every way: connecting, each read, the whole call, the answer's size, the number of tries. Never
follows a redirect, as the key would travel along. No error raised here holds a request, a header or a
body, neither itself nor as its cause or context.
"""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass
from typing import TypeVar

import httpx
import stamina
from pydantic import SecretStr

from bot.errors import ServiceBroken, ServiceError, TooManyRequests, Unauthorized, Unreachable, UserError
from bot.service.wire import CONNECTION_BROKE, CUT_SHORT, GATEWAY, Answer, Call, Decoder

T = TypeVar("T")

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
CONNECTIONS = httpx.Limits(max_connections=50, max_keepalive_connections=20, keepalive_expiry=4)


@dataclass(frozen=True)
class Timeouts:
    """Seconds: to connect, between two pieces of data, for a whole call with its tries, for an upload."""

    connect: float = 5.0
    read: float = 20.0
    total: float = 30.0
    upload: float = 600.0


class Source:
    """An upload's content on its way: each piece is waited for within bounds, the size said is kept to.

    Raises ValueError when the content is longer or shorter than `size`, TimeoutError when no piece comes.
    """

    def __init__(self, content: AsyncIterable[bytes], size: int | None, patience: float) -> None:
        self._content = content
        self._patience = patience
        self.size = size

    async def __aiter__(self) -> AsyncIterator[bytes]:
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
        self._http = httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,
            limits=CONNECTIONS,
            timeout=httpx.Timeout(timeouts.read, connect=timeouts.connect, pool=timeouts.connect),
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

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
                async for attempt in stamina.retry_context(
                    lambda error: _again(call, error), attempts=ATTEMPTS, timeout=total, wait_jitter=0.3
                ):
                    with attempt:
                        return decode(call, await self._attempt(key, call, source))
        except TimeoutError:
            if not deadline.expired():
                raise
        raise call.late(f"no answer in {total:g} s")

    async def reachable(self, path: str) -> bool:
        """Whether this path is answered without a key in a few seconds, by a status below 500."""
        try:
            async with asyncio.timeout(PROBE), self._http.stream("GET", self.base_url + path) as response:
                return not response.is_server_error
        except (httpx.HTTPError, TimeoutError):
            return False

    async def _attempt(self, key: SecretStr, call: Call, source: Source | None) -> Answer:
        began = time.monotonic()
        status: int | None = None
        try:
            response = await self._http.send(self._request(key, call, source), stream=True)
            try:
                status = response.status_code
                return await _answer(response)
            finally:
                await response.aclose()
        except httpx.RequestError as error:
            failure = _failure(call, error)
        finally:
            if self._on_answer is not None:
                self._on_answer(call.operation, status, time.monotonic() - began)
        # Outside the handler: httpx's errors hold the request with the key in its headers.
        raise failure

    def _request(self, key: SecretStr, call: Call, source: Source | None) -> httpx.Request:
        headers = {self._key_header: key.get_secret_value()}
        if source is not None:
            headers["Content-Type"] = "application/octet-stream"
            if source.size is not None:
                headers["Content-Length"] = str(source.size)
        elif call.body is not None:
            headers["Content-Type"] = "application/json"
        return self._http.build_request(
            call.method,
            self.base_url + call.path,
            params=dict(call.params) or None,
            headers=headers,
            content=source if source is not None else call.body,
        )


async def _answer(response: httpx.Response) -> Answer:
    pieces: list[bytes] = []
    size = 0
    flaw = ""
    try:
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > LARGEST_ANSWER:
                flaw = "the answer is too large"
                break
            pieces.append(piece)
    except httpx.TimeoutException:
        raise
    except httpx.RequestError:
        flaw = CUT_SHORT
    body = b"" if flaw else b"".join(pieces)
    return Answer(response.status_code, body, flaw, response.headers.get("Retry-After"))


def _failure(call: Call, error: httpx.RequestError) -> ServiceError:
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return Unreachable(call.method, call.path, None, str(error)[:200] or type(error).__name__)
    if isinstance(error, httpx.TimeoutException):
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
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL:
        raise ValueError(problem) from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise ValueError(problem)
    return str(url).rstrip("/")
