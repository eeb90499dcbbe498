"""Logging time on the page with a command and the form, and editing it."""

import pytest
from playwright.async_api import expect

from bot.app_sandbox import Sandbox
from bot.sandbox.tracker.data import TimeEntry
from tests.browser.visitor import PRIVATE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def newest(sandbox: Sandbox) -> TimeEntry:
    return sandbox.tracker.data.time_entries[max(sandbox.tracker.data.time_entries)]


async def test_time_is_logged_shared_and_edited(sandbox: Sandbox, ana: Visitor) -> None:
    issue = next(i for i in sandbox.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    await ana.go_to("# webshop")

    # One-line command.
    await ana.send(f"/timelog {issue.id} 1h30 activity:design on:yesterday Pairing with Ben")
    answer = ana.message(f"Logged 1h 30m on #{issue.id} ")
    await expect(answer).to_contain_text("Design · yesterday · Pairing with Ben")
    await expect(answer).to_contain_text(PRIVATE)
    await expect(answer).to_contain_text("Logged with Issue Bot: nothing today")

    # Deleting asks first, with a red button.
    await answer.get_by_role("button", name="Delete entry").click()
    question = ana.page.get_by_role("alertdialog")
    delete = question.get_by_role("button", name="Delete entry")
    await expect(delete).to_have_css("background-color", "rgb(198, 32, 65)")
    await ana.page.keyboard.press("Escape")
    await expect(question).to_be_hidden()

    await answer.get_by_role("button", name="Share here").click()
    await expect(ana.message("Ana Ruiz logged 1h 30m")).to_contain_text("Pairing with Ben")

    # Edit the entry from its confirmation.
    await answer.get_by_role("button", name="Edit").click()
    form = ana.form("Edit time")
    await expect(form.get_by_label("Hours")).to_have_value("1.5")
    await form.get_by_label("Hours").fill("2,25")
    await ana.choose(form, "Activity", "Testing")
    await ana.press(form, "Save")
    await expect(form).to_be_hidden()
    await expect(ana.message("Changed to 2h 15m").filter(has_text="Testing · yesterday")).to_be_visible()
    assert (newest(sandbox).minutes, newest(sandbox).comments) == (135, "Pairing with Ben")

    # Shortcut: the form asks for the issue, then offers its activities.
    await ana.page.get_by_role("button", name="Shortcuts").click()
    await ana.page.get_by_role("menuitem", name="Log time").click()
    form = ana.form("Log time")
    await form.get_by_label("Hours").fill("45m")
    await ana.choose(form, "Issue", f"#{issue.id} {issue.subject}", f"#{issue.id}")
    await expect(form.get_by_label("Activity")).to_have_value("Testing")
    await expect(form.get_by_label("Hours")).to_have_value("45m")
    await ana.press(form, "Log time")
    await expect(ana.form("Time logged")).to_contain_text(f"Logged 45m on #{issue.id} ")
