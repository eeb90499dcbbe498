"""The tracker's own page, where an issue changes behind the bot's back."""

import pytest
from playwright.async_api import Page, expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
ISSUE = 12


async def opened(ana: Visitor, sandbox: Sandbox) -> Page:
    page = await ana.page.context.new_page()
    await page.goto(f"{sandbox.service_url}/issues/{ISSUE}")
    return page


async def test_issue_changes_as_any_person(ana: Visitor, sandbox: Sandbox) -> None:
    page = await opened(ana, sandbox)
    await page.get_by_role("combobox", name="As", exact=True).select_option("Chris Lindqvist")
    await page.get_by_role("combobox", name="Status").select_option("Feedback")
    await page.get_by_role("combobox", name="Assignee").select_option("Dana Novak")
    await page.get_by_role("combobox", name="Priority").select_option("Urgent")
    await page.get_by_label("Due date").fill("2031-05-17")
    await page.get_by_label("Comment").fill("Rounded *down* now.")
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_text("Rounded down now.")).to_be_visible()
    await expect(page.locator("dl")).to_contain_text("Due date2031-05-17")
    await expect(page.get_by_role("combobox", name="As", exact=True).locator("option:checked")).to_have_text(
        "Chris Lindqvist"
    )
    issue, users = sandbox.tracker.data.issues[ISSUE], sandbox.tracker.data.users
    assert (users[issue.notes[-1].user_id].login, users[issue.assigned_to_id or 0].login) == ("chris", "dana")
    changed = {detail.name for detail in issue.notes[-1].details}
    assert changed == {"status_id", "assigned_to_id", "priority_id", "due_date"}


async def test_page_says_what_was_not_changed(ana: Visitor, sandbox: Sandbox) -> None:
    issue = sandbox.tracker.data.issues[ISSUE]
    page, stale = await opened(ana, sandbox), await opened(ana, sandbox)
    await page.get_by_label("Comment").fill("First")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("First", exact=True)).to_be_visible()
    status, notes = issue.status_id, len(issue.notes)

    await stale.get_by_label("Comment").fill("Second")
    await stale.get_by_role("button", name="Save").click()
    await expect(stale.get_by_role("alert")).to_contain_text("This issue has changed since you opened it.")
    await expect(stale.get_by_label("Comment")).to_have_value("Second")

    await page.get_by_role("combobox", name="As", exact=True).select_option("Ben Okafor")
    await page.get_by_role("combobox", name="Status").select_option("Rejected")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("Ben Okafor can't change this issue.")
    assert (issue.status_id, len(issue.notes)) == (status, notes)
