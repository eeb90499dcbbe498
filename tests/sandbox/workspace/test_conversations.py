"""Conversations from the app's side: lists, archiving, removal, deletion, history and metadata."""

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, Json, Page, button

GENERAL, SHOP, MOBILE, LEADERS = "C0GENERAL01", "C0WEBSHOP01", "C0MOBILE001", "C0LEADERS01"
BOT = "U0ISSUEBOT"
BOTH = "public_channel,private_channel"
NAMES = ["general", "webshop", "mobile", "triage", "partners"]


async def listed(app: App, **arguments: object) -> tuple[list[str], str]:
    """Return the names on a page of conversations, and the next page's cursor."""
    answer = await app.web.api_call("users.conversations", params={"types": BOTH, **arguments})
    found: list[Json] = answer["channels"]
    return [channel["name"] for channel in found], answer["response_metadata"]["next_cursor"]


async def test_conversations_paginate_and_can_exclude_archived(app: App, workspace: Workspace) -> None:
    assert await listed(app) == (NAMES, "")
    first, cursor = await listed(app, limit=3)
    second, end = await listed(app, limit=3, cursor=cursor)
    assert (first, second, end) == (NAMES[:3], NAMES[3:], "")

    workspace.state.archive(MOBILE)
    assert (await listed(app))[0] == NAMES
    assert "mobile" not in (await listed(app, exclude_archived="true"))[0]

    workspace.state.delete(SHOP)
    assert "webshop" not in (await listed(app))[0]


async def test_lists_reject_invalid_arguments(app: App) -> None:
    invalid: list[tuple[Json, str]] = [
        ({"limit": 1000}, "invalid_limit"),
        ({"limit": 0}, "invalid_limit"),
        ({"cursor": "bm93aGVyZQ=="}, "invalid_cursor"),
        ({"cursor": "?"}, "invalid_cursor"),
        ({"types": "channels"}, "invalid_types"),
        ({"types": "public_channel,mpim"}, "missing_scope"),
    ]
    for arguments, error in invalid:
        assert await app.error(app.web.api_call("users.conversations", params=arguments)) == error


async def test_users_conversations_follows_app_membership(app: App, workspace: Workspace) -> None:
    assert LEADERS not in str(await app.web.users_conversations(types=BOTH))
    workspace.state.invite(LEADERS, BOT)
    workspace.state.kick(GENERAL, BOT)

    own = (await app.web.users_conversations(types=BOTH))["channels"]
    assert [channel["name"] for channel in own] == ["webshop", "mobile", "triage", "leadership", "partners"]
    assert not any("is_member" in channel for channel in own)  # Slack omits it here
    with_ben = (await app.web.users_conversations(types=BOTH, user="U0BEN0001"))["channels"]
    assert LEADERS not in [channel["id"] for channel in with_ben]
    assert (await app.web.conversations_info(channel=GENERAL))["channel"]["is_member"] is False
    assert (await app.web.conversations_info(channel=LEADERS))["channel"]["is_member"] is True


async def test_archived_channel_is_read_only(app: App, page: Page, workspace: Workspace) -> None:
    ts = (await app.web.chat_postMessage(channel=GENERAL, text="Before"))["ts"]
    workspace.state.archive(GENERAL)

    assert (await app.web.conversations_info(channel=GENERAL))["channel"]["is_archived"] is True
    assert (await app.web.conversations_history(channel=GENERAL))["messages"][0]["text"] == "Before"
    assert await app.error(app.web.chat_postMessage(channel=GENERAL, text="x")) == "is_archived"
    private = app.web.chat_postEphemeral(channel=GENERAL, user="U0ANA0001", text="x")
    assert await app.error(private) == "is_archived"
    assert await app.error(app.web.chat_update(channel=GENERAL, ts=ts, text="x")) == "is_inactive"
    raised = await page.post("command", channel=GENERAL, text="/issue")
    assert raised["error"] == "This channel is archived, so you can't post in it."
    assert (await page.post("message", channel=GENERAL, text="x"))["ok"] is False
    assert app.received.empty()

    workspace.state.archive(GENERAL, archived=False)
    assert await app.error(app.web.chat_postMessage(channel=GENERAL, text="After")) == "ok"
    assert workspace.violations == []


async def test_removed_app_gets_errors_but_breaks_no_rule(app: App, page: Page, workspace: Workspace) -> None:
    workspace.state.invite(LEADERS, BOT)
    assert await app.error(app.web.chat_postMessage(channel=LEADERS, text="x")) == "ok"
    await page.post("command", channel=MOBILE, text="/issue")
    answer_at = (await app.next())["response_url"]

    stranger = app.web.chat_postEphemeral(channel=GENERAL, user="U0LENA0001", text="x")
    assert await app.error(stranger) == "user_not_in_channel"
    workspace.violations.clear()
    workspace.state.kick(GENERAL, BOT)
    workspace.state.kick(LEADERS, BOT)
    workspace.state.delete(MOBILE)

    errors = [
        await app.error(app.web.chat_postMessage(channel=channel, text="x"))
        for channel in (GENERAL, LEADERS, MOBILE)
    ]
    assert errors == ["not_in_channel", "channel_not_found", "channel_not_found"]
    assert await app.error(app.web.conversations_info(channel=LEADERS)) == "channel_not_found"
    assert await app.error(app.web.conversations_history(channel=GENERAL)) == "not_in_channel"
    async with page.session.post(answer_at, json={"text": "x"}) as response:
        assert response.status == 400
    assert MOBILE not in {channel["id"] for channel in (await page.state())["channels"]}
    assert workspace.violations == []


