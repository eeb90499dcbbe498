"""The Web API through slack_sdk's client: what Slack refuses, and what its answers hold."""

from io import BytesIO

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, Json, ManualClock, button, modal, text_input

GENERAL, LEADERS, PARTNERS = "C0GENERAL01", "C0LEADERS01", "C0PARTNERS1"
LISTED, POST = "users.conversations", "chat.postMessage"
TO_GENERAL: Json = {"channel": GENERAL, "text": "x"}
METADATA: list[object] = [
    "{",
    [],
    {},
    {"event_type": "digest"},
    {"event_type": "", "event_payload": {}},
    {"event_type": "digest.posted", "event_payload": {}},
    {"event_type": "digest", "event_payload": "text"},
]
REFUSED: list[tuple[str, Json, str]] = [
    ("chat.sing", {}, "unknown_method"),
    (POST, {"text": "x"}, "invalid_arguments"),
    (POST, {"channel": GENERAL}, "no_text"),
    (POST, {"channel": GENERAL, "text": "x" * 40_001}, "msg_too_long"),
    (POST, TO_GENERAL | {"blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
    (POST, TO_GENERAL | {"blocks": [button("a"), button("b")]}, "invalid_blocks"),
    *((POST, TO_GENERAL | {"metadata": one}, "invalid_metadata_format") for one in METADATA),
    (POST, TO_GENERAL | {"thread_ts": "1.000001"}, "thread_not_found"),
    (LISTED, {"limit": 1000}, "invalid_limit"),
    (LISTED, {"limit": 0}, "invalid_limit"),
    (LISTED, {"cursor": "bm93aGVyZQ=="}, "invalid_cursor"),
    (LISTED, {"cursor": "?"}, "invalid_cursor"),
    (LISTED, {"types": "channels"}, "invalid_types"),
    (LISTED, {"types": "public_channel,mpim"}, "missing_scope"),
    ("conversations.history", {"channel": GENERAL, "limit": 1000}, "invalid_limit"),
    ("views.open", {"trigger_id": "made.up", "view": modal(text_input("a"))}, "invalid_trigger_id"),
]
NOT_THERE: list[tuple[str, Json, str]] = [
    ("chat.delete", {"channel": GENERAL, "ts": "1.000001"}, "message_not_found"),
    ("conversations.info", {"channel": LEADERS}, "channel_not_found"),
]


def rules(workspace: Workspace) -> list[str]:
    return [broken.rule for broken in workspace.violations]


async def test_calls_that_slack_refuses_break_a_rule(app: App, workspace: Workspace) -> None:
    workspace.state.rate_limits = False
    for method, arguments, error in [*REFUSED, *NOT_THERE]:
        workspace.violations.clear()
        assert await app.error(app.web.api_call(method, json=arguments)) == error
        gone = (method, arguments, error) in NOT_THERE  # which the app can't know
        assert rules(workspace) == ([] if gone else [error])


async def test_only_own_tokens_are_accepted(workspace: Workspace, app: App) -> None:
    stranger = AsyncWebClient(token="xoxb-1-from-elsewhere", base_url=workspace.api_url)
    assert await app.error(stranger.auth_test()) == "invalid_auth"
    assert await app.error(AsyncWebClient(base_url=workspace.api_url).auth_test()) == "not_authed"
    wrong = AsyncWebClient(token=workspace.app_token, base_url=workspace.api_url)
    assert await app.error(wrong.auth_test()) == "not_allowed_token_type"
    assert rules(workspace) == ["invalid_auth", "not_authed", "not_allowed_token_type"]
    assert "elsewhere" not in str(workspace.violations) + str(workspace.calls)


async def test_messages_too_long_or_without_text_are_reported(app: App, workspace: Workspace) -> None:
    ts = (await app.web.chat_postMessage(channel=GENERAL, text="x" * 4001))["ts"]
    await app.web.api_call(POST, json={"channel": GENERAL, "blocks": [button("a")]})
    assert await app.error(app.web.chat_update(channel=GENERAL, ts=ts, text="x" * 4001)) == "msg_too_long"
    assert rules(workspace) == ["text_too_long", "missing_text", "msg_too_long"]


async def test_rate_limit_is_one_message_per_second_after_a_burst(app: App, clock: ManualClock) -> None:
    for _ in range(5):
        await app.web.chat_postMessage(channel=GENERAL, text="x")
    with pytest.raises(SlackApiError) as raised:
        await app.web.chat_postMessage(channel=GENERAL, text="x")
    assert raised.value.response.status_code == 429
    assert raised.value.response.headers["Retry-After"] == "1"
    elsewhere = app.web.chat_postMessage(channel="C0MOBILE001", text="x")
    assert await app.error(elsewhere) == "ratelimited"
    assert await app.error(app.web.chat_postEphemeral(channel=GENERAL, user="U0ANA0001", text="x")) == "ok"
    await clock.advance(1)
    assert await app.error(app.web.chat_postMessage(channel=GENERAL, text="x")) == "ok"


async def test_oversized_and_malformed_bodies_are_rejected(workspace: Workspace) -> None:
    headers = {"Authorization": f"Bearer {workspace.bot_token}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers) as session:
        large = BytesIO(b" " * 1_100_000)
        async with session.post(f"{workspace.api_url}chat.postMessage", data=large) as response:
            assert response.status == 413
        async with session.post(f"{workspace.api_url}auth.test", data=b"{") as response:
            assert (await response.json())["error"] == "invalid_json"
