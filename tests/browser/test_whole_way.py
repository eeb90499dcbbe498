"""The main workflow end to end, as a newcomer with nothing but the page."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.visitor import PRIVATE, OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_newcomer_links_creates_finds_and_shares_issues(sandbox_url: str, open_page: OpenPage) -> None:
    ben = await open_page(sandbox_url, "Ben Okafor")
    await expect(ben.switcher).to_contain_text("not linked")
    await ben.go_to("# webshop")

    # A command before linking asks for the API key, which the panel shows; then the command runs.
    await ben.send("/issue 12")
    link = ben.form("Link account")
    await expect(link).to_contain_text("Link your account first.")
    await ben.page.get_by_role("button", name="Copy Ben Okafor's Larkspur key").click()
    await expect(ben.page.get_by_text("Key copied.")).to_be_visible()
    await expect(link.get_by_label("API key")).to_be_focused()
    await ben.page.keyboard.press("Control+V")
    await ben.press(link, "Link account")
    linked = ben.form("Account linked")
    await expect(linked).to_contain_text("Ben Okafor")
    await ben.press(linked, "Close")
    await expect(ben.switcher).not_to_contain_text("not linked")
    card = ben.message("#12 ").filter(has_text="Assignee")
    await expect(card).to_contain_text(PRIVATE)
    await expect(card.get_by_role("button", name="Share here")).to_be_visible()

    # One line creates an issue and announces it in the channel.
    await ben.send("/issue new Gift wrapping can't be ordered priority:high to:me")
    announced = ben.announced("Gift wrapping can't be ordered")
    await expect(announced).to_contain_text("assigned to Ben Okafor")
    await expect(announced).not_to_contain_text(PRIVATE)

    # So does the form.
    await ben.send("/issue")
    form = ben.form("New issue")
    await form.get_by_label("Subject").fill("The voucher field is too short")
    await ben.press(form, "More fields")
    await ben.choose(form, "Priority", "Urgent")
    await ben.press(form, "Create")
    await expect(form).to_be_hidden()
    await expect(ben.announced("The voucher field is too short")).to_contain_text("Urgent")

    # A search explains its filters and has pages.
    await ben.send("/issues project:webshop status:any")
    results = ben.message("Status: any")
    await expect(results).to_contain_text(PRIVATE)
    await expect(results).to_contain_text(re.compile(r"1–10 of \d+"))
    await results.get_by_role("button", name="Next ›").click()
    await expect(results).to_contain_text("11–20")

    # Share the result with the channel.
    first = results.get_by_role("link", name=re.compile(r"^#\d+ ")).first
    subject = await first.inner_text()
    await results.get_by_role("button", name="More options").first.click()
    await ben.page.get_by_role("menuitem", name="Share here").click()
    await expect(ben.message("Ben Okafor shared").filter(has_text=subject)).to_be_visible()
    await ben.switch_user("Ana Ruiz")
    await expect(ben.message("Ben Okafor shared").filter(has_text=subject)).to_be_visible()
