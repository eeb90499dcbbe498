"""Digests in the sandbox."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.visitor import PRIVATE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_digest_is_added_posted_and_its_issue_assigned(ana: Visitor) -> None:
    await ana.go_to("# general")
    await ana.send("/digest add")
    form = ana.form("New digest")
    await ana.choose(form, "Project", "Web Shop", "web")
    await ana.choose(form, "Schedule", "Weekly", "week")
    await expect(form.get_by_label("Days")).to_be_visible()
    await ana.press(form, "Add")
    await expect(form).to_be_hidden()
    answer = ana.message("is set up")
    await expect(answer).to_contain_text("every Monday at 9:00 AM (Europe/Madrid)")
    await expect(answer).to_contain_text(PRIVATE)

    # The sandbox has a digest of its own.
    await ana.go_to("# triage")
    await ana.send("/issue new The bell rings on its own project:webshop")
    await expect(ana.announced("The bell rings")).to_be_visible()
    await ana.send("/digest")
    listed = ana.message("1 digest in this channel")
    await expect(listed).to_contain_text(PRIVATE)
    await expect(listed).to_contain_text("Web Shop")
    await listed.get_by_role("button", name="Send now").click()
    post = ana.message("Web Shop: ").filter(has_text=re.compile("[0-9]+ new issue")).first
    await expect(post).to_contain_text("The bell rings on its own")
    await expect(post).to_contain_text("Shows what Ana Ruiz can see, except private issues")
    await expect(post).not_to_contain_text(PRIVATE)

    await post.get_by_role("button", name="More options").last.click()
    await ana.page.get_by_role("menuitem", name="Assign to me").click()
    await expect(ana.message("is assigned to you now")).to_contain_text(PRIVATE)
