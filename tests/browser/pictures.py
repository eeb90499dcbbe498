"""Regenerates the README's screenshots from the sandbox in Chromium: `python -m tests.browser.pictures`."""

import asyncio
import shutil
from pathlib import Path

from playwright.async_api import Page, ViewportSize, async_playwright, expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import Visitor

PICTURES = Path(__file__).parents[2] / ".github" / "pictures"
WINDOW: ViewportSize = {"width": 1120, "height": 900}


async def main() -> None:
    """Act as Ana and take the screenshots."""
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    async with async_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = await browser.new_page(viewport=WINDOW)
        await page.goto(sandbox.url)
        ana = Visitor(page)
        await ana.switch_user("Ana Ruiz")
        await _form(ana)
        await _search(ana)
        await _digest(ana)
        await browser.close()
    await sandbox.stop()


async def _form(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.use_shortcut(ana.message("A customer").first, "Create an issue")
    await expect(ana.form("New issue").get_by_label("Subject")).not_to_be_empty()
    await _screenshot(ana.page, "form")
    await ana.press(ana.form("New issue"), "Cancel")


async def _search(ana: Visitor) -> None:
    await ana.send("/issues to:me priority:high")
    await expect(ana.message("Assignee: me")).to_be_visible()
    await _screenshot(ana.page, "search")


async def _digest(ana: Visitor) -> None:
    await ana.go_to("# triage")
    await ana.send("/digest add webshop daily 9")
    await expect(ana.message("Digest 2 is set up").last).to_be_visible()
    await ana.go_to("# webshop")
    for subject, options in (
        ("The voucher field is too short", "priority:high to:me"),
        ("Gift wrapping can't be ordered", "priority:urgent"),
        ("Pay by invoice", "tracker:feature"),
    ):
        await ana.send(f"/issue new {subject} {options}")
        await expect(ana.announced(subject)).to_be_visible()
    await ana.go_to("# triage")
    await ana.send("/digest now 2")
    await expect(ana.message("3 new issues").last).to_be_visible()
    await _screenshot(ana.page, "digest")


async def _screenshot(page: Page, name: str) -> None:
    await page.mouse.move(0, 0)
    await page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    asyncio.run(main())
