"""Logging time on the page: by command, with a question before it is deleted, and by a shortcut's form."""

import pytest
from playwright.async_api import expect

from tests.browser.visitor import PRIVATE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ISSUE = "#12 Delivery costs differ between cart and invoice"


async def test_deleting_time_asks_first_with_a_red_button(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.send("/timelog 12 1h30 activity:design on:yesterday Pairing with Ben")
    answer = ana.message("Logged 1h 30m on #12 ")
    await expect(answer).to_contain_text("Design · yesterday · Pairing with Ben")
    await expect(answer).to_contain_text(PRIVATE)

    await answer.get_by_role("button", name="Delete entry").click()
    question = ana.page.get_by_role("alertdialog")
    delete = question.get_by_role("button", name="Delete entry")
    await expect(delete).to_have_css("background-color", "rgb(198, 32, 65)")
    await ana.page.keyboard.press("Escape")
    await expect(question).to_be_hidden()
    await expect(answer).to_be_visible()


async def test_a_global_shortcut_opens_a_form_that_keeps_what_is_typed(ana: Visitor) -> None:
    await ana.page.get_by_role("button", name="Shortcuts").click()
    await ana.page.get_by_role("menuitem", name="Log time").click()
    form = ana.form("Log time")
    await form.get_by_label("Hours").fill("45m")
    await ana.choose(form, "Issue", ISSUE, "#12")
    await ana.choose(form, "Activity", "Testing")
    await expect(form.get_by_label("Hours")).to_have_value("45m")
    await ana.press(form, "Log time")
    await expect(ana.form("Time logged")).to_contain_text("Logged 45m on #12 ")
    await ana.press(ana.form("Time logged"), "Close")
