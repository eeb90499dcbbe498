"""Calls while Slack is failing: only what is safe is repeated, and done work is never reported as failed."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import posting, web_client
from bot.slack.audience import Audiences
from bot.slack.blocks import sentence
from bot.slack.interaction import Place
from bot.slack.posting import Announced
from bot.slack.waits import Waits
from tests.support.serving import serving

HTML, JSON = {"Content-Type": "text/html"}, {"Content-Type": "application/json"}


Answer = tuple[int, str, dict[str, str]]
OK: Answer = (200, '{"ok": true}', JSON)
BROKEN: Answer = (0, "", {})


class Slack:
    """A fake Web API: `first` are its next answers, `then` all others. It knows every conversation."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.first: list[Answer] = []
        self.then = OK
        self.responses: list[dict[str, object]] = []
        self.moved_to = ""
        self.channel: dict[str, object] = {"id": "C1"}

    async def answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if method == "conversations.info":
            return web.json_response({"ok": True, "channel": self.channel})
        if method == "respond":
            self.responses.append(await request.json())
            return web.Response(text="ok")
        if method == "moved":
            return web.Response(status=307, headers={"Location": self.moved_to})
        self.calls.append(method)
        status, body, headers = self.first.pop(0) if self.first else self.then
        if status == 0:
            assert request.transport is not None
            request.transport.abort()
        return web.Response(status=status or 200, text=body, headers=headers)


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
async def client(slack: Slack) -> AsyncIterator[AsyncWebClient]:
    application = web.Application()
    application.router.add_route("*", "/api/{method}", slack.answer)
    async with serving(application) as url, web_client.session(Waits().slack) as session:
        yield web_client.web_client(SecretStr("xoxb-1"), f"{url}/api/", session)


@pytest.mark.parametrize(
    ("answer", "became"),
    [
        ((500, "<html>", HTML), Announced.UNSURE),
        ((200, "<html>", HTML), Announced.UNSURE),
        ((503, "", {}), Announced.UNSURE),
        ((429, "", {"Retry-After": "600"}), Announced.FAILED),
        ((200, '{"ok": false, "error": "fatal_error"}', JSON), Announced.UNSURE),
        ((200, '{"ok": false, "error": "is_archived"}', JSON), Announced.FAILED),
        (BROKEN, Announced.UNSURE),
    ],
)
async def test_failed_posts_are_reported_and_never_retried(
    slack: Slack, client: AsyncWebClient, answer: Answer, became: Announced
) -> None:
    slack.then = answer

    announced, _ = await posting.publicly(client, Place("C1"), sentence("Created #1."))

    assert announced is became
    assert slack.calls == ["chat.postMessage"]


async def test_reads_are_retried_after_connection_errors(slack: Slack, client: AsyncWebClient) -> None:
    slack.first = [BROKEN]

    await client.users_info(user="U1")

    assert slack.calls == ["users.info"] * 2


async def test_short_rate_limits_are_waited_out_long_ones_raise(slack: Slack, client: AsyncWebClient) -> None:
    def limited(seconds: str) -> Answer:
        return 429, '{"ok": false, "error": "ratelimited"}', JSON | {"Retry-After": seconds}

    slack.first = [limited("0")]
    await client.chat_postMessage(channel="C1", text="waits")
    assert slack.calls == ["chat.postMessage"] * 2

    slack.first = [limited("30")]
    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel="C1", text="doesn't wait")
    assert slack.calls == ["chat.postMessage"] * 3


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        ({}, Announced.UNKNOWN),
        ({"is_ext_shared": None}, Announced.UNKNOWN),
        ({"is_pending_ext_shared": True}, Announced.SHARED),
        ({"is_ext_shared": True}, Announced.SHARED),
        ({"is_ext_shared": False}, None),
        ({"is_im": True}, None),
    ],
)
async def test_a_channel_is_internal_only_if_slack_says_so(
    slack: Slack, client: AsyncWebClient, channel: dict[str, object], expected: Announced | None
) -> None:
    slack.channel = channel

    assert await Audiences().why_not_share(client, "T1", "C1") is expected


async def test_posts_use_the_response_url_if_not_a_member(slack: Slack, client: AsyncWebClient) -> None:
    slack.then = (200, '{"ok": false, "error": "not_in_channel"}', JSON)
    place = Place("C1", response_url=client.base_url + "respond")

    assert await posting.publicly(client, place, sentence("Created #1.")) == (Announced.YES, None)

    assert slack.responses[0]["response_type"] == "in_channel"


@pytest.mark.parametrize("way", ["straight", "by a redirect"])
async def test_private_answers_are_sent_only_to_slack_hosts(
    slack: Slack, client: AsyncWebClient, way: str
) -> None:
    async def steal(_: web.Request) -> web.Response:
        stolen.append(True)
        return web.Response()

    stolen: list[bool] = []
    elsewhere = web.Application()
    elsewhere.router.add_post("/", steal)
    async with serving(elsewhere) as moved_to:
        slack.moved_to = f"{moved_to}/"
        url = slack.moved_to if way == "straight" else client.base_url + "moved"

        await posting.privately(client, Place("C1", response_url=url), "U1", sentence("Between us."))

    assert not stolen
    assert slack.calls == ["chat.postEphemeral"]


async def test_a_private_answer_tries_every_way_before_giving_up(
    slack: Slack, client: AsyncWebClient
) -> None:
    place = Place("C1", response_url=client.base_url + "breaking")
    slack.then = BROKEN

    with pytest.raises(posting.NotDelivered):
        await posting.privately(client, place, "U1", sentence("Between us."))

    assert len(slack.calls) == 3
