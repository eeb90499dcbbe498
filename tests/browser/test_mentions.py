"""A person who has read nothing works in a thread by mentioning the bot."""

import re

import pytest
from playwright.async_api import Locator, expect

from bot.app_sandbox import Sandbox
from bot.sandbox.people import ANA
from tests.browser.visitor import OpenPage, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def mention(ana: Visitor, text: str) -> None:
    """Write to the bot in the open thread."""
    composer = ana.thread.get_by_role("textbox")
    await composer.fill(f"@Issue Bot {text}")
    await composer.press("Enter")


def answer(ana: Visitor, text: str | re.Pattern[str]) -> Locator:
    return ana.thread.get_by_role("article").filter(has_text=text).last


async def test_an_issue_is_created_and_changed_in_a_thread(sandbox: Sandbox, open_page: OpenPage) -> None:
    ana = await open_page(sandbox.url, ANA.name)
    await ana.go_to("# webshop")
    await ana.send("The cart forgets vouchers, any ideas?")
    await ana.use_shortcut(ana.message("The cart forgets vouchers").last, "Reply in thread")

    await mention(ana, "new The cart forgets its vouchers due friday")
    made = answer(ana, re.compile(r"Ana Ruiz created #\d+"))
    await expect(made).to_contain_text("The cart forgets its vouchers")
    await expect(answer(ana, "I used “due friday” to fill in fields")).to_be_visible()
    number = re.findall(r"#(\d+)", await made.inner_text())[0]

    await mention(ana, "find its vouchers")
    await expect(answer(ana, "Subject contains")).to_contain_text(f"#{number}")
    await mention(ana, f"assign {number} to me")
    await expect(answer(ana, "Assignee: Unassigned → Ana Ruiz")).to_be_visible()
    await mention(ana, f"{number} comment Only with two vouchers")
    await expect(answer(ana, f"Commented on #{number}")).to_be_visible()
    await mention(ana, f"log {number} 30m testing tried it")
    await expect(answer(ana, "Logged 30m")).to_be_visible()
    await mention(ana, f"follow {number}")
    await expect(answer(ana, re.compile(f"Updates to #{number}"))).to_be_visible()
    await mention(ana, "")
    await expect(answer(ana, "Create an issue")).to_be_visible()
