"""Forms keep what was typed: when the project changes, when the service refuses, when it is gone."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from bot.app_sandbox import HOST, Sandbox
from tests.browser.visitor import PRIVATE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_another_project_brings_its_own_choices_and_keeps_what_was_typed(ana: Visitor) -> None:
    await ana.opens("# webshop")
    await ana.types("/issue")
    form = ana.form("New issue")
    await form.get_by_label("Subject").fill("Crash on start")
    await form.get_by_label("Description").fill("1. open\n2. wait")
    await ana.chooses(form, "Priority", "Urgent")
    await expect(form.get_by_label("Severity")).to_be_hidden()

    await ana.chooses(form, "Project", "Mobile App", typed="mob")

    await expect(form.get_by_label("Severity")).to_be_visible()
    await expect(form.get_by_label("Subject")).to_have_value("Crash on start")
    await expect(form.get_by_label("Description")).to_have_value("1. open\n2. wait")
    await expect(form.get_by_role("combobox", name="Priority")).to_have_value("Urgent")


async def test_a_refusal_stands_at_its_field_and_nothing_is_lost(ana: Visitor) -> None:
    await ana.opens("# mobile")
    await ana.types("/issue new Crash on start tracker:bug project:mobile")
    await expect(ana.message("Severity cannot be blank")).to_contain_text(PRIVATE)

    await ana.types("/issue")
    form = ana.form("New issue")
    await form.get_by_label("Subject").fill("Crash on start")
    await form.get_by_label("Description").fill("Since this morning")
    await ana.chooses(form, "Tracker", "Bug")
    await ana.submits(form, "Create")

    severity = form.get_by_label("Severity")
    await expect(severity).to_have_accessible_description(re.compile("^Severity cannot be blank"))
    await expect(severity).to_be_focused()
    await expect(form.get_by_label("Subject")).to_have_value("Crash on start")
    await expect(form.get_by_label("Description")).to_have_value("Since this morning")
    await ana.chooses(form, "Severity", "Major", "Maj")
    await ana.submits(form, "Create")
    await expect(form).to_be_hidden()
    await expect(ana.message("created Bug").filter(has_text="Crash on start")).to_be_visible()


async def test_a_service_that_is_gone_is_said_in_the_form_which_can_be_sent_again(
    ana: Visitor, sandbox: Sandbox
) -> None:
    await ana.opens("# webshop")
    await ana.types("/issue")
    form = ana.form("New issue")
    await form.get_by_label("Subject").fill("Typed before it went away")
    await form.get_by_label("Description").fill("All of this took a while to write.")
    await ana.chooses(form, "Priority", "High")
    port = urlsplit(sandbox.service_url).port or 0

    await sandbox.tracker.stop()
    await ana.submits(form, "Create")

    await expect(form).to_contain_text(
        "Tracker can't be reached, so nothing was done: try again in a minute."
    )
    await expect(form.get_by_label("Subject")).to_have_value("Typed before it went away")
    await expect(form.get_by_label("Description")).to_have_value("All of this took a while to write.")
    await expect(form.get_by_role("combobox", name="Priority")).to_have_value("High")

    await sandbox.tracker.start(HOST, port)
    await ana.submits(form, "Create")
    await expect(form).to_be_hidden()
    await expect(ana.message("created Bug").filter(has_text="Typed before it went away")).to_have_count(1)


async def test_a_message_becomes_an_issue_and_its_thread_is_told(ana: Visitor) -> None:
    await ana.opens("# webshop")
    message = ana.message("checkout answers 500")

    await ana.uses_shortcut(message, "Create an issue")

    form = ana.form("New issue")
    await expect(form.get_by_label("Subject")).to_have_value(
        "A customer can't pay: checkout answers 500 when a voucher is in the cart and the last item over its "
        "minimum is removed"
    )
    await expect(form.get_by_label("Description")).to_have_value(
        re.compile(r"2\. enter the voucher `SPRING10`.*– \[Ben Okafor in Slack\]\(http", re.DOTALL)
    )
    await ana.submits(form, "Create")
    await expect(form).to_be_hidden()
    await message.get_by_role("button", name="2 replies").click()
    told = ana.thread.get_by_role("article").filter(has_text="created Bug")
    await expect(told).to_contain_text("A customer can't pay: checkout answers 500")
    await expect(ana.message("created Bug")).to_have_count(0)
