"""Scenarios with the Home tab and with links to issues."""

from tests.faults.issue_scenarios import Steps
from tests.faults.scene import Scene, scenario
from tests.support.reading import JSON, button_saying, text_of, until


async def home(s: Scene) -> JSON:
    """Returns the Home tab once it is published."""
    await s.ana.open_home()
    await s.settled()
    return await until(s.ana.home)


@scenario("open home", "event:app_home_opened")
async def open_home(s: Scene) -> Steps:
    yield
    await s.ana.open_home()


@scenario("home: create", "action:home.create")
async def home_create(s: Scene) -> Steps:
    await home(s)
    yield
    await s.ana.press_at_home("Create an issue")


@scenario("home: search", "action:home.search")
async def home_search(s: Scene) -> Steps:
    await home(s)
    yield
    await s.ana.press_at_home("Search issues")


@scenario("home: time", "action:home.time")
async def home_time(s: Scene) -> Steps:
    await home(s)
    yield
    await s.ana.press_at_home("Log time")


@scenario("home: mine", "action:home.mine")
async def home_mine(s: Scene) -> Steps:
    shown = await home(s)
    rows = (block["elements"] for block in shown["blocks"] if block["type"] == "actions")
    title = next(e["text"]["text"] for row in rows for e in row if e["text"]["text"].startswith("Show all "))
    assert button_saying(shown["blocks"], title)
    yield
    await s.ana.press_at_home(title)


@scenario("home: switch", "action:home.tell_when_assigned", said="Tell me when I'm assigned")
async def home_switch(s: Scene) -> Steps:
    shown = await home(s)
    title = "Turn off" if "Turn off" in text_of(shown) else "Turn on"
    yield
    await s.ana.press_at_home(title)


def linked(s: Scene) -> str:
    """Returns the URL of an issue created for this run."""
    s.issue()
    return f"{s.office.bot.client.base_url}/issues/{max(s.data.issues)}"


@scenario("share a link", "event:link_shared", expects_answer=False)
async def share_link(s: Scene) -> Steps:
    url = linked(s)
    yield
    await s.ana.say(url)


@scenario("open details", "event:entity_details_requested")
async def open_details(s: Scene) -> Steps:
    said = await s.ana.say(linked(s))
    await s.settled()
    found = next(m for m in await s.ana.messages() if m["ts"] == said["ts"])
    yield
    await s.ana._post("details", channel=found["channel"], ts=found["ts"], url=found["unfurls"][0]["url"])
