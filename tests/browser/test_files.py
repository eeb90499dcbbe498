"""Attaching files from the computer and from a message, including one the service rejects."""

import pytest
from playwright.async_api import FilePayload, expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

NUMBER = 12
TOO_LARGE = 5 * 1024 * 1024 + 1


def file(name: str, size: int) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": b"x" * size}


def attached(sandbox: Sandbox) -> set[str]:
    return {f.filename for f in sandbox.tracker.data.attachments.values() if f.issue_id == NUMBER}


async def test_files_are_attached_from_computer_and_message(ana: Visitor, sandbox: Sandbox) -> None:
    before = attached(sandbox)
    form, results = ana.form("Attach files"), ana.form("Files")
    await ana.go_to("# webshop")
    await ana.use_shortcut(ana.message("Here's the shop's log"), "Attach files to an issue")
    await expect(form.get_by_role("checkbox", name="checkout-error.log")).to_be_checked()
    await expect(form.get_by_label("File name")).to_have_value("checkout-error.log")
    issue = f"#{NUMBER} Delivery costs differ between cart and invoice"
    await ana.choose(form, "Issue", issue, typed="delivery")
    await ana.press(form, "Attach files")
    await expect(results).to_contain_text("checkout-error.log attached")
    assert attached(sandbox) - before == {"checkout-error.log"}
    await ana.press(results, "Close")

    before = attached(sandbox)
    await ana.send(f"/issue attach {NUMBER}")
    await form.get_by_label("Files").set_input_files(
        [file("one.log", 10), file("dump.bin", TOO_LARGE), file("two.log", 20)]
    )
    await expect(form.get_by_text("dump.bin")).to_be_visible()
    await ana.press(form, "Attach files")
    await expect(results).to_contain_text("one.log attached")
    await expect(results).to_contain_text("dump.bin wasn't attached. Larkspur rejected it: This file")
    await expect(results).to_contain_text("two.log attached")
    assert attached(sandbox) - before == {"one.log", "two.log"}

    await results.get_by_role("button", name="Rename or describe").first.click()
    described = ana.form("Rename or describe")
    await described.get_by_label("File name").fill("first.log")
    await described.get_by_label("Description").fill("What the shop said")
    await ana.press(described, "Save")
    await expect(results).to_contain_text("first.log")
    assert attached(sandbox) - before == {"first.log", "two.log"}
