"""Reading and writing on the page: people and private replies, search, previews, the Home tab, rules."""

import re
from datetime import UTC, date, datetime

import pytest
from playwright.async_api import Locator, expect
from slack_sdk.errors import SlackApiError

from bot.app_sandbox import Sandbox
from bot.sandbox.people import ANA, BEN
from bot.sandbox.tracker.data import Note
from tests.browser.visitor import PRIVATE, OpenPage, Visitor
from tests.support.reading import until_so

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def places(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("navigation", name="Channels and people")


async def test_people_read_only_what_is_theirs(sandbox: Sandbox, open_page: OpenPage) -> None:
    ana = await open_page(sandbox.url, ANA.name)
    ben = await open_page(sandbox.url, BEN.name)
    await ben.go_to("# webshop")
    await ana.go_to("# general")

    # A bold name for messages, a count for mentions and direct messages only.
    general = places(ben).get_by_role("listitem").filter(has_text="general")
    await ana.send("Just so that you know")
    await expect(general.get_by_text("general")).to_have_css("font-weight", "700")
    await expect(general).to_have_text("#general")
    await ana.send("This is for you, @Ben Okafor")
    await expect(general).to_have_text("#general1")

    # The bot's private reply, until it is dismissed.
    await ana.send("/tracker whoami")
    answer = "You're linked as Ana Ruiz"
    await expect(ana.message(answer)).to_contain_text(PRIVATE)
    await ben.go_to("# general")
    await expect(ben.message("This is for you")).to_be_visible()
    await expect(ben.message(answer)).to_have_count(0)
    await ana.message(answer).get_by_role("button", name="Dismiss message").click()
    await expect(ana.message(answer)).to_have_count(0)

    # Direct messages.
    await ana.page.get_by_role("button", name="New message").click()
    await ana.page.keyboard.type("ben")
    await ana.page.get_by_role("option", name=BEN.name).click()
    await expect(ana.page.get_by_role("heading", name=BEN.name, exact=True).first).to_be_visible()
    await ana.send("Between the two of us")
    direct = places(ben).get_by_role("listitem").filter(has_text=ANA.name)
    await expect(direct).to_contain_text("1")
    await ben.go_to(ANA.name)
    await expect(ben.message("Between the two of us")).to_be_visible()
    await expect(direct).not_to_contain_text("1")
    await ana.switch_user("Chris Lindqvist")
    await expect(places(ana).get_by_role("button", name=BEN.name)).to_be_hidden()


async def test_finder_opens_channels_and_messages_by_keyboard(ana: Visitor) -> None:
    await ana.go_to("# general")
    await ana.page.keyboard.press("Control+k")
    switcher = ana.page.get_by_role("combobox", name="Go to a channel or person")
    await expect(switcher).to_be_focused()
    await ana.page.keyboard.press("Escape")
    await expect(switcher).to_be_hidden()
    await ana.page.keyboard.press("Control+k")
    await ana.page.keyboard.type("web")
    await expect(ana.page.get_by_role("option")).to_have_count(1)
    await ana.page.keyboard.press("Enter")
    await expect(ana.page.get_by_role("heading", name="webshop", exact=True)).to_be_visible()
    await expect(ana.composer).to_be_focused()

    await ana.go_to("# general")
    await ana.page.keyboard.press("Control+g")
    await expect(ana.page.get_by_text("Type to search")).to_be_visible()
    await ana.page.keyboard.type("zzz")
    await expect(ana.page.get_by_text("No matches")).to_be_visible()
    await ana.page.get_by_role("combobox", name="Search messages").fill("missing recalculation")
    await expect(ana.page.get_by_role("option")).to_contain_text("I can reproduce this.")
    await expect(ana.page.get_by_role("option")).to_contain_text("Ana Ruiz · #webshop · ")
    await ana.page.keyboard.press("Enter")
    await expect(ana.thread.get_by_text("I can reproduce this.")).to_be_in_viewport()


async def test_link_shows_a_card_and_private_details(sandbox: Sandbox, ana: Visitor) -> None:
    there = next(i for i in sandbox.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    there.notes = [Note(2, "Seen on the shop floor", datetime.now(UTC))]
    await ana.go_to("# general")

    await ana.send(f"Have a look: {sandbox.service_url.rstrip('/')}/issues/{there.id}")

    message = ana.message("Have a look")
    await expect(message).to_contain_text(f"#{there.id} {there.subject}")
    await message.get_by_role("button", name="View details").click()
    details = ana.page.get_by_role("dialog")
    await expect(details).to_contain_text("Created by")
    await expect(details).to_contain_text(there.subject)

    await details.get_by_label("Due date").fill("2036-01-02")
    await details.get_by_role("button", name="Save").click()
    await expect(details.get_by_role("alert")).to_have_count(0)
    await until_so(lambda: there.due_date == date(2036, 1, 2))
    await details.get_by_role("button", name="Comments").click()
    await expect(details).to_contain_text("Seen on the shop floor")
    await ana.page.keyboard.press("Escape")
    await expect(details).to_be_hidden()


async def test_comment_in_details_stays_typed_until_it_is_posted(sandbox: Sandbox, ana: Visitor) -> None:
    issue = sandbox.tracker.data.issues[12]
    await ana.go_to("# webshop")
    await ana.send(f"Look here: {sandbox.service_url.rstrip('/')}/issues/{issue.id}")
    await ana.message("Look here").get_by_role("button", name="View details").click()
    details = ana.page.get_by_role("dialog")
    await details.get_by_role("button", name="Comments (").click()
    await details.get_by_label("Comment").fill("Postcards, too")

    await details.get_by_label("Due date").fill("2000-01-01")
    await details.get_by_role("button", name="Save").click()
    await expect(details.get_by_role("alert")).to_be_visible()
    await expect(details.get_by_label("Comment")).to_have_text("Postcards, too")
    await details.get_by_role("button", name="Post comment").click()

    await expect(details.get_by_label("Comment")).to_have_text("")
    await expect(details).to_contain_text("Postcards, too")
    assert [note.text for note in issue.notes].count("Postcards, too") == 1
    await ana.page.keyboard.press("Escape")


async def test_home_tab_shows_own_issues_and_opens_forms(ana: Visitor) -> None:
    await ana.go_to("Issue Bot")
    home = ana.page.get_by_role("tabpanel", name="Home")
    await expect(home).to_contain_text("You're linked to Larkspur as Ana Ruiz")
    await expect(home.get_by_role("heading", name="My open issues")).to_be_visible()

    await home.get_by_role("button", name="Create an issue").click()
    await ana.press(ana.form("New issue"), "Cancel")
    await home.get_by_role("button", name="More options").first.click()
    await ana.page.get_by_role("menuitem", name="Comment").click()
    await ana.press(ana.form("Comment"), "Cancel")
    await expect(ana.page.get_by_role("dialog")).to_be_hidden()

    await ana.switch_user(BEN.name)
    await expect(home.get_by_role("button", name="Link account")).to_be_visible()


async def test_broken_rule_is_shown(ana: Visitor, sandbox: Sandbox) -> None:
    channel = next(c.id for c in sandbox.workspace.state.channels.values() if c.name == "general")
    divider = {"type": "divider"}

    with pytest.raises(SlackApiError, match="invalid_blocks"):
        await sandbox.bot.slack.chat_postMessage(channel=channel, text="Too much", blocks=[divider] * 51)

    await expect(ana.broken_rules).to_contain_text("chat.postMessage")
    sandbox.workspace.violations.clear()  # this violation is the test's, not the bot's
    sandbox.workspace.state.changed()


async def test_a_reaction_creates_an_issue(sandbox: Sandbox, open_page: OpenPage) -> None:
    ana = await open_page(sandbox.url, ANA.name)
    await ana.go_to("# webshop")
    await ana.send("/tracker emoji :ticket:")
    await expect(ana.message("React with")).to_be_visible()
    await ana.send("The gift wrap is too small")

    await ana.message("The gift wrap").first.get_by_role("button", name="More actions").click()
    await ana.page.get_by_role("menuitem", name="Add reaction").click()
    await ana.page.keyboard.type("ticket")
    await ana.page.keyboard.press("Enter")

    await expect(ana.message("The gift wrap").first).to_contain_text("🎫")
    await expect(ana.message("The gift wrap").first).to_contain_text("1 reply")


async def test_panel_runs_a_workflow_step_and_shows_how_it_ended(ana: Visitor) -> None:
    await ana.page.get_by_role("button", name="Run a workflow step").click()
    await ana.page.get_by_role("menuitem", name="Create an issue").click()
    form = ana.form("Create an issue")
    await form.get_by_label("Project").fill("nowhere")
    await form.get_by_label("Subject").fill("The printer is on fire")
    await ana.press(form, "Run as Ana Ruiz")
    await expect(form.get_by_role("status")).to_contain_text("No project called “nowhere”")

    await form.get_by_label("Project").fill("webshop")
    await ana.press(form, "Run as Ana Ruiz")
    await expect(form.get_by_role("status")).to_contain_text("Issue number: ")
    await expect(form.get_by_role("link")).to_have_text(re.compile(r"/issues/\d+$"))
