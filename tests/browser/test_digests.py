"""Digests as one meets them in the sandbox."""

import re

import pytest
from playwright.async_api import expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import PRIVATE, Arrive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_the_sandbox_s_own_digest_is_posted_and_an_issue_taken_from_it(
    sandbox: Sandbox, arrive: Arrive
) -> None:
    ana = await arrive(sandbox.url, "Ana Ruiz")
    await ana.opens("# triage")
    await ana.types("/issue new The bell rings on its own project:webshop")
    await expect(ana.message("created Bug").filter(has_text="The bell rings")).to_be_visible()

    await ana.types("/digest")
    listed = ana.message("1 digest here")
    await expect(listed).to_contain_text(PRIVATE)
    await expect(listed).to_contain_text("Web Shop")
    await listed.get_by_role("button", name="Post now").click()
    post = ana.message("Web Shop: ").filter(has_text=re.compile("[0-9]+ new issue")).first
    await expect(post).to_contain_text("The bell rings on its own")
    await expect(post).to_contain_text("As Ana Ruiz sees it; private issues are left out")
    await expect(post).not_to_contain_text(PRIVATE)

    await post.get_by_role("button", name="More options").last.click()
    await ana.page.get_by_role("menuitem", name="Take it").click()
    await expect(ana.message("is yours now")).to_contain_text(PRIVATE)


async def test_a_digest_is_added_with_the_form(sandbox: Sandbox, arrive: Arrive) -> None:
    ana = await arrive(sandbox.url, "Ana Ruiz")
    await ana.opens("# general")
    await ana.types("/digest add")
    form = ana.form("New digest")
    await ana.chooses(form, "Project", "Web Shop", "web")
    await form.get_by_label("Schedule").fill("weekly mon 9am")
    await ana.submits(form, "Add")
    await expect(form).to_be_hidden()
    answer = ana.message("is set:")
    await expect(answer).to_contain_text("weekly mon 09:00, Europe/Madrid")
    await expect(answer).to_contain_text(PRIVATE)
