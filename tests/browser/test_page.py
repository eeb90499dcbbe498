"""The page: ephemeral messages, the composer's suggestions, the Home tab and the rules panel."""

import pytest
from playwright.async_api import expect
from slack_sdk.errors import SlackApiError

from bot.app_sandbox import Sandbox
from tests.browser.visitor import PRIVATE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_ephemeral_replies_are_labeled_and_hidden_from_others(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.send("/tracker whoami")
    answer = ana.message("You're linked as Ana Ruiz")
    await expect(answer).to_contain_text(PRIVATE)
    await ana.send("Back in a minute.")

    await ana.switch_user("Chris Lindqvist")
    await expect(ana.message("Back in a minute.")).to_be_visible()
    await expect(answer).to_have_count(0)
    await ana.send("/tracker whoami")
    await expect(ana.message("You're linked as Chris Lindqvist")).to_contain_text("Administrator")

    await ana.switch_user("Ana Ruiz")
    await answer.get_by_role("button", name="Dismiss message").click()
    await expect(answer).to_have_count(0)


async def test_composer_completes_commands_and_shows_hints(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.composer.press_sequentially("/iss")
    offered = ana.page.get_by_role("option")
    await expect(offered).to_have_count(2)
    await ana.composer.press("ArrowDown")
    await ana.composer.press("Tab")
    await expect(ana.composer).to_have_value("/issues ")
    await expect(ana.page.get_by_role("note")).to_contain_text("status:")

    await ana.composer.press_sequentially("to:me")
    await ana.composer.press("Enter")

    await expect(ana.message("Assignee: me")).to_contain_text(PRIVATE)
    await expect(ana.composer).to_have_value("")


async def test_home_tab_shows_the_user_and_starts_an_issue(ana: Visitor) -> None:
    await ana.go_to("Issue Bot")
    home = ana.page.get_by_role("tabpanel", name="Home")
    await expect(home).to_contain_text("You're linked to Larkspur as Ana Ruiz")

    await home.get_by_role("button", name="Create an issue").click()
    await ana.press(ana.form("New issue"), "Cancel")

    await ana.switch_user("Ben Okafor")
    await expect(home.get_by_role("button", name="Link account")).to_be_visible()


async def test_broken_rule_is_shown(ana: Visitor, sandbox: Sandbox) -> None:
    channel = next(c.id for c in sandbox.workspace.state.channels.values() if c.name == "general")
    divider = {"type": "divider"}

    with pytest.raises(SlackApiError, match="invalid_blocks"):
        await sandbox.bot.slack.chat_postMessage(channel=channel, text="Too much", blocks=[divider] * 51)

    await expect(ana.broken_rules).to_contain_text("chat.postMessage")
    sandbox.workspace.violations.clear()  # this violation is the test's, not the bot's
    await ana.page.reload()
