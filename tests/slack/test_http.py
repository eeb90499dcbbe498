import asyncio
import hashlib
import hmac
import io
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from urllib.parse import urlencode

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter
from pydantic import SecretStr
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from structlog.testing import capture_logs

from bot.slack import web_client
from bot.slack.http import BODY_LIMIT, Readiness, Web
from bot.slack.in_flight import PendingRequests
from bot.slack.waits import Waits
from tests.support.serving import serving

SECRET = SecretStr("8f742231b10e8888abcd99yyyzzz85a5")
COMMAND = {
    "command": "/tracker",
    "text": "whoami",
    "team_id": "T1",
    "user_id": "U1",
    "channel_id": "C1",
    "trigger_id": "1.2.abc",
    "response_url": "https://hooks.slack.com/commands/T1/1/x",
}


class Api:
    """A fake Web API; returns `answers` first, one by one."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answers: list[web.Response] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.calls.append(request.path.removeprefix("/api/"))
        if not self.answers:
            return web.json_response({"ok": True, "team_id": "T1", "user_id": "UBOT", "bot_id": "B1"})
        answer = self.answers.pop(0)
        if answer.status == 0:
            assert request.transport
            request.transport.abort()
        return answer


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    api = Api()
    application = web.Application()
    application.router.add_route("*", "/api/{method}", api.answer)
    async with serving(application) as url:
        api.url = f"{url}/api/"
        yield api


Serve = Callable[..., Awaitable[str]]


@pytest.fixture
async def connections() -> AsyncIterator[aiohttp.ClientSession]:
    async with web_client.session(Waits().slack) as session:
        yield session


@pytest.fixture
async def serve(api: Api, connections: aiohttp.ClientSession) -> AsyncIterator[Serve]:
    """Start the listener around a Bolt app with one command, and return its URL."""

    async def start(
        *, secret: SecretStr | None = SECRET, readiness: Readiness | None = None, stopping: bool = False
    ) -> str:
        slack = web_client.web_client(SecretStr("xoxb-1"), api.url, connections)
        app = AsyncApp(client=slack, request_verification_enabled=False)

        @app.command("/tracker")
        async def tracker(ack: Callable[[str], Awaitable[None]]) -> None:
            await ack("You are Ana.")

        registry = CollectorRegistry()
        Counter("something", "Something", registry=registry)
        listener = Web(
            app,
            PendingRequests(),
            readiness or Readiness({}),
            registry,
            secret,
            installing=None,
            waits=Waits(),
        )
        listener.stopping = stopping
        return await started.enter_async_context(serving(listener.application()))

    async with AsyncExitStack() as started:
        yield start


def _signed(body: bytes, at: float | None = None, secret: SecretStr = SECRET) -> dict[str, str]:
    timestamp = str(int(time.time() if at is None else at))
    content = f"v0:{timestamp}:".encode() + body
    digest = hmac.new(secret.get_secret_value().encode(), content, hashlib.sha256).hexdigest()
    return {
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": f"v0={digest}",
        "Content-Type": "application/x-www-form-urlencoded",
    }


async def _post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/slack/events", data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def _get(url: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


async def test_a_signed_command_is_handled(serve: Serve) -> None:
    body = urlencode(COMMAND).encode()

    assert await _post(await serve(), body, _signed(body)) == (200, "You are Ana.")


async def test_unsigned_requests_are_rejected_and_their_bodies_not_logged(serve: Serve) -> None:
    url = await serve()
    body = urlencode(COMMAND | {"text": "my-typed-key"}).encode()
    good = _signed(body)
    attempts = [
        {},
        good | {"X-Slack-Signature": "v0=" + "0" * 64},
        good | {"X-Slack-Signature": "v0=\u00e9"},
        good | {"X-Slack-Request-Timestamp": "soon"},
        good | {"X-Slack-Request-Timestamp": "9" * 400},
        {name: value for name, value in good.items() if name != "X-Slack-Request-Timestamp"},
        _signed(body, at=time.time() - 330),
        _signed(body, at=time.time() + 330),
        _signed(body, secret=SecretStr("another")),
        _signed(body + b"&more=1"),
    ]

    with capture_logs() as logs:
        answers = [await _post(url, body, headers) for headers in attempts]

    assert answers == [(401, "")] * len(attempts)
    assert {line["action"] for line in logs} == {"slack.unverified"}
    assert "my-typed-key" not in str(logs)


async def test_ssl_check_does_not_bypass_verification(serve: Serve) -> None:
    status, _ = await _post(await serve(), urlencode(COMMAND | {"ssl_check": "1"}).encode(), {})

    assert status == 401


async def test_a_signed_malformed_body_is_a_bad_request(serve: Serve) -> None:
    url = await serve()
    for body in (b"payload={broken", b"\xff\xfe"):
        status, _ = await _post(url, body, _signed(body))
        assert status == 400


async def test_oversized_bodies_are_rejected(serve: Serve) -> None:
    body = b"x" * (BODY_LIMIT + 1)

    status, _ = await _post(await serve(), body, _signed(body))

    assert status == 413


async def test_socket_mode_serves_no_slack_endpoint_over_http(serve: Serve) -> None:
    body = urlencode(COMMAND).encode()

    status, _ = await _post(await serve(secret=None), body, _signed(body))

    assert status == 404


async def test_health_and_metrics_are_served(serve: Serve) -> None:
    url = await serve()

    assert await _get(f"{url}/healthz") == (200, "ok\n")
    status, metrics = await _get(f"{url}/metrics")
    assert status == 200
    assert "something_total 0.0" in metrics


async def test_readiness_names_failed_dependencies_and_caches_results(serve: Serve) -> None:
    asked = []

    async def fine() -> bool:
        asked.append("database")
        return True

    async def broken() -> bool:
        raise OSError("away")

    readiness = Readiness({"database": fine, "slack": broken})
    url = await serve(readiness=readiness)

    answers = await asyncio.gather(*(_get(f"{url}/readyz") for _ in range(5)))

    assert set(answers) == {(503, '{"ready": false, "database": true, "slack": false}')}
    assert asked == ["database"]


async def test_ready_if_every_dependency_responds(serve: Serve) -> None:
    async def fine() -> bool:
        return True

    url = await serve(readiness=Readiness({"database": fine}))

    assert await _get(f"{url}/readyz") == (200, '{"ready": true, "database": true}')


async def test_new_requests_are_rejected_while_stopping(serve: Serve) -> None:
    url = await serve(stopping=True)
    body = urlencode(COMMAND).encode()

    assert (await _get(f"{url}/readyz"))[0] == 503
    assert (await _post(url, body, _signed(body)))[0] == 503
    assert (await _get(f"{url}/healthz"))[0] == 200


async def test_reads_are_retried_after_connection_errors_but_posts_are_not(
    api: Api, connections: aiohttp.ClientSession
) -> None:
    slack = web_client.web_client(SecretStr("xoxb-1"), api.url, connections)
    api.answers = [web.Response(status=0)]
    await slack.users_info(user="U1")
    assert api.calls == ["users.info", "users.info"]

    api.answers, api.calls = [web.Response(status=0)], []
    with pytest.raises(aiohttp.ClientError):
        await slack.chat_postMessage(channel="C1", text="once")
    assert api.calls == ["chat.postMessage"]


async def test_short_rate_limits_are_waited_out_long_ones_raise(
    api: Api, connections: aiohttp.ClientSession
) -> None:
    slack = web_client.web_client(SecretStr("xoxb-1"), api.url, connections)

    def limited(seconds: str) -> web.Response:
        return web.json_response(
            {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": seconds}
        )

    api.answers = [limited("0")]
    await slack.chat_postMessage(channel="C1", text="waits")
    assert api.calls == ["chat.postMessage"] * 2

    api.answers = [limited("30")]
    with pytest.raises(SlackApiError):
        await slack.chat_postMessage(channel="C1", text="doesn't wait")
    assert api.calls == ["chat.postMessage"] * 3
