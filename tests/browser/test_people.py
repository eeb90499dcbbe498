"""Accounts and projects are made in forms: from a Slack profile, and with an identifier that is suggested."""

import pytest
from playwright.async_api import expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import PRIVATE, Arrive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_an_administrator_makes_an_account_from_a_slack_profile_and_it_is_linked(
    sandbox: Sandbox, arrive: Arrive
) -> None:
    chris = await arrive(sandbox.url, "Chris Lindqvist")
    await chris.opens("# general")
    await chris.types("/tracker user new @Gwen Adair ")
    form = chris.form("New account")
    await expect(form.get_by_label("First name")).to_have_value("Gwen")
    await expect(form.get_by_label("Mail", exact=True)).to_have_value("gwen@harbor.example")

    await chris.submits(form, "Create")

    await expect(chris.message("Created an account for Gwen Adair")).to_contain_text(PRIVATE)
    gwen = await arrive(sandbox.url, "Gwen Adair")
    await gwen.opens("Issue Bot")
    await expect(gwen.message("created an account for you in Tracker")).to_contain_text("It is linked to you")
    await gwen.opens("# general")
    await gwen.types("/tracker whoami")
    await expect(gwen.message("In Tracker you are Gwen Adair")).to_be_visible()


async def test_a_projects_identifier_is_suggested_while_its_name_is_typed(
    sandbox: Sandbox, arrive: Arrive
) -> None:
    chris = await arrive(sandbox.url, "Chris Lindqvist")
    await chris.opens("# general")
    await chris.types("/tracker project new")
    form = chris.form("New project")
    name, identifier = (
        form.get_by_role("textbox", name=label, exact=True) for label in ("Name", "Identifier")
    )
    await name.press_sequentially("Route planner")
    await expect(identifier).to_have_value("route-planner")
    await expect(name).to_be_focused()
    await identifier.fill("routes")
    await name.fill("Route planner 2")
    await form.get_by_label("Description").fill("Where the vans go")

    await chris.submits(form, "Create")

    made = chris.message("Created the project Route planner 2")
    await expect(made).to_contain_text("routes")
    await made.get_by_role("button", name="Make it this channel's project").click()
    await expect(chris.message("are in Route planner 2 from now on")).to_contain_text(PRIVATE)
