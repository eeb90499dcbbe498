"""Work Objects: entities in link previews, and their details for one user."""

import dataclasses
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import SERVICE_URL, App, Page

Json = dict[str, Any]
URL = f"{SERVICE_URL}issues/12"
GENERAL = "C0GENERAL01"


def entity(number: str = "12", **more: object) -> Json:
    return {
        "entity_type": "slack#/entities/task",
        "url": URL,
        "external_ref": {"id": number, "type": "issue"},
        "entity_payload": {"attributes": {"title": {"text": "Checkout answers 500"}}},
        **more,
    }


async def posted(app: App, page: Page) -> Json:
    await page.post("message", channel=GENERAL, text=f"See {URL}")
    event: Json = (await app.next())["event"]
    return event


async def unfurl(app: App, event: Json, one: Json) -> Json:
    answer = await app.web.chat_unfurl(
        channel=event["channel"],
        ts=event["message_ts"],
        unfurls={URL: {"blocks": []}},
        metadata={"entities": [one]},
    )
    return dict(answer.data) if isinstance(answer.data, dict) else {}


async def opened(app: App, page: Page, event: Json) -> Json:
    where = {"channel": event["channel"], "ts": event["message_ts"]}
    assert (await page.post("details", url=URL, **where))["ok"]
    asked: Json = (await app.next())["event"]
    return asked


async def test_details_must_match_the_opened_entity(app: App, page: Page) -> None:
    event = await posted(app, page)
    await unfurl(app, event, entity(app_unfurl_url=URL))

    asked = await opened(app, page, event)
    other = app.web.entity_presentDetails(trigger_id=asked["trigger_id"], metadata=entity("13"))
    assert await app.error(other) == "entity_metadata_does_not_match_trigger"

    asked = await opened(app, page, event)
    nameless = {key: value for key, value in entity().items() if key != "external_ref"}
    bare = app.web.entity_presentDetails(trigger_id=asked["trigger_id"], metadata=nameless)
    assert await app.error(bare) == "invalid_arguments"

    asked = await opened(app, page, event)
    error = {"status": "custom", "custom_message": "Link your account"}
    await app.web.entity_presentDetails(trigger_id=asked["trigger_id"], error=error)
    assert (await page.state())["details"]["error"] == error
    page.user = "U0BEN0001"
    assert (await page.state())["details"] is None


async def test_entities_need_rich_previews_in_the_manifest(
    app: App, page: Page, workspace: Workspace
) -> None:
    workspace.state.app = dataclasses.replace(workspace.state.app, entity_types=frozenset())
    event = await posted(app, page)

    with pytest.raises(SlackApiError, match="feature_not_enabled"):
        await unfurl(app, event, entity(app_unfurl_url=URL))


async def test_invalid_entity_is_a_warning_and_blocks_are_shown(
    workspace: Workspace, app: App, page: Page
) -> None:
    answer = await unfurl(app, await posted(app, page), entity("12.3"))

    assert answer["warning"] == "invalid_metadata_format"
    assert workspace.violations[-1].rule == "invalid_metadata_format"
    unfurls = (await page.state())["messages"][GENERAL][-1]["unfurls"]
    assert unfurls == [{"url": URL, "blocks": [], "has_details": False}]
    assert not (await page.post("details", channel=GENERAL, ts="1.1", url=URL))["ok"]
