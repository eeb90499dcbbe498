"""The main job from end to end, as a newcomer does it with nothing but the command's page."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.visitor import PRIVATE, Arrive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_newcomer_links_creates_finds_reads_and_shares(command: str, arrive: Arrive) -> None:
    ben = await arrive(command, "Ben Okafor")
    await ben.opens("# webshop")

    # A command typed before linking asks for the key; the panel has it. Then the command is carried out.
    await ben.types("/issue 12")
    link = ben.form("Link Tracker")
    await expect(link).to_contain_text("Link your account first.")
    await ben.page.get_by_role("button", name="Copy Ben Okafor's Tracker key").click()
    await expect(ben.page.get_by_text("Key copied.")).to_be_visible()
    await expect(link.get_by_label("API key")).to_be_focused()
    await ben.page.keyboard.press("Control+V")
    await ben.submits(link, "Link")
    linked = ben.form("Linked to Tracker")
    await expect(linked).to_contain_text("Ben Okafor")
    await ben.submits(linked, "Close")
    card = ben.message("#12 ").filter(has_text="Assignee")
    await expect(card).to_contain_text(PRIVATE)
    await expect(card.get_by_role("button", name="Share here")).to_be_visible()

    # One line creates an issue; the channel hears of it.
    await ben.types("/issue new Gift wrapping can't be ordered priority:high to:me")
    announced = ben.message("created Bug").filter(has_text="Gift wrapping can't be ordered")
    await expect(announced).to_contain_text("assigned to Ben Okafor")
    await expect(announced).not_to_contain_text(PRIVATE)

    # So does the form.
    await ben.types("/issue")
    form = ben.form("New issue")
    await form.get_by_label("Subject").fill("The voucher field is too short")
    await ben.chooses(form, "Priority", "Urgent")
    await ben.submits(form, "Create")
    await expect(form).to_be_hidden()
    await expect(ben.message("The voucher field is too short")).to_contain_text("Urgent")

    # A search says how it was understood, and pages.
    await ben.types("/issues project:webshop status:any")
    found = ben.message("Status: any")
    await expect(found).to_contain_text(PRIVATE)
    await expect(found).to_contain_text(re.compile(r"\d+ issues, 1–10"))
    await found.get_by_role("button", name="Next ›").click()
    await expect(found).to_contain_text("11–20")

    # A result is shared with the channel: its number was seen in the list, and is in what Ana sees.
    first = found.get_by_role("link", name=re.compile(r"^#\d+ ")).first
    subject = await first.inner_text()
    await found.get_by_role("button", name="More options").first.click()
    await ben.page.get_by_role("menuitem", name="Share here").click()
    await expect(ben.message("@Ben shares").filter(has_text=subject)).to_be_visible()
    await ben.acts_as("Ana Ruiz")
    await expect(ben.message("@Ben shares").filter(has_text=subject)).to_be_visible()
