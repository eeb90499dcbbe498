"""The Home tab."""

import re

from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of


def open_issues_of(office: Office, user_id: int) -> list[Issue]:
    open_statuses = {status.id for status in office.tracker.data.statuses.values() if not status.is_closed}
    issues = office.tracker.data.issues.values()
    return [one for one in issues if one.assigned_to_id == user_id and one.status_id in open_statuses]


def published(office: Office) -> list[str]:
    """The text of every Home tab that the bot published."""
    return [text_of(c.arguments["view"]) for c in office.workspace.calls if c.method == "views.publish"]


async def test_shows_loading_only_the_first_time(office: Office, ana: Person) -> None:
    own = open_issues_of(office, 1)
    await ana.open_home()

    home = await ana.home_saying("Show all ")

    assert "You're linked to Tracker as *Ana Ruiz*" in text_of(home)
    assert f"Show all {len(own)}" in text_of(home)
    listed = [b for b in home["blocks"] if (b.get("accessory") or {}).get("action_id") == "menu"]
    assert len(listed) == min(10, len(own))
    assert any(f"/issues/{issue.id}|#{issue.id} " in text_of(home) for issue in own)
    first, last = published(office)
    assert "Loading" in first
    assert "Loading" not in last

    await ana.open_home()
    await office.idle()
    assert "Loading" not in published(office)[2]


async def test_the_menu_edits_and_an_issue_made_there_appears(ana: Person) -> None:
    await ana.open_home()
    home = await ana.home_saying("Show all ")
    block = next(b for b in home["blocks"] if (b.get("accessory") or {}).get("action_id") == "menu")
    option = block["accessory"]["options"][0]
    await ana._act({"view": {"id": home["id"]}}, block, block["accessory"], selected_option=option)
    number = re.findall(r"#\d+", block["text"]["text"])[0]
    assert "Assign to me" not in str(block)
    await ana.close(await ana.form(f"Edit {number}"))
    form = await ana.form_after(ana.press_at_home("Create an issue"), "New issue", "Choose a project")
    form = await ana.form_after(ana.choose(form, "Project", "Infrastructure"), "New issue", "Issue type")

    await ana.submit(form, {"Subject": "Made at home"})

    await ana.home_saying("Made at home")
    assert ana.office.newest_issue().project_id == 3


async def test_lists_what_each_user_created(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask("/issue new Made here & now project:webshop")
    number = office.newest_issue().id
    await ana.ask(f"/timelog {number} 1h30 activity:design Sketches")

    await ana.open_home()
    await linked_ben.open_home()

    home = await ana.home_saying("Logged with Issue Bot")
    assert f"/issues/{number}|#{number} Made here &amp; now>" in text_of(home)
    assert "*1h 30m* on" in text_of(home)
    assert "Made here" not in text_of(await linked_ben.home_saying("Ben Okafor"))
    await ana.press_at_home("Edit")
    await office.idle()
    assert (await ana.state())["views"]


async def test_offers_linking_and_fills_the_tab_afterwards(ben: Person) -> None:
    await ben.open_home()

    await ben.home_saying("Link your")
    form = await ben.form_after(ben.press_at_home("Link account"), "Link account")
    await ben.submit(form, {"API key": KEYS["ben"]})
    await ben.home_saying("You're linked to Tracker as *Ben Okafor*")


async def test_shows_an_outage_as_one_line_and_keeps_the_rest(office: Office, ana: Person) -> None:
    await ana.ask("/issue new Made before project:webshop")
    await office.tracker.stop()

    await ana.open_home()

    assert "Made before" in text_of(await ana.home_saying("can't reach"))
    assert not [m for m in await ana.messages() if "can't reach" in str(m)]


async def test_reports_a_rejected_key_once(office: Office, ana: Person) -> None:
    user = office.tracker.data.users[1]
    user.api_key = "f" * 40
    user.status = 3

    await ana.open_home()

    await ana.home_saying("refused your API key")
    await ana.open_home()
    await office.idle()
    home = await ana.home_saying("Link your")
    assert "Loading" not in text_of(home)
    assert "no longer accepts" not in text_of(home)
