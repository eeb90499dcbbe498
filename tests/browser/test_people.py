"""Creating accounts from a Slack profile, and projects with a suggested identifier."""

import pytest
from playwright.async_api import expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import PRIVATE, OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_admin_creates_linked_account_from_slack_profile(sandbox: Sandbox, open_page: OpenPage) -> None:
    chris = await open_page(sandbox.url, "Chris Lindqvist")
    await chris.go_to("# general")
    await chris.send("/tracker user new @Gwen Adair ")
    form = chris.form("New account")
    await expect(form.get_by_label("First name")).to_have_value("Gwen")
    await expect(form.get_by_label("Email", exact=True)).to_have_value("gwen@harbor.example")

    await chris.press(form, "Create account")

    await expect(chris.message("Created an account for Gwen Adair")).to_contain_text(PRIVATE)
    gwen = await open_page(sandbox.url, "Gwen Adair")
    await gwen.go_to("Issue Bot")
    await expect(gwen.message("created an account for you in Larkspur")).to_contain_text("You're linked")
    await gwen.go_to("# general")
    await gwen.send("/tracker whoami")
    await expect(gwen.message("You're linked as Gwen Adair")).to_be_visible()


async def test_project_identifier_is_suggested_while_typing_its_name(
    sandbox: Sandbox, open_page: OpenPage
) -> None:
    chris = await open_page(sandbox.url, "Chris Lindqvist")
    await chris.go_to("# general")
    await chris.send("/tracker project new")
    form = chris.form("New project")
    name, identifier = (
        form.get_by_role("textbox", name=label, exact=True) for label in ("Name", "Identifier")
    )
    await name.press_sequentially("Route planner")
    await expect(identifier).to_have_value("route-planner")
    await expect(name).to_be_focused()
    await identifier.fill("routes")
    async with chris.page.expect_response(lambda answer: answer.request.method == "POST"):
        await name.fill("Route planner 2")  # the bot hears of it before the form is gone
    await form.get_by_label("Description").fill("Where the vans go")

    await chris.press(form, "Create project")

    made = chris.message("Created the project Route planner 2")
    await expect(made).to_contain_text("routes")
    await made.get_by_role("button", name="Use in this channel").click()
    await expect(chris.message("now uses Route planner 2")).to_contain_text(PRIVATE)