async def test_history_paginates_from_either_end(app: App, workspace: Workspace) -> None:
    workspace.messages[GENERAL].clear()
    ts = [(await app.web.chat_postMessage(channel=GENERAL, text=str(n)))["ts"] for n in range(5)]

    async def read(**arguments: object) -> tuple[str, str]:
        answer = await app.web.api_call(
            "conversations.history", params={"channel": GENERAL, "limit": 2, **arguments}
        )
        cursor = answer["response_metadata"]["next_cursor"]
        assert answer["has_more"] is bool(cursor)
        return "".join(message["text"] for message in answer["messages"]), cursor

    newest, cursor = await read()
    middle, cursor = await read(cursor=cursor)
    assert (newest, middle, await read(cursor=cursor)) == ("43", "21", ("0", ""))

    oldest, cursor = await read(oldest=ts[0])
    assert (oldest, await read(oldest=ts[0], cursor=cursor)) == ("21", ("43", ""))
    assert (await read(oldest=ts[0], inclusive="true"))[0] == "10"
    assert await read(oldest=ts[1], latest=ts[4]) == ("32", "")
    assert await app.error(app.web.conversations_history(channel=GENERAL, limit=1000)) == "invalid_limit"


async def test_replies_paginate_and_keep_a_deleted_parent_as_a_tombstone(
    app: App, workspace: Workspace
) -> None:
    parent = (await app.web.chat_postMessage(channel=GENERAL, text="0"))["ts"]
    for n in range(1, 4):
        await app.web.chat_postMessage(channel=GENERAL, text=str(n), thread_ts=parent)
    await app.web.chat_delete(channel=GENERAL, ts=parent)
    workspace.state.history_page, workspace.state.history_seconds = 3, 60

    page = await app.web.conversations_replies(channel=GENERAL, ts=parent, limit=200)
    with pytest.raises(SlackApiError) as raised:
        await app.web.conversations_replies(channel=GENERAL, ts=parent)
    workspace.state.history_seconds = 0
    cursor = page["response_metadata"]["next_cursor"]
    rest = await app.web.conversations_replies(channel=GENERAL, ts=parent, cursor=cursor)

    assert raised.value.response.headers["Retry-After"] == "60"
    assert [message["text"] for message in page["messages"]] == ["This message was deleted.", "1", "2"]
    assert (page["messages"][0]["subtype"], page["messages"][0]["reply_count"]) == ("tombstone", 3)
    assert ([message["text"] for message in rest["messages"]], rest["has_more"]) == (["3"], False)
    assert workspace.violations == []


async def test_history_requires_the_conversation_types_scope(app: App, workspace: Workspace) -> None:
    workspace.state.invite(LEADERS, BOT)
    im = workspace.state.im("U0ANA0001").id
    for channel, scope in ((LEADERS, "groups:history"), (im, "im:history")):
        with pytest.raises(SlackApiError) as raised:
            await app.web.conversations_history(channel=channel)
        assert raised.value.response["needed"] == scope


METADATA = {"event_type": "digest_1", "event_payload": {"digest": 7, "due": "2026-03-10T09:00:00Z"}}


async def test_metadata_is_stored_and_returned_on_request(app: App) -> None:
    ts = (await app.web.chat_postMessage(channel=GENERAL, text="Digest", metadata=METADATA))["ts"]
    reply = (await app.web.chat_postMessage(channel=GENERAL, text="x", thread_ts=ts, metadata=METADATA))["ts"]

    async def told(method: str, **arguments: object) -> list[Json | None]:
        answer = await app.web.api_call(method, params={"channel": GENERAL, **arguments})
        by_ts = {message["ts"]: message.get("metadata") for message in answer["messages"]}
        return [by_ts[key] for key in (ts, reply) if key in by_ts]

    assert await told("conversations.history") == [None]
    assert await told("conversations.history", include_all_metadata="true") == [METADATA]
    assert await told("conversations.replies", ts=ts) == [None, None]
    assert await told("conversations.replies", ts=ts, include_all_metadata="1") == [METADATA, METADATA]

    await app.web.chat_update(channel=GENERAL, ts=ts, text="Changed", blocks=[button("a")])
    assert await told("conversations.history", include_all_metadata="true") == [METADATA]
    await app.web.chat_update(channel=GENERAL, ts=ts, text="Changed", metadata={})
    assert await told("conversations.history", include_all_metadata="true") == [None]


async def test_malformed_metadata_is_rejected(app: App, workspace: Workspace) -> None:
    workspace.state.rate_limits = False
    malformed: list[object] = [
        "{",
        [],
        {},
        {"event_type": "digest"},
        {"event_type": "", "event_payload": {}},
        {"event_type": "digest.posted", "event_payload": {}},
        {"event_type": "digest", "event_payload": "text"},
    ]
    for metadata in malformed:
        body = {"channel": GENERAL, "text": "x", "metadata": metadata}
        assert await app.error(app.web.api_call("chat.postMessage", json=body)) == "invalid_metadata_format"
