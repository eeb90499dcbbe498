"""The Web API through slack_sdk's client: responses and errors."""

import dataclasses
from io import BytesIO

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, ManualClock, button

GENERAL, LEADERS, PARTNERS = "C0GENERAL01", "C0LEADERS01", "C0PARTNERS1"


def rules(workspace: Workspace) -> list[str]:
    return [broken.rule for broken in workspace.violations]


async def test_only_own_tokens_are_accepted(workspace: Workspace, app: App) -> None:
    stranger = AsyncWebClient(token="xoxb-1-from-elsewhere", base_url=workspace.api_url)
    assert await app.error(stranger.auth_test()) == "invalid_auth"
    assert await app.error(AsyncWebClient(base_url=workspace.api_url).auth_test()) == "not_authed"
    wrong = AsyncWebClient(token=workspace.app_token, base_url=workspace.api_url)
    assert await app.error(wrong.auth_test()) == "not_allowed_token_type"
    assert rules(workspace) == ["invalid_auth", "not_authed", "not_allowed_token_type"]
    assert "elsewhere" not in str(workspace.violations) + str(workspace.calls)


async def test_unknown_method_missing_argument_and_missing_scope_are_errors(
    app: App, workspace: Workspace
) -> None:
    assert await app.error(app.web.api_call("chat.sing")) == "unknown_method"
    assert await app.error(app.web.api_call("chat.postMessage", json={"text": "x"})) == "invalid_arguments"
    im = workspace.state.im("U0ANA0001").id
    with pytest.raises(SlackApiError) as raised:
        await app.web.conversations_info(channel=im)
    assert (raised.value.response["error"], raised.value.response["needed"]) == ("missing_scope", "im:read")
    assert rules(workspace)[-1] == "missing_scope"


async def test_users_include_email_only_with_its_scope(app: App, workspace: Workspace) -> None:
    user = (await app.web.users_info(user="U0ANA0001", include_locale=True))["user"]
    assert (user["tz"], user["locale"], user["real_name"]) == ("Europe/Madrid", "es-ES", "Ana Ruiz")
    assert "email" not in user["profile"]
    scopes = (*workspace.state.app.scopes, "users:read.email")
    workspace.state.app = dataclasses.replace(workspace.state.app, scopes=scopes)
    lena = (await app.web.users_info(user="U0LENA0001"))["user"]
    assert (lena["profile"]["email"], lena["is_stranger"]) == ("lena@quayside.example", True)


async def test_app_sees_only_accessible_conversations(app: App) -> None:
    general = (await app.web.conversations_info(channel=GENERAL))["channel"]
    assert (general["name"], general["is_member"]) == ("general", True)
    assert (await app.web.conversations_info(channel=PARTNERS))["channel"]["is_ext_shared"] is True
    assert await app.error(app.web.conversations_info(channel=LEADERS)) == "channel_not_found"
    assert "U0LENA0001" in (await app.web.conversations_members(channel=PARTNERS))["members"]
    im = (await app.web.conversations_open(users="U0BEN0001"))["channel"]["id"]
    assert (await app.web.chat_postMessage(channel="U0BEN0001", text="Hello"))["channel"] == im


async def test_messages_are_posted_threaded_updated_and_deleted(app: App, workspace: Workspace) -> None:
    posted = await app.web.chat_postMessage(channel=GENERAL, text="Card", blocks=[button("share")])
    reply = await app.web.chat_postMessage(channel=GENERAL, text="Below", thread_ts=posted["ts"])
    beside = await app.web.chat_postMessage(channel=GENERAL, text="Beside", thread_ts=reply["ts"])
    assert beside["message"]["thread_ts"] == posted["ts"]
    link = (await app.web.chat_getPermalink(channel=GENERAL, message_ts=reply["ts"]))["permalink"]
    assert link.startswith(f"{workspace.url}archives/{GENERAL}/p{reply['ts'].replace('.', '')}?thread_ts=")
    updated = await app.web.chat_update(channel=GENERAL, ts=posted["ts"], text="Newer")
    assert updated["message"]["blocks"] == posted["message"]["blocks"]
    await app.web.chat_delete(channel=GENERAL, ts=reply["ts"])
    assert await app.error(app.web.chat_delete(channel=GENERAL, ts=reply["ts"])) == "message_not_found"
    others = workspace.messages[GENERAL][0].ts
    assert await app.error(app.web.chat_update(channel=GENERAL, ts=others, text="x")) == "cant_update_message"
    orphan = app.web.chat_postMessage(channel=GENERAL, text="x", thread_ts="1.000001")
    assert await app.error(orphan) == "thread_not_found"


async def test_long_or_empty_messages_are_reported_or_rejected(app: App, workspace: Workspace) -> None:
    assert await app.error(app.web.api_call("chat.postMessage", json={"channel": GENERAL})) == "no_text"
    long = app.web.chat_postMessage(channel=GENERAL, text="x" * 40_001)
    assert await app.error(long) == "msg_too_long"
    ts = (await app.web.chat_postMessage(channel=GENERAL, text="x" * 4001))["ts"]
    await app.web.api_call("chat.postMessage", json={"channel": GENERAL, "blocks": [button("a")]})
    assert await app.error(app.web.chat_update(channel=GENERAL, ts=ts, text="x" * 4001)) == "msg_too_long"
    assert rules(workspace) == ["no_text", "msg_too_long", "text_too_long", "missing_text", "msg_too_long"]


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


async def test_history_has_no_ephemeral_messages(app: App) -> None:
    shop = "C0WEBSHOP01"
    await app.web.chat_postEphemeral(channel=shop, user="U0ANA0001", text="psst")

    history = (await app.web.conversations_history(channel=shop))["messages"]

    assert history
    assert "psst" not in [message["text"] for message in history]
