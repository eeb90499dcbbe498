"""The page's controls: the composer, drafts, toolbars, notices, invitations, narrow screens."""

import pytest
from playwright.async_api import expect

from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_composer_completes_commands_and_emoji(ana: Visitor) -> None:
    await ana.go_to("# general")
    await ana.composer.press_sequentially("/iss")
    await expect(ana.page.get_by_role("option")).to_have_count(2)
    await ana.composer.press("ArrowDown")
    await ana.composer.press("Tab")
    await expect(ana.composer).to_have_value("/issues ")
    await expect(ana.page.get_by_role("note")).to_contain_text("status:")

    await ana.composer.fill("")
    await ana.composer.press_sequentially("Shipped :rock")
    await expect(ana.page.get_by_role("option", name=":rocket:")).to_be_visible()
    await ana.composer.press("Tab")
    await expect(ana.composer).to_have_value("Shipped :rocket: ")
    await ana.page.get_by_role("main").get_by_role("button", name="Emoji").press("Enter")
    picker = ana.page.get_by_role("dialog", name="Emoji")
    await ana.page.keyboard.type("tada")
    await expect(picker.get_by_role("button")).to_have_count(1)
    await ana.page.keyboard.press("Enter")
    await expect(picker).to_be_hidden()
    await expect(ana.composer).to_be_focused()
    await ana.composer.press("Enter")
    await expect(ana.message("Shipped 🚀 🎉")).to_be_visible()


async def test_composer_formats_and_edits_messages(ana: Visitor) -> None:
    await ana.go_to("# general")
    main = ana.page.get_by_role("main")
    await ana.composer.fill("very")
    await ana.composer.press("Control+a")
    await ana.composer.press("Control+b")
    await main.get_by_role("button", name="Italic").click()
    await expect(ana.composer).to_have_value("*_very_*")
    await main.get_by_role("button", name="Italic").click()
    await expect(ana.composer).to_have_value("*very*")

    await ana.composer.fill("one\ntwo")
    await ana.composer.press("Control+a")
    await main.get_by_role("button", name="Bulleted list").press("Enter")
    await expect(ana.composer).to_have_value("• one\n• two")

    await ana.composer.fill("the shop")
    await ana.composer.press("Control+a")
    await main.get_by_role("button", name="Link", exact=True).click()
    await ana.page.keyboard.type("shop.example")
    await expect(ana.composer).to_have_value("[the shop](https://shop.example)")
    await ana.composer.press("Enter")
    link = ana.message("the shop").get_by_role("link", name="the shop")
    await expect(link).to_have_attribute("href", "https://shop.example/")

    await ana.send("Lunch at noon, @Ben Okafor?")
    await expect(ana.message("Lunch at noon, @Ben?")).to_be_visible()
    await ana.composer.press("ArrowUp")
    await expect(ana.composer).to_have_value("Lunch at noon, @Ben Okafor?")
    await ana.composer.press("Escape")
    await expect(ana.composer).to_have_value("")
    await ana.composer.press("ArrowUp")
    await ana.composer.fill("Lunch at one, @Ben Okafor?")
    await ana.composer.press("Enter")
    await expect(ana.message("Lunch at one, @Ben?")).to_contain_text("(edited)")
    await expect(ana.message("Lunch at noon")).to_have_count(0)
    await expect(ana.composer).to_have_value("")


async def test_usage_hints_are_complete_on_a_small_laptop(ana: Visitor) -> None:
    await ana.page.set_viewport_size({"width": 1280, "height": 800})
    cut_off = (
        "(node) => [...node.querySelectorAll('*')].some((part) => part.scrollWidth > part.clientWidth + 1)"
    )
    await ana.composer.fill("")
    await ana.composer.press_sequentially("/")
    suggestions = ana.page.get_by_role("listbox", name="Suggestions")
    commands = [
        await name.inner_text() for name in await suggestions.get_by_role("option").locator("b").all()
    ]
    assert "/issue" in commands
    assert not await suggestions.evaluate(cut_off)
    for command in commands:
        await ana.composer.fill(f"{command} ")
        hint = ana.page.get_by_role("note")
        await expect(hint).to_contain_text(command)
        assert not await hint.evaluate(cut_off), command


async def test_focus_starts_in_the_composer_and_returns_after_dialogs(ana: Visitor) -> None:
    await expect(ana.composer).to_be_focused()
    await ana.send("/issue")
    await ana.press(ana.form("New issue"), "Cancel")
    await expect(ana.form("New issue")).to_be_hidden()
    await expect(ana.composer).to_be_focused()

    search = ana.page.get_by_role("button", name="Search messages")
    await search.click()
    await ana.page.keyboard.press("Escape")
    await expect(search).to_be_focused()

    await ana.go_to("# webshop")
    message = ana.message("A customer can't pay").first
    await ana.use_shortcut(message, "Create an issue")
    form = ana.form("New issue")
    await expect(form.get_by_label("Subject")).not_to_be_empty()
    await ana.press(form, "Create")
    await expect(form).to_be_hidden()  # and the message is redrawn with one more reply
    await expect(message.get_by_role("button", name="More actions")).to_be_focused()


