"""Forms keep their input when the project changes, the service rejects it or the service is down."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from bot.app_sandbox import HOST, Sandbox
from tests.browser.visitor import PRIVATE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_changing_project_updates_choices_and_keeps_input(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.send("/issue")
    form = ana.form("New issue")
    await form.get_by_label("Subject").fill("Crash on start")
    await form.get_by_role("textbox", name="Description").fill("1. open\n2. wait")
    await ana.press(form, "More fields")
    await ana.choose(form, "Priority", "Urgent")
    await expect(form.get_by_label("Severity")).to_be_hidden()

    await ana.choose(form, "Project", "Mobile App", typed="mob")

    await expect(form.get_by_label("Severity")).to_be_visible()
    await expect(form.get_by_label("Subject")).to_have_value("Crash on start")
    await expect(form.get_by_role("textbox", name="Description")).to_contain_text("2. wait")
    await expect(form.get_by_role("combobox", name="Priority")).to_have_value("Urgent")


async def test_rejected_field_shows_its_error_and_input_is_kept(ana: Visitor) -> None:
    await ana.go_to("# mobile")
    await ana.send("/issue new Crash on start tracker:bug project:mobile")
    await expect(ana.message("Severity cannot be blank")).to_contain_text(PRIVATE)

    await ana.send("/issue")
    form = ana.form("New issue")
    await form.get_by_label("Subject").fill("Crash on start")
    await form.get_by_role("textbox", name="Description").fill("Since this morning")
    await ana.choose(form, "Tracker", "Bug")
    severity = form.get_by_label("Severity")
    await expect(severity).to_be_visible()
    await ana.press(form, "Create")

    await expect(severity).to_have_accessible_description(re.compile("^Please complete this required field"))
    await expect(severity).to_be_focused()
    await expect(form.get_by_label("Subject")).to_have_value("Crash on start")
    await expect(form.get_by_role("textbox", name="Description")).to_have_text("Since this morning")
    await ana.choose(form, "Severity", "Major", "Maj")
    await ana.press(form, "Create")
    await expect(form).to_be_hidden()
    await expect(ana.announced("Crash on start")).to_be_visible()


async def test_form_reports_service_outage_and_can_be_resubmitted(ana: Visitor, sandbox: Sandbox) -> None:
    await ana.go_to("# webshop")
    await ana.send("/issue")
    form = ana.form("New issue")
    await form.get_by_label("Subject").fill("Typed before it went away")
    await form.get_by_role("textbox", name="Description").fill("All of this took a while to write.")
    await ana.press(form, "More fields")
    await ana.choose(form, "Priority", "High")
    port = urlsplit(sandbox.service_url).port or 0

    await sandbox.tracker.stop()
    await ana.press(form, "Create")

    await expect(form).to_contain_text("I can't reach Larkspur. Try again in a minute.")
    await expect(form.get_by_label("Subject")).to_have_value("Typed before it went away")
    await expect(form.get_by_role("textbox", name="Description")).to_have_text(
        "All of this took a while to write."
    )
    await expect(form.get_by_role("combobox", name="Priority")).to_have_value("High")

    await sandbox.tracker.start(HOST, port)
    await ana.press(form, "Create")
    await expect(form).to_be_hidden()
    announced = ana.announced("Typed before it went away")
    await expect(announced.filter(has_not_text=PRIVATE)).to_have_count(1)


async def test_issue_from_message_is_announced_in_its_thread(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    message = ana.message("checkout returns 500")

    await ana.use_shortcut(message, "Create an issue")

    form = ana.form("New issue")
    await expect(form.get_by_label("Subject")).to_have_value(
        "A customer can't pay: checkout returns 500 when a voucher is in the cart and the last item over its "
        "minimum is removed"
    )
    await expect(form.get_by_role("textbox", name="Description")).to_contain_text(
        re.compile(r"enter the voucher SPRING10.*Ben Okafor in Slack", re.DOTALL)
    )
    await ana.press(form, "Create")
    await expect(form).to_be_hidden()
    await message.get_by_role("button", name="2 replies").click()
    told = ana.thread.get_by_role("article").filter(has_text="created #")
    await expect(told).to_contain_text("A customer can't pay: checkout returns 500")
    await expect(ana.message("created #").filter(has_not_text=PRIVATE)).to_have_count(0)
