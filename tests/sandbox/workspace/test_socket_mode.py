"""User interactions, delivered to the app over Socket Mode, and its responses."""

from contextlib import AsyncExitStack

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, Json, ManualClock, Page, button

GENERAL = "C0GENERAL01"


def texts(state: Json, channel: str = GENERAL) -> list[str]:
    return [message["text"] for message in state["messages"][channel]]


async def test_command_reaches_the_app_encoded(app: App, page: Page, workspace: Workspace) -> None:
    typed = "/issue new Can't pay <b> to:@ben in #webshop see https://shop.example/a?b=1&c=2."
    assert await page.post("command", channel=GENERAL, text=typed) == {"ok": True}
    payload = await app.next()
    assert payload["text"] == (
        "new Can't pay &lt;b&gt; to:<@U0BEN0001|ben> in <#C0WEBSHOP01|webshop>"
        " see <https://shop.example/a?b=1&amp;c=2>."
    )
    assert (payload["command"], payload["user_id"], payload["channel_name"]) == (
        "/issue",
        page.user,
        "general",
    )
    assert workspace.violations == []


async def test_missing_acknowledgement_is_reported_to_user_and_panel(
    app: App, page: Page, clock: ManualClock, workspace: Workspace
) -> None:
    app.silent = True
    async with page.events() as events:
        await page.post("command", channel=GENERAL, text="/issue")
        await app.next()
        await clock.advance(3.1)
        news = [await events.receive_json(), await events.receive_json()]
    toast = next(one for one in news if one["type"] == "toast")
    assert toast["text"] == "/issue failed with the error “operation_timeout”."
    assert [(broken.where, broken.rule) for broken in workspace.violations] == [
        ("/issue", "operation_timeout")
    ]


async def test_disconnected_app_fails_but_breaks_no_rule(page: Page, workspace: Workspace) -> None:
    async with page.events() as events:
        await page.post("command", channel=GENERAL, text="/issue")
        toast = await events.receive_json()
    assert "dispatch_failed" in toast["text"]
    assert workspace.violations == []


async def test_only_buttons_replace_ephemeral_messages(app: App, page: Page, workspace: Workspace) -> None:
    answer = await app.web.chat_postEphemeral(
        channel=GENERAL, user=page.user, text="Only you", blocks=[button("share")]
    )
    ts = answer["message_ts"]
    assert await app.error(app.web.chat_update(channel=GENERAL, ts=ts, text="x")) == "message_not_found"
    await page.post(
        "action",
        source={"message": {"channel": GENERAL, "ts": ts}},
        block_id="b",
        action={"action_id": "share"},
    )
    payload = await app.next()
    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload
    body = {"text": "For all?", "replace_original": True, "response_type": "in_channel"}
    await page.session.post(payload["response_url"], json=body)
    assert workspace.state.messages[GENERAL][-1].to == page.user
    assert workspace.violations[-1].rule == "stays_ephemeral"
    await page.session.post(payload["response_url"], json={"delete_original": True})
    assert "For all?" not in texts(await page.state())


async def test_response_url_allows_five_posts_in_thirty_minutes(
    app: App, page: Page, clock: ManualClock, workspace: Workspace
) -> None:
    await page.post("command", channel=GENERAL, text="/issue")
    url = (await app.next())["response_url"]
    for _ in range(5):
        assert (await page.session.post(url, json={"text": "Again"})).status == 200
    sixth = await page.session.post(url, json={"text": "Again"})
    assert (sixth.status, await sixth.json()) == (404, {"ok": False, "error": "used_url"})
    await page.post("command", channel=GENERAL, text="/issue")
    url = (await app.next())["response_url"]
    await clock.advance(1801)
    late = await page.session.post(url, json={"text": "Late"})
    assert (await late.json())["error"] == "expired_url"
    assert [broken.rule for broken in workspace.violations] == ["used_url", "expired_url"]


async def test_interaction_acknowledgement_must_be_empty(app: App, page: Page, workspace: Workspace) -> None:
    app.answers["shortcut"] = {"text": "not read by anybody"}
    await page.post("shortcut", callback_id="create_issue")
    await app.next()
    await page.until(lambda state: state["panel"]["violations"])
    assert workspace.violations[0].rule == "ack_with_body"


async def test_socket_urls_work_once_and_the_eleventh_fails(workspace: Workspace, page: Page) -> None:
    web = AsyncWebClient(base_url=workspace.api_url)
    async with AsyncExitStack() as open_ones:
        for count in range(1, 12):
            url = (await web.apps_connections_open(app_token=workspace.app_token))["url"]
            connection = await open_ones.enter_async_context(page.session.ws_connect(url))
            greeting = await connection.receive_json()
            assert greeting["type"] == ("hello" if count <= 10 else "disconnect")
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await page.session.ws_connect(url)
    assert workspace.violations[-1].rule == "too_many_websockets"
