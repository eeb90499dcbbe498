"""All text has a contrast of 4.5:1, in light and dark, on wide and narrow screens."""

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
FAINT = Path(__file__).with_name("contrast.js").read_text()
LEAST = 4.5
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


async def check(page: Page, what: str) -> None:
    """Fail with the texts that are too faint."""
    assert await page.evaluate(FAINT, LEAST) == [], what


@SCHEMES
async def test_workspace_is_readable(ana: Visitor, scheme: str) -> None:
    page = ana.page
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    await ana.go_to("# webshop")
    for width in (400, 1280):
        await page.set_viewport_size({"width": width, "height": 860})
        await page.reload()
        await ana.composer.fill("")
        await ana.composer.press_sequentially("/iss")
        await expect(page.get_by_role("option")).to_have_count(2)
        await check(page, "commands and the selected one")
        await ana.composer.press_sequentially("ue ")
        await check(page, "hint")
        await ana.composer.press("Enter")
        form = ana.form("New issue")
        await ana.press(form, "More fields")
        await form.get_by_role("combobox", name="Priority").click()
        await check(page, "select")
        await page.keyboard.press("Enter")
        await ana.press(form, "Create")
        await expect(form.get_by_text("Please complete this required field.").first).to_be_visible()
        await check(page, "form with errors, and the button below the pointer")
        await ana.press(form, "Cancel")
        await expect(form).to_be_hidden()
        await ana.send("/issue 42")
        await expect(ana.message("Gift cards that are sent by mail").last).to_be_visible()
        await check(page, "card")
        await ana.send("/nonsense")
        await check(page, "notice")
        await ana.composer.fill("")
        await ana.switcher.click()
        await check(page, "people")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Control+g")
        await page.keyboard.type("cards")
        await check(page, "search")
        await page.keyboard.press("Escape")


@SCHEMES
async def test_home_violations_and_menus_are_readable(ana: Visitor, sandbox: Sandbox, scheme: str) -> None:
    page, state = ana.page, sandbox.workspace.state
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    await page.set_viewport_size({"width": 1280, "height": 860})
    await ana.go_to("Issue Bot")
    await expect(page.get_by_role("tabpanel", name="Home").get_by_role("button").first).to_be_visible()
    await check(page, "Home")
    await ana.go_to("# general")
    await ana.send(f"Readable in {scheme}, @Ben Okafor and @Ana Ruiz?")
    await ana.message(f"Readable in {scheme}").hover()
    await ana.message(f"Readable in {scheme}").get_by_role("button", name="More actions").click()
    await check(page, "menu")
    await page.get_by_role("menuitem", name="Delete message").hover()
    await check(page, "dangerous item below the pointer")
    await page.keyboard.press("Escape")
    state.violate("chat.postMessage", "text_too_long", "The text is too long.")
    await expect(ana.broken_rules).to_contain_text("text_too_long")
    await check(page, "broken rules")
    state.violations.clear()
    state.changed()


@SCHEMES
async def test_tracker_is_readable(ana: Visitor, sandbox: Sandbox, scheme: str) -> None:
    page = await ana.page.context.new_page()
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for path in ("/", "/issues", "/issues/42", "/time_entries", "/my/account", "/projects/security"):
        await page.goto(sandbox.service_url + path)
        await check(page, path)
    await page.goto(f"{sandbox.service_url}/issues/42")
    await page.get_by_label("Due date").fill("2001-01-01")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await check(page, "a refused change")
