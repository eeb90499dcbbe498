"""A user of the sandbox's page: what they do and what they see."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from playwright.async_api import Browser, ConsoleMessage, Error, Locator, Page, ViewportSize, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from bot.sandbox.people import GWEN, PEOPLE
from tests.support.reading import until

PRIVATE = "Only visible to you"
SHIFTED = """{
    const shift = Number("%s") * 1000, Real = Date;
    globalThis.Date = class extends Real {
        constructor(...given) { given.length ? super(...given) : super(Real.now() + shift); }
        static now() { return Real.now() + shift; }
    };
}"""
"""Shifts the page's clock as libfaketime does those of the other processes: with it, Chromium is too slow."""
WIDE_VIEWPORT: ViewportSize = {"width": 1600, "height": 900}  # fits thread and panel


class Visitor:
    """A user of the page; every step waits for what it needs, so tests need no pauses."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def switch_user(self, name: str) -> None:
        """Switch to another user with the menu at the top."""
        choice = self.page.get_by_role("menuitemradio", name=name)

        async def chosen() -> bool:  # news from the page's server redraw an open menu
            await self.switcher.click()
            try:
                await choice.click(timeout=5_000)
            except PlaywrightTimeout:
                await self.page.keyboard.press("Escape")
                return False
            return True

        await until(chosen)
        await expect(self.switcher).to_have_accessible_name(f"Acting as {name}")

    async def go_to(self, place: str) -> None:
        """Go to a channel (`# general`) or to the app."""
        await self.page.get_by_role("button", name=place, exact=True).click()

    async def send(self, text: str) -> None:
        """Send a message or command from the channel's composer."""
        await self.composer.fill(text)
        await self.composer.press("Enter")

    async def press(self, form: Locator, button: str) -> None:
        """Press a form's button."""
        await form.get_by_role("button", name=button, exact=True).click()

    async def choose(self, form: Locator, label: str, choice: str, typed: str = "") -> None:
        """Choose an option in a form's select, after typing part of it."""
        field = form.get_by_role("combobox", name=label, exact=True)
        await field.click()
        await field.press_sequentially(typed)
        await self.page.get_by_role("option", name=choice).click()
        await expect(field).to_have_value(choice)

    async def use_shortcut(self, message: Locator, name: str) -> None:
        """Run a shortcut from a message's menu."""
        await message.hover()
        await message.get_by_role("button", name="More actions").click()
        await self.page.get_by_role("menuitem", name=name).click()

    @property
    def switcher(self) -> Locator:
        """The menu at the top that switches users."""
        return self.page.get_by_role("button", name="Acting as")

    @property
    def composer(self) -> Locator:
        """The channel's composer."""
        return self.page.get_by_role("textbox", name="Message ")

    @property
    def thread(self) -> Locator:
        """The open thread's pane."""
        return self.page.get_by_role("region", name="Thread")

    @property
    def broken_rules(self) -> Locator:
        """The panel's list of broken Slack rules."""
        return self.page.get_by_role("region", name="Rules broken")

    def form(self, title: str) -> Locator:
        """Return the form with that title."""
        return self.page.get_by_role("dialog", name=title, exact=True)

    def message(self, text: str) -> Locator:
        """Return the channel's messages with that text."""
        return self.page.get_by_role("main").get_by_role("article").filter(has_text=text)

    def announced(self, subject: str) -> Locator:
        """Return the channel's public announcements of a new issue."""
        return self.message("created #").filter(has_text=subject).filter(has_not_text=PRIVATE)


OpenPage = Callable[[str, str], Awaitable[Visitor]]
"""Opens the page at an address and acts as the user with that name."""


@asynccontextmanager
async def visiting(browser: Browser, address: str, name: str, timeout_ms: float) -> AsyncIterator[Visitor]:
    """Yield a visitor in a new browser context; at exit, check for page errors and broken rules."""
    console_errors: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            console_errors.append(message.text)

    def note(error: Error) -> None:
        console_errors.append(str(error))

    context = await browser.new_context(
        viewport=WIDE_VIEWPORT, permissions=["clipboard-read", "clipboard-write"]
    )
    try:
        context.set_default_timeout(timeout_ms)
        await context.add_init_script(SHIFTED % os.environ.get("FAKETIME", "0"))
        page = await context.new_page()
        page.on("console", listen)
        page.on("pageerror", note)
        person = next(person for person in (*PEOPLE, GWEN) if person.name == name)
        await page.goto(f"{address}#{person.slack_id}")
        visitor = Visitor(page)
        await expect(visitor.switcher).to_have_accessible_name(f"Acting as {name}")
        yield visitor
        await expect(visitor.broken_rules).to_contain_text("No rules broken")
        assert not console_errors, console_errors
    finally:
        await context.close()
