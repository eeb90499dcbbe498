"""Scenarios with mentions of the bot and direct messages to it."""

from tests.faults.issue_scenarios import CREATED, issues_made
from tests.faults.scenario import Steps, press, scenario
from tests.faults.scene import IDS, NUMBER, Scene
from tests.support.reading import JSON

BOT = "@issuebot"


async def mentioned(s: Scene, text: str, thread: JSON | None = None) -> JSON:
    """The answer to a mention."""
    return await s.after(s.ana.say(f"{BOT} {text}", thread))


async def thread_menu(s: Scene, _who: str) -> JSON:
    thread = await s.message(text=f"Delivery costs, as in #{NUMBER}")
    await s.ana.say("Here, too", thread)
    return await mentioned(s, "", thread)


@scenario("mention", "event:app_mention", effect=issues_made, confirmation=CREATED)
async def mention(s: Scene) -> Steps:
    text = f"{BOT} new {s.word} project:webshop"
    yield
    await s.ana.say(text)


@scenario("direct message", "event:message", effect=issues_made, confirmation=CREATED)
async def direct(s: Scene) -> Steps:
    channel, text = s.office.workspace.state.im(IDS["ana"]).id, f"new {s.word} project:webshop"
    yield
    await s.ana._post("message", channel=channel, text=text)


@scenario("create from a mention", "action:mention.create")
async def create(s: Scene) -> Steps:
    answer = await mentioned(s, s.word)
    yield
    await s.ana.press(answer, f"Create issue “{s.word}”")


@scenario("search from a mention", "action:mention.run")
async def search(s: Scene) -> Steps:
    answer = await mentioned(s, s.word)
    yield
    await s.ana.press(answer, f"Search for “{s.word}”")


press("find what a thread is about", "related.find", thread_menu, "Find related issues")
