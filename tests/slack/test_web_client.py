"""The client repeats what is safe to repeat, and only that; readiness asks each dependency once."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import web_client
from bot.slack.http import Readiness
from bot.slack.waits import Waits
from tests.support.serving import serving


class Api:
    """A fake Web API; returns `answers` first, one by one."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answers: list[web.Response] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.calls.append(request.path.removeprefix("/api/"))
        if not self.answers:
            return web.json_response({"ok": True})
        answer = self.answers.pop(0)
        if answer.status == 0:
            assert request.transport
            request.transport.abort()
        return answer


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
async def slack(api: Api) -> AsyncIterator[AsyncWebClient]:
    application = web.Application()
    application.router.add_route("*", "/api/{method}", api.answer)
    async with serving(application) as url, web_client.session(Waits().slack) as session:
        yield web_client.web_client(SecretStr("xoxb-1"), f"{url}/api/", session)


async def test_reads_are_retried_after_connection_errors_but_posts_are_not(
    api: Api, slack: AsyncWebClient
) -> None:
    api.answers = [web.Response(status=0)]
    await slack.users_info(user="U1")
    assert api.calls == ["users.info", "users.info"]

    api.answers, api.calls = [web.Response(status=0)], []
    with pytest.raises(aiohttp.ClientError):
        await slack.chat_postMessage(channel="C1", text="once")
    assert api.calls == ["chat.postMessage"]


async def test_short_rate_limits_are_waited_out_long_ones_raise(api: Api, slack: AsyncWebClient) -> None:
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


async def test_readiness_caches_results_for_all_callers() -> None:
    asked = []

    async def fine() -> bool:
        asked.append("database")
        return True

    async def broken() -> bool:
        raise OSError("away")

    readiness = Readiness({"database": fine, "slack": broken})

    answers = await asyncio.gather(*(readiness.answers() for _ in range(5)))

    assert answers == [{"database": True, "slack": False}] * 5
    assert asked == ["database"]
