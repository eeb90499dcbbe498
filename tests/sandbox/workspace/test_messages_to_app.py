"""Mentions of the app and direct messages to it."""

import pytest

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, Page

GENERAL = "C0GENERAL01"
APP = "U0ISSUEBOT"


async def test_a_mention_reaches_the_app_as_slack_sends_it(app: App, page: Page) -> None:
    first = await page.post("message", channel=GENERAL, text="Nothing for the app")
    sent = await page.post("message", channel=GENERAL, text="@Issue Bot new\nLogin", thread_ts=first["ts"])

    payload = await app.next()

    event = payload["event"]
    assert (event["type"], event["user"], event["channel"]) == ("app_mention", page.user, GENERAL)
    assert event["text"] == f"<@{APP}> new\nLogin"
    assert (event["ts"], event["event_ts"], event["thread_ts"]) == (sent["ts"], sent["ts"], first["ts"])
    assert "channel_type" not in event
    assert payload["authorizations"][0]["user_id"] == APP
    assert not payload["is_ext_shared_channel"]


async def test_direct_messages_and_edits_reach_the_app(app: App, page: Page, workspace: Workspace) -> None:
    channel = workspace.state.im(page.user).id
    sent = await page.post("message", channel=channel, text="whoami")
    event = (await app.next())["event"]
    assert (event["type"], event["channel_type"], event["channel"]) == ("message", "im", channel)
    assert "subtype" not in event

    await page.post("edit", channel=channel, ts=sent["ts"], text="whoami?")

    edited = (await app.next())["event"]
    assert (edited["subtype"], edited["hidden"], edited["channel"]) == ("message_changed", True, channel)
    assert (edited["message"]["ts"], edited["message"]["text"]) == (sent["ts"], "whoami?")


async def test_a_shared_channel_shows_authors_companies(app: App, page: Page, workspace: Workspace) -> None:
    shared = next(c for c in workspace.state.channels.values() if c.is_ext_shared)
    shared.members |= {APP, page.user}

    await page.post("message", channel=shared.id, text="@Issue Bot whoami")

    payload = await app.next()
    assert payload["event"]["user_team"] == workspace.state.team.id
    assert payload["is_ext_shared_channel"]


@pytest.mark.parametrize("replies", [0, 1])
async def test_only_threads_show_ephemerals(app: App, page: Page, workspace: Workspace, replies: int) -> None:
    first = await page.post("message", channel=GENERAL, text="Checkout is slow")
    for _ in range(replies):
        await page.post("message", channel=GENERAL, text="Same here", thread_ts=first["ts"])

    await app.web.chat_postEphemeral(channel=GENERAL, user=page.user, text="Only you", thread_ts=first["ts"])

    assert [broken.rule for broken in workspace.violations] == ["inactive_thread"] * (1 - replies)
