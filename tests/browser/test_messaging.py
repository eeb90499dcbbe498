"""Messaging as in Slack: emoji, editing, direct messages, search, formatting, unread marks."""

import pytest
from playwright.async_api import Locator, expect

from bot.app_sandbox import Sandbox
from bot.sandbox.people import ANA, BEN
from tests.browser.visitor import WIDE_VIEWPORT, OpenPage, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def places(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("navigation", name="Channels and people")


async def test_emoji_come_from_names_and_from_the_picker(ana: Visitor) -> None:
    await ana.go_to("# general")
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


async def test_quick_switcher_goes_to_channels_by_keyboard(ana: Visitor) -> None:
    await ana.go_to("# general")
    await ana.page.keyboard.press("Control+k")
    switcher = ana.page.get_by_role("combobox", name="Go to a channel or person")
    await expect(switcher).to_be_focused()
    await ana.page.keyboard.press("Escape")
    await expect(switcher).to_be_hidden()

    await ana.page.keyboard.press("Control+k")
    await ana.page.keyboard.type("web")
    await expect(ana.page.get_by_role("option")).to_have_count(1)
    await ana.page.keyboard.press("Enter")

    await expect(ana.page.get_by_role("heading", name="webshop", exact=True)).to_be_visible()
    await expect(ana.composer).to_be_focused()


async def test_arrow_up_edits_ones_last_message(ana: Visitor) -> None:
    await ana.go_to("# general")
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


async def test_people_write_each_other_and_only_they_read_it(sandbox: Sandbox, open_page: OpenPage) -> None:
    ana = await open_page(sandbox.url, ANA.name)
    ben = await open_page(sandbox.url, BEN.name)
    await ana.page.get_by_role("button", name="New message").click()
    await ana.page.keyboard.type("ben")
    await ana.page.get_by_role("option", name=BEN.name).click()
    await expect(ana.page.get_by_role("heading", name=BEN.name, exact=True).first).to_be_visible()
    await ana.send("Between the two of us")

    row = places(ben).get_by_role("listitem").filter(has_text=ANA.name)
    await expect(row).to_contain_text("1")
    await ben.go_to(ANA.name)
    await expect(ben.message("Between the two of us")).to_be_visible()
    await expect(row).not_to_contain_text("1")
    await ana.switch_user("Chris Lindqvist")
    await expect(places(ana).get_by_role("button", name=BEN.name)).to_be_hidden()


async def test_search_finds_a_message_and_opens_it(ana: Visitor) -> None:
    await ana.go_to("# general")
    await ana.page.keyboard.press("Control+g")
    await expect(ana.page.get_by_text("Type to search")).to_be_visible()
    await ana.page.keyboard.type("zzz")
    await expect(ana.page.get_by_text("No matches")).to_be_visible()
    await ana.page.get_by_role("combobox", name="Search messages").fill("missing recalculation")
    await expect(ana.page.get_by_role("option")).to_contain_text("I can reproduce this.")
    await expect(ana.page.get_by_role("option")).to_contain_text("Ana Ruiz · #webshop · ")
    await ana.page.keyboard.press("Enter")

    await expect(ana.thread.get_by_text("I can reproduce this.")).to_be_in_viewport()


async def test_formatting_applies_to_the_selection(ana: Visitor) -> None:
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


async def test_red_counts_are_for_mentions_and_direct_messages_only(
    sandbox: Sandbox, open_page: OpenPage
) -> None:
    ana = await open_page(sandbox.url, ANA.name)
    ben = await open_page(sandbox.url, BEN.name)
    await ben.go_to("# webshop")
    row = places(ben).get_by_role("listitem").filter(has_text="general")
    await ana.go_to("# general")
    await ana.send("Just so that you know")
    await expect(row.get_by_text("general")).to_have_css("font-weight", "700")
    await expect(row).to_have_text("#general")

    await ana.send("This is for you, @Ben Okafor")
    await expect(row).to_have_text("#general1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_narrow_page_fits_the_composer_and_the_finder(ana: Visitor, scheme: str) -> None:
    await ana.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await ana.page.set_viewport_size({"width": 600, "height": 800})
    await expect(ana.page.get_by_role("toolbar", name="Formatting").first).to_be_in_viewport(ratio=1)
    await expect(ana.page.get_by_role("main").get_by_role("button", name="Send message")).to_be_in_viewport(
        ratio=1
    )
    await ana.page.get_by_role("button", name="Search messages").click()

    await expect(ana.page.get_by_role("dialog", name="Search messages")).to_be_in_viewport(ratio=1)
    assert await ana.page.evaluate("document.documentElement.scrollWidth") <= 600
    await ana.page.keyboard.press("Escape")
    await ana.page.set_viewport_size(WIDE_VIEWPORT)
