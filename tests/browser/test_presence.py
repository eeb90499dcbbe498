"""Link previews, similar issues in the form, and the Home tab."""

import pytest
from playwright.async_api import expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_similar_issues_appear_without_interrupting_typing(sandbox: Sandbox, ana: Visitor) -> None:
    there = next(i for i in sandbox.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    there.subject = "Gift wrapping forgets the ribbon colour"
    there.status_id = 1
    await ana.go_to("# webshop")
    await ana.send("/issue")
    form = ana.form("New issue")
    subject = form.get_by_label("Subject")

    await subject.press_sequentially("Ribbon colour of gift wrapping", delay=20)
    await expect(form.get_by_text("similar subject")).to_be_visible()
    await subject.press_sequentially(" is lost", delay=20)

    await expect(subject).to_be_focused()
    await expect(subject).to_have_value("Ribbon colour of gift wrapping is lost")
    await expect(form.get_by_role("link", name=f"#{there.id} {there.subject}")).to_be_visible()
    await ana.press(form, "Create")
    announced = ana.announced("Ribbon colour of gift wrapping is lost")
    await announced.get_by_role("button", name="More options").click()
    await ana.page.get_by_role("menuitem", name="Delete post (only Ana)").click()
    await ana.page.get_by_role("button", name="Delete post").click()
    await expect(announced).to_be_hidden()


async def test_link_shows_a_card_and_private_details(sandbox: Sandbox, ana: Visitor) -> None:
    there = next(i for i in sandbox.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    await ana.go_to("# general")

    await ana.send(f"Have a look: {sandbox.service_url.rstrip('/')}/issues/{there.id}")

    message = ana.message("Have a look")
    await expect(message).to_contain_text(f"#{there.id} {there.subject}")
    await message.get_by_role("button", name="View details").click()
    details = ana.page.get_by_role("dialog")
    await expect(details).to_contain_text("Created by")
    await expect(details).to_contain_text(there.subject)
    await ana.page.keyboard.press("Escape")
    await expect(details).to_be_hidden()


async def test_home_tab_shows_own_issues(ana: Visitor) -> None:
    await ana.go_to("Issue Bot")

    home = ana.page.get_by_role("tabpanel", name="Home")
    await expect(home).to_contain_text("You're linked to Larkspur as Ana Ruiz")
    await expect(home.get_by_role("heading", name="My open issues")).to_be_visible()
    await home.get_by_role("button", name="More options").first.click()
    await ana.page.get_by_role("menuitem", name="Assign to me").click()
    await expect(ana.page.get_by_role("dialog")).to_contain_text("is already assigned to you")
