"""Elements an app can show: conversation and external selects, and a long message."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from bot.sandbox.people import ANA, BEN, PEOPLE
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.server import Workspace
from tests.browser.conftest import TIMEOUT_MS
from tests.browser.visitor import Visitor, visiting
from tests.sandbox.workspace.harness import MANIFEST, App, Json, field, modal, plain
from tests.support.reading import rich_section, rich_text

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
TRIAGE, LEADERS, MOBILE, PARTNERS = "C0TRIAGE001", "C0LEADERS01", "C0MOBILE001", "C0PARTNERS1"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def workspace() -> AsyncIterator[Workspace]:
    workspace = Workspace(manifest=MANIFEST, people=PEOPLE)
    await workspace.start(port=0)
    yield workspace
    await workspace.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(workspace: Workspace) -> AsyncIterator[App]:
    app = App(workspace)
    await app.open()
    yield app
    await app.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ana(workspace: Workspace, app: App, chromium: Browser) -> AsyncIterator[Visitor]:
    assert app.client
    async with visiting(chromium, workspace.url, ANA.name, TIMEOUT_MS) as ana:
        yield ana


async def opened(ana: Visitor, app: App, view: Json) -> Locator:
    """Open a form with a command in #triage."""
    await ana.go_to("# triage")
    await ana.send("/issue")
    await app.web.views_open(trigger_id=(await app.next())["trigger_id"], view=view)
    return ana.form("New issue")


def listed(style: str, *items: str) -> Json:
    elements = [rich_section(item) for item in items]
    return {"type": "rich_text_list", "style": style, "indent": 0, "border": 0, "elements": elements}


async def test_form_offers_channels_and_search_results(ana: Visitor, app: App, workspace: Workspace) -> None:
    workspace.state.archive(MOBILE)
    workspace.state.kick(PARTNERS, ANA.slack_id)
    option = {name: {"text": plain(name), "value": name.lower()} for name in ("Checkout", "Search")}
    app.answers["block_suggestion"] = {"options": list(option.values())}
    channels = {"include": ["public", "private"]}
    form = modal(
        field("Channel", "conversations_select", initial_conversation=TRIAGE, filter=channels),
        field("Categories", "multi_external_select", min_query_length=0),
    )
    dialog = await opened(ana, app, form)
    channel = dialog.get_by_role("combobox", name="Channel")
    await expect(channel).to_have_value("# triage")
    await channel.click()
    offered = ana.page.get_by_role("option")
    await expect(offered).to_contain_text(["# general", "# webshop", "# triage", "# leadership"])
    await expect(offered).to_have_count(4)
    await expect(offered.filter(has_text="# leadership")).to_contain_text("Private")
    await offered.filter(has_text="# leadership").click()
    categories = dialog.get_by_role("combobox", name="Categories")
    await categories.click()
    for name in option:
        await ana.page.get_by_role("option", name=name).click()
    await categories.press("Escape")
    await dialog.get_by_role("button", name="Remove Checkout").click()
    await ana.press(dialog, "Create")
    await expect(dialog).to_be_hidden()

    values = await submitted(app)
    assert values["Channel"]["selected_conversation"] == LEADERS
    assert values["Categories"]["selected_options"] == [option["Search"]]


async def submitted(app: App) -> Json:
    """Return the values of the next submission."""
    while (payload := await app.next())["type"] != "view_submission":
        pass
    values: Json = payload["view"]["state"]["values"]
    return {block: actions["value"] for block, actions in values.items()}


async def test_rich_text_input_returns_rich_text(ana: Visitor, app: App) -> None:
    before = rich_text(
        rich_section("Found by ", {"type": "user", "user_id": BEN.slack_id}, ":\n"), listed("ordered", "pay")
    )
    form = modal(
        field("Known", "rich_text_input", initial_value=before), field("Description", "rich_text_input")
    )
    dialog = await opened(ana, app, form)
    known = dialog.get_by_role("textbox", name="Known")
    await expect(known).to_have_text("Found by @Ben:\npay")
    await known.press("Control+End")
    await known.press("!")
    await dialog.get_by_text("Description").click()
    for keys in (
        *("See https://shop.example/1. ", "Control+b", "Broken", "Control+b", "Enter"),
        *("- first", "Enter", "second", "Enter", "Enter", "> said", "Enter", "more", "Enter", "Enter"),
        *("Control+Alt+Shift+c", "x = 1", "Enter", "Enter", "Enter", "end"),
    ):
        await (ana.page.keyboard.press if keys == "Enter" or "+" in keys else ana.page.keyboard.type)(keys)
    await ana.press(dialog, "Create")

    values = await submitted(app)
    assert values["Known"]["rich_text_value"] == rich_text(before["elements"][0], listed("ordered", "pay!"))
    link = {"type": "link", "url": "https://shop.example/1"}
    bold = {"type": "text", "text": "Broken", "style": {"bold": True}}
    assert values["Description"]["rich_text_value"] == rich_text(
        rich_section("See ", link, ". ", bold, "\n"),
        listed("bullet", "first", "second"),
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "said\nmore"}]},
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "x = 1"}]},
        rich_section("end"),
    )


async def test_long_message_renders_title_bars_and_menus(ana: Visitor, app: App) -> None:
    options = [{"text": plain(name), "value": name} for name in ("Show", "Log time")]
    menu = {"type": "overflow", "action_id": "line", "options": options}
    blocks: list[Json] = [
        {"type": "header", "text": plain("Web Shop: 2 new issues")},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "▁▂▃▄▅▆▇█ more than usual"}]},
        *(
            {"type": "section", "block_id": str(n), "text": plain(f"#{n} Broken"), "accessory": menu}
            for n in (367, 368)
        ),
    ]
    await ana.go_to("# triage")
    await app.web.chat_postMessage(channel=TRIAGE, text="2 new issues", blocks=blocks)

    message = ana.message("2 new issues")
    await expect(message.get_by_role("heading", name="Web Shop: 2 new issues")).to_be_visible()
    await expect(message.get_by_text("▁▂▃▄▅▆▇█ more than usual")).to_be_visible()
    await message.get_by_role("button", name="More options").nth(1).click()
    await ana.page.get_by_role("menuitem", name="Log time").click()

    action = (await app.next())["actions"][0]
    assert (action["block_id"], action["selected_option"]["value"]) == ("368", "Log time")


async def test_archived_channel_is_labeled_and_read_only(ana: Visitor, workspace: Workspace) -> None:
    channel = workspace.state.add_channel(Channel("C0OUTLET001", "outlet", "channel", {ANA.slack_id}))
    workspace.state.changed()
    await ana.go_to("# outlet")
    await expect(ana.composer).to_be_visible()

    workspace.state.archive(channel.id)

    await expect(ana.page.get_by_text("#outlet is archived, so you can't post in it.")).to_be_visible()
    await expect(ana.composer).to_be_hidden()
    workspace.state.delete(channel.id)
    await expect(ana.page.get_by_role("button", name="# outlet")).to_have_count(0)
    await expect(ana.composer).to_be_visible()
