"""Scenarios with the Home tab and with links to issues."""

from typing import Unpack

from bot.store.notices import Topic
from tests.faults.issue_scenarios import TAKEN
from tests.faults.scenario import About, Steps, command, press, scenario
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner
from tests.features.link_cards.panes import Pane
from tests.support.reading import JSON, rich_section, rich_text, until


async def home(s: Scene) -> JSON:
    """Returns the Home tab once it is published."""
    await s.ana.open_home()
    await s.settled()
    return await until(s.ana.home)


def at_home(name: str, action: str, *labels: str, **about: Unpack[About]) -> None:
    """Adds a scenario of a button of the Home tab, whose label begins with one of these."""

    @scenario(name, f"action:{action}", **about)
    async def steps(s: Scene) -> Steps:
        blocks = (await home(s))["blocks"]
        elements = (e for b in blocks for e in (*b.get("elements", ()), b.get("accessory") or {}))
        buttons = (e["text"]["text"] for e in elements if e.get("type") == "button")
        label = next(text for text in buttons if text.startswith(labels))
        yield
        await s.ana.press_at_home(label)


at_home("home: create", "home.create", "Create an issue")
at_home("home: search", "home.search", "Search issues")
at_home("home: time", "home.time", "Log time")
at_home("home: mine", "home.mine", "Show all ")


@scenario("home: tell me about", "action:notice.topics", confirmation="Tell me about", answers=2)
async def choose_topics(s: Scene) -> Steps:
    await s.office.bot.store.notices.switch(owner("ana"), [Topic.COMMENTS], None)
    view = await home(s)
    yield
    await s.ana.tick(view, "Issues assigned to me", "New comments")


async def muted(s: Scene, _who: str) -> JSON:
    """Ana's muted issues."""
    await s.office.bot.store.notices.mute(owner("ana"), NUMBER, on=True)
    return await s.after(s.ana.command("/tracker notify"))


press("unmute an issue", "notice.mute", muted, "Unmute", confirmation="Tell me about")
command("turn on comments", "/tracker notify comments on", confirmation="Tell me about")


@scenario("open home", "event:app_home_opened")
async def open_home(s: Scene) -> Steps:
    yield
    await s.ana.open_home()


@scenario("invite the bot", "event:member_joined_channel")
async def invite(s: Scene) -> Steps:
    state = s.office.workspace.state
    state.kick(CHANNEL, state.app.bot_user_id)
    yield
    await s.ana.command("/invite @Issue Bot")


def link(s: Scene) -> str:
    """Returns the URL of an issue created for this run."""
    return f"{s.office.bot.client.base_url}/issues/{s.issue().id}"


@scenario("share a link", "event:link_shared", expects_answer=False)
async def share_link(s: Scene) -> Steps:
    url = link(s)
    yield
    await s.ana.say(url)


async def linked(s: Scene) -> JSON:
    """Returns where the card of a new issue is, as the page names it."""
    posted = await s.ana.say(link(s))
    await s.settled()
    card = next(m for m in await s.ana.messages() if m["ts"] == posted["ts"])
    return {"channel": card["channel"], "ts": card["ts"], "url": card["unfurls"][0]["url"]}


@scenario("open details", "event:entity_details_requested", refused="date_created")
async def open_details(s: Scene) -> Steps:
    card = await linked(s)
    yield
    await s.ana._post("details", **card)


@scenario("open comments", "event:entity_comments_requested", refused="date_created")
async def open_comments(s: Scene) -> Steps:
    await s.ana._post("details", **await linked(s))
    await s.settled()
    yield
    await s.ana._post("details")


async def issues_due(s: Scene) -> int:
    return sum(s.word in i.subject and i.due_date is not None for i in s.data.issues.values())


EDIT: About = {"effect": issues_due, "confirmation": "2036-01-02|Changed ", "refused": "date_created"}


@scenario("edit details", "edit:work-object-edit", **EDIT)
async def edit_details(s: Scene) -> Steps:
    await s.ana._post("details", **await linked(s))
    await s.settled()
    values = await Pane(s.office, s.ana).entered(due_date="2036-01-02")
    yield
    await s.ana._post("details", values=values)


async def comments_posted(s: Scene) -> int:
    return sum(s.word in note.text for issue in s.data.issues.values() for note in issue.notes)


POSTED: About = {
    "effect": comments_posted,
    "confirmation": r'"comment": {"value": "Gadget|Commented on',
    "typed": True,
    "answers": 2,  # the details say that it failed, and a message gives back the text
}


@scenario("comment in details", "edit:work-object-post-comment", **POSTED)
async def comment_in_details(s: Scene) -> Steps:
    await s.ana._post("details", **await linked(s))
    await s.settled()
    await s.ana._post("details")
    await s.settled()
    yield
    await s.ana._post("details", comment=rich_text(rich_section(s.word)))


@scenario("assign in details", "action:details.assign", **TAKEN)
async def assign_in_details(s: Scene) -> Steps:
    await s.ana._post("details", **await linked(s))
    await s.settled()
    yield
    await s.ana._post("details", action_id="details.assign")
