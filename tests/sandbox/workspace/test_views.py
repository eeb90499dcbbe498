"""Modals and the Home tab: opening, input, submission, closing."""

from functools import partial

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, Json, ManualClock, Page, modal, plain, text_input

GENERAL = "C0GENERAL01"


async def triggered(app: App, page: Page) -> str:
    """Return a fresh trigger ID, from the global shortcut."""
    await page.post("shortcut", callback_id="create_issue")
    return str((await app.next())["trigger_id"])


async def opened(app: App, page: Page, view: Json) -> Json:
    answer = await app.web.views_open(trigger_id=await triggered(app, page), view=view)
    found: Json = answer["view"]
    return found


def grown(state: Json, beyond: str) -> bool:
    return bool(state["views"][-1]["id"] != beyond)


def typed(text: str | None, block_id: str = "subject") -> Json:
    return {block_id: {"value": {"type": "plain_text_input", "value": text}}}


async def test_modal_opens_submits_and_closes(app: App, page: Page, workspace: Workspace) -> None:
    view = await opened(app, page, modal(text_input("subject", initial_value="Preset"), private_metadata="m"))
    assert view["state"]["values"]["subject"]["value"]["value"] == "Preset"
    shown = (await page.state())["views"][0]
    assert (shown["id"], shown["errors"], shown["busy"]) == (view["id"], None, False)
    assert await page.post("submit", view_id=view["id"], values=typed("Broken")) == {"ok": True}
    payload = await app.next()
    assert payload["type"] == "view_submission"
    assert payload["view"]["state"]["values"] == typed("Broken")
    assert payload["view"]["private_metadata"] == "m"
    await page.until(lambda state: state["views"] == [])
    assert workspace.violations == []


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
    view = await opened(app, page, modal(text_input("subject", **element), text_input("other", **element)))
    answer = await page.post("submit", view_id=view["id"], values=typed(None) | typed("abc", "other"))
    assert answer == {"ok": False, "errors": {"subject": "Please complete this required field."}}
    answer = await page.post("submit", view_id=view["id"], values=typed("ab") | typed("abcde", "other"))
    assert answer["errors"] == {
        "subject": "Please enter at least 3 characters.",
        "other": "Please enter at most 4 characters.",
    }
    assert app.received.empty()


async def test_submitted_files_include_their_urls(app: App, page: Page, workspace: Workspace) -> None:
    element = {"type": "file_input", "action_id": "value", "max_files": 1}
    block = {"type": "input", "block_id": "files", "label": plain("Files"), "element": element}
    view = await opened(app, page, modal(block))
    two = [(await page.upload(name, b"log", "text/plain"))["files"][0] for name in ("a.log", "b.log")]
    values = {"files": {"value": {"type": "file_input", "files": two}}}
    answer = await page.post("submit", view_id=view["id"], values=values)
    assert answer["errors"] == {"files": "Please choose at most 1."}
    values["files"]["value"]["files"] = two[:1]
    await page.post("submit", view_id=view["id"], values=values)
    file = (await app.next())["view"]["state"]["values"]["files"]["value"]["files"][0]
    assert file["name"] == "a.log"
    headers = {"Authorization": f"Bearer {workspace.bot_token}"}
    async with page.session.get(file["url_private_download"], headers=headers) as response:
        assert await response.read() == b"log"


async def test_errors_appear_at_their_blocks_and_input_is_kept(
    app: App, page: Page, workspace: Workspace
) -> None:
    view = await opened(app, page, modal(text_input("subject")))
    app.answers["view_submission"] = {"response_action": "errors", "errors": {"subject": "Too vague"}}
    await page.post("submit", view_id=view["id"], values=typed("Hm"))
    state = await page.until(lambda state: state["views"][0]["errors"])
    assert state["views"][0]["errors"] == {"subject": "Too vague"}
    assert state["views"][0]["state"]["values"] == typed("Hm")
    app.answers["view_submission"] = {"response_action": "errors", "errors": {"nowhere": "Lost"}}
    await page.post("submit", view_id=view["id"], values=typed("Hm"))
    await page.until(lambda state: state["panel"]["violations"])
    assert workspace.violations[0].rule == "invalid_errors"


