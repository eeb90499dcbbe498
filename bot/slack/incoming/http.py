"""The HTTP listener: Slack's requests in HTTP mode; health, readiness and metrics in both modes."""

import asyncio
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot import telemetry
from bot.slack.incoming.payload import log_malformed, parse
from bot.slack.workspaces.slack_errors import why
from bot.timings import Delays
from bot.ttl_cache import TtlCache

BODY_LIMIT = 1024 * 1024
SIGNATURE_SECONDS = 300  # Slack's rule: older requests may be replays
PROBE_SECONDS = 5
MALFORMED_HTTP = (HttpProcessingError, web.RequestPayloadError)

Probe = Callable[[], Awaitable[bool]]

log = structlog.get_logger()


def verify(secret: SecretStr, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Whether Slack signed the request within the last five minutes (signature version 0).

    See https://docs.slack.dev/authentication/verifying-requests-from-slack/
    """
    timestamp = headers.get("X-Slack-Request-Timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > SIGNATURE_SECONDS:
        return False
    content = b"v0:" + timestamp.encode() + b":" + body
    digest = hmac.new(secret.get_secret_value().encode(), content, hashlib.sha256).hexdigest()
    given = headers.get("X-Slack-Signature", "").encode("utf-8", "surrogateescape")
    return hmac.compare_digest(f"v0={digest}".encode(), given)


class PendingRequests:
    """Counts requests that await a response, over either transport, and measures how long they wait."""

    def __init__(self) -> None:
        self._waiting = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        started = time.perf_counter()
        self._waiting += 1
        self._idle.clear()
        try:
            yield
        finally:
            telemetry.ACK_SECONDS.observe(time.perf_counter() - started)
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()

    async def idle(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)


class Readiness:
    """Checks whether the bot's dependencies respond within `seconds`; results are cached as long."""

    def __init__(self, probes: Mapping[str, Probe], seconds: float = PROBE_SECONDS) -> None:
        self._probes = probes
        self._seconds = seconds
        self._asking = asyncio.Lock()
        self._recent: TtlCache[None, dict[str, bool]] = TtlCache(seconds)

    async def answers(self) -> dict[str, bool]:
        """The result of each probe by name; False if it fails or times out."""
        async with self._asking:
            answers = self._recent.peek(None)
            if answers is None:
                results = await asyncio.gather(*(self._ask(name) for name in self._probes))
                answers = dict(zip(self._probes, results, strict=True))
                self._recent.put(None, answers)  # fresh from now on, however long the probes took
            return answers

    async def _ask(self, name: str) -> bool:
        try:
            return await asyncio.wait_for(self._probes[name](), self._seconds)
        except Exception as error:  # noqa: BLE001 - any error means unreachable
            log.warning("dependency unreachable", action="readiness.failed", what=name, error=why(error))
            return False


@dataclass
class Web:
    """Serves health, readiness and metrics; with a signing secret also Slack's requests, and OAuth if given.

    Set `draining` before a shutdown to report not ready, and `stopping` to reject Slack's requests.
    """

    app: AsyncApp
    pending: PendingRequests
    readiness: Readiness
    signing_secret: SecretStr | None
    installing: AsyncOAuthFlow | None
    delays: Delays
    draining: bool = field(default=False, init=False)
    stopping: bool = field(default=False, init=False)

    def application(self) -> web.Application:
        application = web.Application(client_max_size=BODY_LIMIT)
        application.router.add_get("/healthz", self._health)
        application.router.add_get("/readyz", self._ready)
        application.router.add_get("/metrics", self._metrics)
        if self.signing_secret is not None:
            application.router.add_post("/slack/events", self._slack)
        if flow := self.installing:
            application.router.add_get(flow.install_path, partial(_installing, flow.handle_installation))
            application.router.add_get(flow.redirect_uri_path, partial(_installing, flow.handle_callback))
        return application

    def runner(self) -> web.AppRunner:
        """The server; drops slow and malformed clients without a traceback for each."""
        logging.getLogger("aiohttp.server").addFilter(_one_line)
        return web.AppRunner(
            self.application(),
            access_log=None,
            shutdown_timeout=1,
            keepalive_timeout=self.delays.idle,
            lingering_time=self.delays.linger,
        )

    async def _slack(self, request: web.Request) -> web.Response:
        if self.stopping:
            return web.Response(status=503)
        try:
            body = await asyncio.wait_for(request.read(), self.delays.body)
        except TimeoutError:
            return web.Response(status=408)
        except web.RequestPayloadError:
            return web.Response(status=400)

        if not (self.signing_secret and verify(self.signing_secret, request.headers, body, time.time())):
            # Without the body, which may contain an API key that a user typed.
            log.warning("a request was not signed by Slack", action="slack.unverified", size=len(body))
            return web.Response(status=401)

        try:
            bolt_request = AsyncBoltRequest(
                body=body.decode(),
                query=request.query_string,
                headers={name: list(request.headers.getall(name)) for name in request.headers},
            )
            bolt_request.context["interaction"] = parse(bolt_request.body)
        except Exception as error:  # noqa: BLE001 - Bolt may raise anything for payloads that Slack never sends
            log_malformed(error)
            return web.Response(status=400)

        try:
            with self.pending.one():
                answer = await to_aiohttp_response(await self.app.async_dispatch(bolt_request))
        except Exception:
            log.exception("could not handle a payload", action="slack.failed")
            return web.Response(status=400)
        return web.Response(status=400) if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR else answer

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _ready(self, _request: web.Request) -> web.Response:
        shutting_down = self.draining or self.stopping
        answers = {} if shutting_down else await self.readiness.answers()
        ready = not shutting_down and all(answers.values())
        return web.json_response({"ready": ready, **answers}, status=200 if ready else 503)

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(
            body=generate_latest(telemetry.REGISTRY), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )


def _one_line(record: logging.LogRecord) -> bool:
    """Log filter: one line for a malformed request, without the traceback or what was sent."""
    if record.exc_info and isinstance(error := record.exc_info[1], MALFORMED_HTTP):
        record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
        record.msg, record.args = "malformed HTTP request: %s", (type(error).__name__,)
    return True


async def _installing(
    step: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], request: web.Request
) -> web.Response:
    try:
        return await to_aiohttp_response(await step(await to_bolt_request(request)))
    except Exception:
        log.exception("installation failed", action="slack.install_failed")
        return web.Response(status=500, text="Something went wrong on my end. Try again in a minute.")
