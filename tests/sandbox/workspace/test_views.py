"""Modals and the Home tab: opening, input, submission, closing."""

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import (
    App,
    Json,
    ManualClock,
    Page,
    button,
    field,
    modal,
    plain,
    text_input,
)


async def triggered(app: App, page: Page) -> str:
    """Return a fresh trigger ID, from the global shortcut."""
    await page.post("shortcut", callback_id="create_issue")
    return str((await app.next())["trigger_id"])


async def opened(app: App, page: Page, view: Json) -> Json:
    answer = await app.web.views_open(trigger_id=await triggered(app, page), view=view)
    new_view: Json = answer["view"]
    return new_view


def typed(text: str | None, block_id: str = "subject") -> Json:
    return {block_id: {"value": {"type": "plain_text_input", "value": text}}}


async def test_acts_on_a_form_that_is_gone_are_ignored(app: App, page: Page) -> None:
    view = await opened(app, page, modal(text_input("subject")))
    where = {"source": {"view": {"id": view["id"]}}, "block_id": "subject"}
    assert await page.post("submit", view_id=view["id"], values=typed("Broken")) == {"ok": True}
    await app.next()
    await page.until(lambda state: state["views"] == [])
    gone = {"ok": True, "gone": True}

    assert await page.post("action", **where, action={"action_id": "value"}) == gone
    assert await page.post("suggest", **where, action_id="value") == gone
    assert await page.post("close", view_id=view["id"]) == gone
    assert app.received.empty()


async def test_client_validates_before_the_app_is_called(app: App, page: Page) -> None:
    element = {"min_length": 3, "max_length": 4}
    files = field("files", "file_input", max_files=1) | {"optional": True}
    form = modal(text_input("subject", **element), text_input("other", **element), files)
    view = await opened(app, page, form)
    answer = await page.post("submit", view_id=view["id"], values=typed(None) | typed("abc", "other"))
    assert answer == {"ok": False, "errors": {"subject": "Please complete this required field."}}
    two = {"files": {"value": {"type": "file_input", "files": [{"id": "F1"}, {"id": "F2"}]}}}
    values = typed("ab") | typed("abcde", "other") | two
    answer = await page.post("submit", view_id=view["id"], values=values)
    assert answer["errors"] == {
        "subject": "Please enter at least 3 characters.",
        "other": "Please enter at most 4 characters.",
        "files": "Please choose at most 1.",
    }
    assert app.received.empty()


async def test_unacknowledged_submission_keeps_the_modal_open(
    app: App, page: Page, clock: ManualClock, workspace: Workspace
) -> None:
    view = await opened(app, page, modal(text_input("subject")))
    app.silent = True
    await page.post("submit", view_id=view["id"], values=typed("A"))
    await app.next()
    assert (await page.state())["views"][0]["busy"] is True
    assert (await page.post("submit", view_id=view["id"], values=typed("A")))["ok"] is False
    await clock.advance(3.1)
    await page.until(lambda state: not state["views"][0]["busy"])
    assert workspace.violations[0].rule == "operation_timeout"


async def test_trigger_opens_one_view(app: App, page: Page, clock: ManualClock, workspace: Workspace) -> None:
    view = modal(text_input("subject"))
    trigger = await triggered(app, page)
    await app.web.views_open(trigger_id=trigger, view=view)
    assert await app.error(app.web.views_open(trigger_id=trigger, view=view)) == "exchanged_trigger_id"
    trigger = await triggered(app, page)
    await clock.advance(3.1)
    assert await app.error(app.web.views_open(trigger_id=trigger, view=view)) == "expired_trigger_id"
    assert await app.error(app.web.views_open(trigger_id="made.up", view=view)) == "invalid_trigger_id"
    assert len(workspace.violations) == 3


async def test_update_requires_current_hash_and_open_view(app: App, page: Page) -> None:
    view = await opened(app, page, modal(text_input("subject"), external_id="form-1"))
    newer = await app.web.views_update(
        external_id="form-1", hash=view["hash"], view=modal(text_input("other"))
    )
    assert newer["view"]["hash"] != view["hash"]
    late = app.web.views_update(view_id=view["id"], hash=view["hash"], view=modal(text_input("other")))
    assert await app.error(late) == "hash_conflict"
    await page.post("close", view_id=view["id"])
    gone = app.web.views_update(view_id=view["id"], view=modal(text_input("other")))
    assert await app.error(gone) == "not_found"


async def test_stack_is_limited_to_three_and_reports_closing(app: App, page: Page) -> None:
    view = modal(text_input("subject", initial_value="x"), button("more"), notify_on_close=True)
    from_shortcut = await triggered(app, page)
    assert await app.error(app.web.views_push(trigger_id=from_shortcut, view=view)) == "invalid_trigger_id"
    await opened(app, page, view)

    async def push() -> str:
        source = {"view": {"id": (await page.state())["views"][-1]["id"]}}
        await page.post("action", source=source, block_id="b", action={"action_id": "more"})
        trigger = (await app.next())["trigger_id"]
        return await app.error(app.web.views_push(trigger_id=trigger, view=view))

    assert [await push() for _ in range(3)] == ["ok", "ok", "push_limit_reached"]
    await page.post("close", view_id=(await page.state())["views"][-1]["id"])
    assert (await app.next())["type"] == "view_closed"
    assert len((await page.state())["views"]) == 2
    await page.post("close", view_id=(await page.state())["views"][-1]["id"], all=True)
    closed = [await app.next(), await app.next()]
    assert [one["is_cleared"] for one in closed] == [True, True]


async def test_invalid_responses_of_the_app_are_reported(app: App, page: Page, workspace: Workspace) -> None:
    project = field("p", "external_select", min_query_length=0)
    view = await opened(app, page, modal(text_input("subject"), project | {"optional": True}))
    app.answers["block_suggestion"] = {"options": [{"text": plain("x" * 76), "value": "1"}]}
    asked = {"source": {"view": {"id": view["id"]}}, "block_id": "p", "action_id": "value", "value": "sh"}
    assert (await page.post("suggest", **asked))["ok"] is False

    for answer in ({"response_action": "errors", "errors": {"nowhere": "Lost"}}, {"response_action": "x"}):
        app.answers["view_submission"] = answer
        before = len(workspace.violations)
        await page.post("submit", view_id=view["id"], values=typed("Hm"))
        await page.until(lambda state: not state["views"][0]["busy"])
        assert len(workspace.violations) == before + 1

    rules = [broken.rule for broken in workspace.violations]
    assert rules == ["invalid_options", "invalid_errors", "invalid_response_action"]
    assert (await page.state())["views"][0]["state"]["values"]["subject"] == typed("Hm")["subject"]