async def test_submission_can_update_push_and_clear(app: App, page: Page) -> None:
    view = await opened(app, page, modal(text_input("subject")))
    app.answers["view_submission"] = {
        "response_action": "update",
        "view": modal(text_input("subject"), title=plain("Next")),
    }
    await page.post("submit", view_id=view["id"], values=typed("A"))
    state = await page.until(lambda state: state["views"][0]["title"]["text"] == "Next")
    assert state["views"][0]["state"]["values"] == typed("A")
    app.answers["view_submission"] = {"response_action": "push", "view": modal(text_input("other"))}
    await page.post("submit", view_id=view["id"], values=typed("A"))
    state = await page.until(lambda state: len(state["views"]) == 2)
    assert state["views"][1]["previous_view_id"] == view["id"]
    app.answers["view_submission"] = {"response_action": "clear"}
    await page.post("submit", view_id=state["views"][1]["id"], values=typed("A", "other"))
    await page.until(lambda state: state["views"] == [])


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


async def test_trigger_opens_one_view_within_three_seconds(
    app: App, page: Page, clock: ManualClock, workspace: Workspace
) -> None:
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
    view = modal(text_input("subject", initial_value="x"), notify_on_close=True)
    assert await app.error(app.web.views_push(trigger_id=await triggered(app, page), view=view)) == (
        "invalid_trigger_id"
    )
    await opened(app, page, view)
    app.answers["view_submission"] = {"response_action": "push", "view": view}
    for _ in range(2):
        top = (await page.state())["views"][-1]["id"]
        await page.post("submit", view_id=top, values={})
        trigger = (await app.next())["trigger_id"]
        await page.until(partial(grown, beyond=top))
    assert await app.error(app.web.views_push(trigger_id=trigger, view=view)) == "push_limit_reached"
    await page.post("close", view_id=(await page.state())["views"][-1]["id"])
    assert (await app.next())["type"] == "view_closed"
    assert len((await page.state())["views"]) == 2
    await page.post("close", view_id=(await page.state())["views"][-1]["id"], all=True)
    closed = [await app.next(), await app.next()]
    assert [one["is_cleared"] for one in closed] == [True, True]


async def test_dispatching_inputs_and_external_selects_call_the_app(app: App, page: Page) -> None:
    select = {"type": "external_select", "action_id": "pick", "min_query_length": 0}
    block = {
        "type": "input",
        "block_id": "p",
        "label": plain("Project"),
        "element": select,
        "dispatch_action": True,
    }
    view = await opened(app, page, modal(block))
    source = {"view": {"id": view["id"]}}
    option = {"text": plain("Shop"), "value": "1"}
    app.answers["block_suggestion"] = {"options": [option]}
    asked = {"source": source, "block_id": "p", "action_id": "pick", "value": "sh"}
    assert await page.post("suggest", **asked) == {"ok": True, "options": [option]}
    assert (await app.next())["value"] == "sh"
    app.answers["block_suggestion"] = {"options": [{"text": plain("x" * 76), "value": "1"}]}
    assert (await page.post("suggest", **asked))["ok"] is False
    await app.next()
    values = {"p": {"pick": {"type": "external_select", "selected_option": option}}}
    await page.post(
        "action",
        source=source,
        block_id="p",
        action={"type": "external_select", "action_id": "pick", "selected_option": option},
        values=values,
    )
    payload = await app.next()
    assert payload["actions"][0]["selected_option"] == option
    assert payload["view"]["state"]["values"] == values


async def test_home_is_published_and_its_opening_reported(app: App, page: Page) -> None:
    home = {"type": "home", "blocks": [{"type": "header", "text": plain("Your issues")}]}
    await app.web.views_publish(user_id=page.user, view=home)
    assert (await page.state())["home"]["blocks"][0]["text"]["text"] == "Your issues"
    await page.post("home")
    event = (await app.next())["event"]
    assert (event["type"], event["tab"], event["view"]["type"]) == ("app_home_opened", "home", "home")
