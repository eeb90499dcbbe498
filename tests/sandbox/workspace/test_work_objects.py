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


async def unfurl(app: App, page: Page, one: Json) -> tuple[Json, dict[str, object]]:
    """Post a link and unfurl it; return the answer, and where the link is."""
    await page.post("message", channel=GENERAL, text=f"See {URL}")
    event = (await app.next())["event"]
    where = {"channel": event["channel"], "ts": event["message_ts"]}
    unfurls: Any = {URL: {"blocks": []}}
    answer = await app.web.chat_unfurl(**where, unfurls=unfurls, metadata={"entities": [one]})
    return (dict(answer.data) if isinstance(answer.data, dict) else {}), where


async def test_details_must_match_the_opened_entity(app: App, page: Page) -> None:
    _, where = await unfurl(app, page, entity(app_unfurl_url=URL))

    async def present(**details: Any) -> str:
        assert (await page.post("details", url=URL, **where))["ok"]
        trigger = (await app.next())["event"]["trigger_id"]
        return await app.error(app.web.entity_presentDetails(trigger_id=trigger, **details))

    nameless = {key: value for key, value in entity().items() if key != "external_ref"}
    error = {"status": "custom", "custom_message": "Link your account"}
    assert await present(metadata=entity("13")) == "entity_metadata_does_not_match_trigger"
    assert await present(metadata=nameless) == "invalid_arguments"
    assert await present(error=error) == "ok"
    assert (await page.state())["details"]["error"] == error
    page.user = "U0BEN0001"
    assert (await page.state())["details"] is None


async def test_edits_and_comments_keep_to_limits(app: App, page: Page, workspace: Workspace) -> None:
    workspace.state.comments_limit = 1
    _, where = await unfurl(app, page, entity(app_unfurl_url=URL))
    await page.post("details", url=URL, **where)
    await app.next()
    values = {"due_date": {"due_date.input": {"type": "datepicker", "selected_date": "2036-01-02"}}}

    async def saved(**errors: str) -> Json:
        app.answers["view_submission"] = {"response_action": "errors", "errors": errors}
        await page.post("details", values=values)
        await page.until(lambda state: state["details"]["errors"] == errors)
        return dict((await app.next())["view"])

    view = await saved(due_date="Too late")
    assert (view["type"], view["external_ref"]) == ("entity_detail", {"id": "12", "type": "issue"})
    assert view["state"]["values"] == values
    assert not workspace.violations
    await saved(status="Not allowed")
    assert workspace.violations[-1].rule == "invalid_errors"

    await page.post("details")
    event = (await app.next())["event"]
    assert (event["type"], event["limit"]) == ("entity_comments_requested", 1)
    comment = {"id": "1", "sender": {"text": "Ben"}, "timestamp": 1, "comment": {"value": "Same here"}}
    given = {"trigger_id": event["trigger_id"], "comments": [comment, comment]}
    assert await app.error(app.web.api_call("entity.presentComments", json=given)) == "invalid_arguments"


async def test_entities_need_previews_in_the_manifest(app: App, page: Page, workspace: Workspace) -> None:
    workspace.state.app = dataclasses.replace(workspace.state.app, entity_types=frozenset())

    with pytest.raises(SlackApiError, match="feature_not_enabled"):
        await unfurl(app, page, entity(app_unfurl_url=URL))


async def test_invalid_entity_warns_and_blocks_are_shown(workspace: Workspace, app: App, page: Page) -> None:
    answer, _ = await unfurl(app, page, entity("12.3"))

    assert answer["warning"] == "invalid_metadata_format"
    assert workspace.violations[-1].rule == "invalid_metadata_format"
    unfurls = (await page.state())["messages"][GENERAL][-1]["unfurls"]
    assert unfurls == [{"url": URL, "blocks": [], "has_details": False}]
    assert not (await page.post("details", channel=GENERAL, ts="1.1", url=URL))["ok"]


async def test_comment_is_posted_and_acknowledged(app: App, page: Page, workspace: Workspace) -> None:
    _, where = await unfurl(app, page, entity(app_unfurl_url=URL))
    await page.post("details", url=URL, **where)
    await app.next()
    rich_text = {"type": "rich_text", "elements": []}

    async def posted(**answer: object) -> Json:
        await page.post("details", comment=rich_text)
        sent = await app.next()
        given = {"trigger_id": sent["trigger_id"], **answer}
        await app.web.api_call("entity.acknowledgeCommentAction", json=given)
        assert (sent["view"]["type"], sent["view"]["external_ref"]["id"]) == ("entity_comment", "12")
        details: Json = (await page.state())["details"]
        return details

    assert (await posted(error="Closed"))["comment_error"] == "Closed"
    comment = {"id": "1", "sender": {"text": "Ben"}, "timestamp": 1, "comment": {"value": "Same here"}}
    details = await posted(comment=comment)
    assert (details["comments"], details["comment_error"]) == ([comment], None)
    assert not workspace.violations
