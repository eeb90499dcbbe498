"""Forms keep their input, follow typing, and open from messages."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from bot.app_sandbox import HOST, Sandbox
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_form_keeps_input_if_refreshed_or_rejected(ana: Visitor, sandbox: Sandbox) -> None:
    await ana.go_to("# webshop")
    await ana.send("/issue")
    form = ana.form("New issue")
    subject, severity = form.get_by_label("Subject"), form.get_by_label("Severity")
    description = form.get_by_role("textbox", name="Description")
    await subject.fill("Crash on start")
    await description.fill("1. open\n2. wait")
    await ana.press(form, "More fields")
    await ana.choose(form, "Priority", "Urgent")
    await expect(severity).to_be_hidden()

    async def input_is_kept() -> None:
        await expect(subject).to_have_value("Crash on start")
        await expect(description).to_contain_text("2. wait")
        await expect(form.get_by_role("combobox", name="Priority")).to_have_value("Urgent")

    await ana.choose(form, "Project", "Mobile App", typed="mob")
    await expect(severity).to_be_visible()
    await input_is_kept()

    await ana.press(form, "Create")
    await expect(severity).to_have_accessible_description(re.compile("^Severity cannot be blank"))
    await expect(severity).to_be_focused()
    await input_is_kept()

    await ana.choose(form, "Severity", "Major", "Maj")
    port = urlsplit(sandbox.service_url).port or 0
    await sandbox.tracker.stop()
    await ana.press(form, "Create")
    await expect(form).to_contain_text("I can't reach Larkspur. Try again in a minute.")
    await input_is_kept()

    await sandbox.tracker.start(HOST, port)
    await ana.press(form, "Create")
    await expect(form).to_be_hidden()
    await expect(ana.announced("Crash on start")).to_have_count(1)


async def test_a_closed_form_is_continued(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.send("/issue")
    form = ana.form("New issue")
    await form.get_by_label("Subject").fill("Crash on stop")
    await ana.choose(form, "Assignee", "Ana Ruiz (me)", typed="me")
    await ana.press(form, "Cancel")

    await ana.send("/issue")
    await ana.press(form, "Continue draft")

    await expect(form.get_by_label("Subject")).to_have_value("Crash on stop")
    await expect(form.get_by_role("combobox", name="Assignee")).to_have_value("Ana Ruiz (me)")
    await ana.press(form, "Cancel")


async def test_similar_issues_appear_without_interrupting_typing(sandbox: Sandbox, ana: Visitor) -> None:
    there = next(i for i in sandbox.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    there.subject = "Gift wrapping forgets the ribbon colour"
    there.status_id = 1
    await ana.go_to("# webshop")
    await ana.send("/issue")
    form = ana.form("New issue")
    subject = form.get_by_label("Subject")

    await subject.press_sequentially("Ribbon colour of gift wrapping", delay=20)
    await expect(form.get_by_text("Possible duplicate")).to_be_visible()
    await subject.press_sequentially(" is lost", delay=20)

    await expect(subject).to_be_focused()
    await expect(subject).to_have_value("Ribbon colour of gift wrapping is lost")
    await expect(form.get_by_role("link", name=f"#{there.id} {there.subject}")).to_be_visible()
    await ana.press(form, "Create")
    announced = ana.announced("Ribbon colour of gift wrapping is lost")
    await announced.get_by_role("button", name="More options").click()
    await ana.page.get_by_role("menuitem", name="Delete post (Ana only)").click()
    await expect(announced).to_be_hidden()


async def test_issue_from_message_is_announced_in_its_thread(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    message = ana.message("checkout returns 500")

    await ana.use_shortcut(message, "Create an issue")

    form = ana.form("New issue")
    await expect(form.get_by_label("Subject")).to_have_value(re.compile("^A customer can't pay"))
    await expect(form.get_by_role("textbox", name="Description")).to_contain_text("Ben Okafor in Slack")
    await ana.press(form, "Create")
    await expect(form).to_be_hidden()
    await message.get_by_role("button", name="2 replies").click()
    announcement = ana.thread.get_by_role("article").filter(has_text="created #")
    await expect(announcement).to_contain_text("A customer can't pay: checkout returns 500")
    await expect(ana.announced("A customer can't pay")).to_have_count(0)
