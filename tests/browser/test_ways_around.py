"""Navigating the page: the drawer on narrow screens, invitations, drafts, toolbars, notices."""

import pytest
from playwright.async_api import expect

from bot.sandbox.people import BEN
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ABSENT = "Issue Bot isn't in this channel"


async def _create_issue(visitor: Visitor, subject: str) -> None:
    await visitor.send(f"/issue new {subject} project:webshop")
    await expect(visitor.announced(subject).get_by_role("button", name="More options")).to_be_visible()


async def test_invited_bot_posts_publicly(ana: Visitor) -> None:
    await ana.go_to("# leadership")
    await ana.send("/invite @Issue Bot")

    await expect(ana.page.get_by_text("Issue Bot joined #leadership.")).to_be_visible()
    await _create_issue(ana, "Gift cards expire too early")
    await ana.send("/invite @Issue Bot")
    await expect(ana.page.get_by_text("Issue Bot is already in #leadership.")).to_be_visible()


async def test_button_invites_the_missing_bot(ana: Visitor) -> None:
    await ana.go_to("# leadership")
    invite = ana.page.get_by_role("button", name=ABSENT)
    await invite.click()

    await expect(invite).to_be_hidden()
    await _create_issue(ana, "Gift cards can't be combined")


async def test_drawer_replaces_sidebar_on_narrow_screens(ana: Visitor) -> None:
    await ana.page.set_viewport_size({"width": 599, "height": 800})
    channels = ana.page.get_by_role("navigation", name="Channels and people")
    toggle = ana.page.get_by_role("button", name="Channels", exact=True)
    await expect(channels).to_be_hidden()

    await toggle.click()
    await ana.go_to("# webshop")
    await expect(channels).to_be_hidden()
    await expect(ana.page.get_by_role("heading", name="webshop", exact=True)).to_be_visible()

    await toggle.click()
    await expect(channels).to_be_visible()
    await ana.page.keyboard.press("Escape")
    await expect(channels).to_be_hidden()
    await expect(toggle).to_be_focused()

    await ana.page.set_viewport_size({"width": 1600, "height": 900})
    await expect(channels).to_be_visible()
    await expect(toggle).to_be_hidden()


async def test_user_switcher_shows_who_is_linked(ana: Visitor) -> None:
    await ana.switch_user(BEN.name)
    switcher = ana.page.get_by_role("button", name=f"Acting as {BEN.name}")
    await expect(switcher).to_contain_text("not linked")
    await ana.send("/tracker link")
    form = ana.form("Link account")
    await form.get_by_label("API key").fill(BEN.api_key)
    await ana.press(form, "Link account")

    await expect(switcher).to_contain_text("linked")
    await expect(switcher).not_to_contain_text("not linked")


async def test_reload_keeps_the_draft(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.composer.fill("Half a thought")
    await ana.page.get_by_label("Upload from your computer").first.set_input_files(
        {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"plan"}
    )
    file = ana.page.get_by_role("button", name="Remove plan.txt")
    await expect(ana.page.get_by_role("main")).to_contain_text("plan.txt4 B")

    await ana.page.reload()
    await expect(ana.composer).to_have_value("Half a thought")
    await expect(file).to_be_visible()
    await ana.composer.press("Enter")
    await expect(ana.message("Half a thought")).to_contain_text("plan.txt")

    await ana.page.reload()
    await expect(ana.message("Half a thought")).to_be_visible()
    await expect(ana.composer).to_have_value("")
    await expect(file).to_be_hidden()


async def test_destructive_actions_confirm_with_a_red_button(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.send("/timelog project:webshop 1h activity:design")
    await ana.message("Logged").get_by_role("button", name="Delete entry").click()
    question = ana.page.get_by_role("alertdialog")

    await expect(question.get_by_role("button", name="Delete entry")).to_have_css(
        "background-color", "rgb(198, 32, 65)"
    )


async def test_only_one_message_shows_its_toolbar(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    messages = ana.page.get_by_role("main").get_by_role("article")
    shown = ana.page.get_by_role("group", name="Message actions").filter(visible=True)

    async def count() -> int:
        opacities = await shown.evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).opacity)")
        return list(opacities).count("1")

    await messages.nth(1).get_by_role("button", name="More actions").focus()
    assert await count() == 1
    await messages.nth(2).hover()
    assert await count() == 1
    await messages.nth(2).get_by_role("button", name="More actions").click()
    await messages.nth(1).hover()
    assert await count() == 1


async def test_notices_disappear_after_four_seconds(ana: Visitor) -> None:
    await ana.go_to("# webshop")
    await ana.page.clock.install()
    await ana.send("/nonsense")
    notice = ana.page.get_by_text("/nonsense is not a valid command.")
    await expect(notice).to_be_visible()

    await ana.page.clock.run_for(4_000)

    await expect(notice).to_have_count(0, timeout=1)
