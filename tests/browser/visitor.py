"""Somebody at the sandbox's page: what they do there, and what they see."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from playwright.async_api import Browser, ConsoleMessage, Error, Locator, Page, ViewportSize, expect

PRIVATE = "Only visible to you"
ROOM_FOR_ALL: ViewportSize = {"width": 1600, "height": 900}  # a thread and the sandbox's panel side by side


class Visitor:
    """A person at the page; every step waits for what it needs, so that none needs a pause."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def acts_as(self, name: str) -> None:
        """Switch to another person with the menu at the top."""
        await self.page.get_by_role("button", name="Acting as").click()
        await self.page.get_by_role("menuitemradio", name=name).click()
        await expect(self.page.get_by_role("button", name=f"Acting as {name}")).to_be_visible()

    async def opens(self, place: str) -> None:
        """Go to a channel (`# general`) or to the app."""
        await self.page.get_by_role("button", name=place, exact=True).click()

    async def types(self, text: str) -> None:
        """Type into the channel's composer and send it."""
        await self.composer.fill(text)
        await self.composer.press("Enter")

    async def submits(self, form: Locator, button: str) -> None:
        """Press a form's button."""
        await form.get_by_role("button", name=button, exact=True).click()

    async def chooses(self, form: Locator, label: str, choice: str, typed: str = "") -> None:
        """Choose in a select of a form, after typing part of the choice."""
        field = form.get_by_role("combobox", name=label, exact=True)
        await field.click()
        await field.press_sequentially(typed)
        await self.page.get_by_role("option", name=choice).click()
        await expect(field).to_have_value(choice)

    async def uses_shortcut(self, message: Locator, name: str) -> None:
        """Use a shortcut from a message's own menu."""
        await message.hover()
        await message.get_by_role("button", name="More actions").click()
        await self.page.get_by_role("menuitem", name=name).click()

    @property
    def composer(self) -> Locator:
        """Where one writes to the channel."""
        return self.page.get_by_role("textbox", name="Message ")

    @property
    def thread(self) -> Locator:
        """The pane of the open thread."""
        return self.page.get_by_role("region", name="Thread")

    @property
    def broken_rules(self) -> Locator:
        """What the panel says of Slack's rules."""
        return self.page.get_by_role("region", name="Rules broken")

    def form(self, title: str) -> Locator:
        """The form with that title."""
        return self.page.get_by_role("dialog", name=title, exact=True)

    def message(self, text: str) -> Locator:
        """The messages with that text, in the channel."""
        return self.page.get_by_role("main").get_by_role("article").filter(has_text=text)


Arrive = Callable[[str, str], Awaitable[Visitor]]
"""Opens the page at an address and acts as somebody there."""


@asynccontextmanager
async def visiting(browser: Browser, address: str, name: str, patience: float) -> AsyncIterator[Visitor]:
    """A visitor in a window of their own; leaving it checks that the page saw no error and no broken rule."""
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    def note(error: Error) -> None:
        complaints.append(str(error))

    context = await browser.new_context(
        viewport=ROOM_FOR_ALL, permissions=["clipboard-read", "clipboard-write"]
    )
    try:
        context.set_default_timeout(patience)
        page = await context.new_page()
        page.on("console", listen)
        page.on("pageerror", note)
        await page.goto(address)
        visitor = Visitor(page)
        await visitor.acts_as(name)
        yield visitor
        await expect(visitor.broken_rules).to_contain_text("No Slack rule was broken.")
        assert not complaints, complaints
    finally:
        await context.close()
