"""Regenerates the README's screenshots from the sandbox in Chromium: `python -m tests.browser.pictures`.

The direct message in `notice.png` is from a sandbox that was used by hand.

It takes up to four minutes, since the sandbox's live feed is read once a minute.
"""

import asyncio
import shutil
from pathlib import Path

from playwright.async_api import Locator, Page, ViewportSize, async_playwright, expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import Visitor

PICTURES = Path(__file__).parents[2] / ".github" / "pictures"
WINDOW: ViewportSize = {"width": 1120, "height": 900}
A_READING = 130_000  # how long a live feed may take, in milliseconds


async def main() -> None:
    """Act as Ana and take the screenshots."""
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    async with async_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = await (await browser.new_context(viewport=WINDOW)).new_page()
        await page.goto(sandbox.url)
        ana = Visitor(page)
        await ana.switch_user("Ana Ruiz")
        await _form(ana)
        await _search(ana)
        await _digest(ana)
        await _feed(ana, sandbox)
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
    await ana.go_to("# mobile")
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
    await ana.go_to("# mobile")
    await ana.send("/digest now 2")
    await expect(ana.message("3 new issues").last).to_be_visible()
    for answer in ("Digest 2 is set up", "I posted digest 2"):
        await ana.message(answer).get_by_role("button", name="Dismiss message").click()
        await expect(ana.message(answer)).to_have_count(0)
    await _screenshot(ana.page, "digest")


async def _feed(ana: Visitor, sandbox: Sandbox) -> None:
    await ana.go_to("# triage")
    feed = ana.message("The voucher field")
    await expect(feed).to_be_visible(timeout=A_READING)
    await _change(ana.page, sandbox, await _number(feed), "Dana Novak", Status="In progress")
    await expect(feed).to_contain_text("1 reply", timeout=A_READING)
    await feed.get_by_role("button", name="1 reply").click()
    await expect(
        ana.thread.get_by_text("Dana Novak set the status to In progress", exact=True)
    ).to_be_visible()
    await _screenshot(ana.page, "feed")


async def _number(post: Locator) -> int:
    link = await post.get_by_role("link").first.get_attribute("href") or ""
    return int(link.rpartition("/")[2])


async def _change(
    page: Page, sandbox: Sandbox, issue: int, person: str, comment: str = "", **fields: str
) -> None:
    """Change an issue on the tracker's page."""
    tab = await page.context.new_page()
    await tab.goto(f"{sandbox.service_url}/issues/{issue}")
    for label, choice in {"As": person, **fields}.items():
        await tab.get_by_role("combobox", name=label, exact=True).select_option(choice)
    await tab.get_by_label("Comment").fill(comment)
    async with tab.expect_navigation():
        await tab.get_by_role("button", name="Save").click()
    await tab.close()


async def _screenshot(page: Page, name: str) -> None:
    await page.mouse.move(0, 0)
    await page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    asyncio.run(main())