async def test_examples_start_with_what_the_user_has_not_done(ana: Visitor) -> None:
    examples = ana.page.get_by_role("region", name="Try this").get_by_role("listitem")
    await expect(examples.filter(has_text="/tracker link")).to_contain_text("Done")  # Ana is linked
    await ana.send("/tracker help")
    await expect(examples.filter(has_text="/tracker help")).to_contain_text("Done")

    done = ["Done" in text for text in await examples.all_inner_texts()]
    assert done == sorted(done)
    assert not done[0]


async def test_reload_keeps_the_draft(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.composer.fill("Half a thought")
    await ana.page.get_by_label("Upload from your computer").first.set_input_files(
        {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"plan"}
    )
    file = ana.page.get_by_role("button", name="Remove plan.txt")
    await expect(ana.page.get_by_role("main")).to_contain_text("plan.txt4 B")

    await ana.page.reload()
    await expect(ana.composer).to_have_value("Half a thought")
    await expect(file).to_be_visible()
    await ana.composer.press("Enter")
    await expect(ana.message("Half a thought")).to_contain_text("plan.txt")

    await ana.page.reload()
    await expect(ana.message("Half a thought")).to_be_visible()
    await expect(ana.composer).to_have_value("")
    await expect(file).to_be_hidden()


async def test_button_invites_the_missing_bot(ana: Visitor) -> None:
    await ana.go_to("# leadership")
    invite = ana.page.get_by_role("button", name="Issue Bot isn't in this channel")
    await invite.click()

    await expect(ana.page.get_by_text("Issue Bot joined #leadership.")).to_be_visible()
    await expect(invite).to_be_hidden()
    await ana.send("/issue new Gift cards can't be combined project:webshop")
    await expect(ana.announced("Gift cards can't be combined")).to_be_visible()
    await ana.send("/invite @Issue Bot")
    await expect(ana.page.get_by_text("Issue Bot is already in #leadership.")).to_be_visible()


async def test_only_one_message_shows_its_toolbar(ana: Visitor) -> None:
    await ana.go_to("# partners")
    messages = ana.page.get_by_role("main").get_by_role("article")
    toolbar = ana.page.get_by_role("group", name="Message actions").filter(visible=True)

    async def count() -> int:
        opacities = await toolbar.evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).opacity)")
        return list(opacities).count("1")

    await messages.nth(0).get_by_role("button", name="More actions").focus()
    assert await count() == 1
    await messages.nth(1).hover()
    assert await count() == 1
    await messages.nth(1).get_by_role("button", name="More actions").click()
    await messages.nth(0).hover()
    assert await count() == 1


async def test_notices_disappear_after_four_seconds(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.page.clock.install()
    await ana.send("/nonsense")
    notice = ana.page.get_by_text("/nonsense is not a valid command.")
    await expect(notice).to_be_visible()

    await ana.page.clock.run_for(4_000)

    await expect(notice).to_have_count(0, timeout=1)


async def test_narrow_page_has_a_drawer_and_fits_its_parts(ana: Visitor) -> None:
    page = ana.page
    await page.set_viewport_size({"width": 600, "height": 800})
    channels = page.get_by_role("navigation", name="Channels and people")
    toggle = page.get_by_role("button", name="Channels", exact=True)
    await expect(channels).to_be_hidden()
    await toggle.click()
    await ana.go_to("# webshop")
    await expect(channels).to_be_hidden()
    await expect(page.get_by_role("heading", name="webshop", exact=True)).to_be_visible()
    await toggle.click()
    await expect(channels).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(channels).to_be_hidden()
    await expect(toggle).to_be_focused()

    await expect(page.get_by_role("toolbar", name="Formatting").first).to_be_in_viewport(ratio=1)
    send = page.get_by_role("main").get_by_role("button", name="Send message")
    await expect(send).to_be_in_viewport(ratio=1)
    await page.get_by_role("button", name="Search messages").click()
    await expect(page.get_by_role("dialog", name="Search messages")).to_be_in_viewport(ratio=1)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 600
    await page.keyboard.press("Escape")

    await ana.send("/issue")
    await expect(ana.form("New issue").get_by_label("Subject")).to_be_visible()
    form = await ana.form("New issue").bounding_box()
    sandbox = await page.get_by_role("button", name="Sandbox", exact=True).bounding_box()
    assert form
    assert sandbox
    assert form["y"] >= sandbox["y"] + sandbox["height"]
    await ana.press(ana.form("New issue"), "Cancel")

    await page.set_viewport_size({"width": 1600, "height": 900})
    await expect(channels).to_be_visible()
    await expect(toggle).to_be_hidden()
