"""What people do with issues and links to them."""

from collections.abc import AsyncGenerator

from bot.sandbox.tracker.data import Category, free_id
from tests.faults.scene import CHANNEL, NUMBER, Scene, doing
from tests.support.digesting import WEB
from tests.support.reading import JSON, button_saying, until

Steps = AsyncGenerator[None, None]
CREATED = r"[Cc]reated "
CHOICES = ("tracker", "status", "priority", "assignee", "category", "version", "watchers")
OTHER = 2
"""A project with so many categories that they are searched as one types."""


async def issues_made(s: Scene) -> int:
    return sum(s.word in issue.subject for issue in s.data.issues.values())


async def shared_here(s: Scene) -> int:
    return sum("shares" in m["text"] and not m["ephemeral"] for m in await s.person("ben").messages())


async def issues_taken(s: Scene) -> int:
    mine = [i for i in s.data.issues.values() if i.subject == s.word and i.assigned_to_id == 1]
    return len(mine)


async def announced(s: Scene) -> int:
    """How often an announcement was taken back: once, when it is there no more."""
    return int(not any(s.word in m["text"] and not m["ephemeral"] for m in await s.ana.messages()))


async def message(s: Scene, *files: str, text: str = "") -> JSON:
    """A message of Ana's, with files."""
    ids = [(await s.ana.upload(name, b"1"))["id"] for name in files]
    await s.ana._post("message", channel=s.office.channel_id("general"), text=text or s.word, file_ids=ids)
    await s.settled()
    return next(m for m in reversed(await s.ana.messages()) if not m["is_bot"])


async def new_issue(s: Scene) -> JSON:
    """The form for a new issue."""
    await s.ana.command("/issue new project:webshop")
    return await s.form("New issue")


# Issues


@doing("issue new", "command:issue", effect=issues_made, said=CREATED, typed=True)
async def create(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/issue new {s.word} project:webshop priority:high to:me")


@doing("issue show", "command:issue", refused=f"#{NUMBER} Delivery")
async def show(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/issue {NUMBER}")


@doing("issue form", "command:issue")
async def open_form(s: Scene) -> Steps:
    yield
    await s.ana.command("/issue new project:webshop due:2030-01-02")


@doing("create shortcut", "shortcut:create_issue")
async def shortcut(s: Scene) -> Steps:
    yield
    await s.ana.shortcut("create_issue")


@doing("create from message", "shortcut:issue_from_message")
async def from_message(s: Scene) -> Steps:
    found = await message(s)
    yield
    await s.ana.shortcut("issue_from_message", found)


@doing("submit issue", "form:issue.create", effect=issues_made, said=CREATED, typed=True)
async def submit(s: Scene) -> Steps:
    form = await new_issue(s)
    yield
    await s.ana.submit(form, {"Subject": s.word, "Description": "Typed with care", "Tracker": "Support"})


@doing("submit issue with a file", "form:issue.create", effect=issues_made, said=CREATED, typed=True)
async def submit_with_file(s: Scene) -> Steps:
    await s.ana.shortcut("issue_from_message", await message(s, f"{s.slug}.log"))
    await s.ana.choose(await s.form("New issue"), "Project", "Web Shop")
    form = await s.form("New issue")
    yield
    await s.ana.submit(form, {"Subject": s.word})


@doing("open the form again", "action:form.reopen")
async def reopen(s: Scene) -> Steps:
    form = await new_issue(s)
    await s.ana.close(form)
    shown = {name: form[name] for name in ("type", "callback_id", "title", "submit", "close", "blocks")}
    offer = await s.offer(
        {"view": shown | {"private_metadata": form["private_metadata"]}}, "Open the form again", "form.reopen"
    )
    yield
    await s.ana.press(offer, "Open the form again")


def typed(text: str) -> JSON:
    """What the bot keeps of a command whose form Slack didn't wait for."""
    name, _, rest = text.partition(" ")
    return {"command": name, "text": rest, "channel_id": CHANNEL}


@doing("open the form late", "action:form.resume")
async def resume(s: Scene) -> Steps:
    offer = await s.offer(typed("/issue new project:webshop"), "Open the form", "form.resume")
    yield
    await s.ana.press(offer, "Open the form")


@doing("carry out what was kept", "action:form.resume", effect=issues_made, said=CREATED, typed=True)
async def resume_with_effect(s: Scene) -> Steps:
    offer = await s.offer(typed(f"/issue new {s.word} project:webshop"), "Open the form", "form.resume")
    yield
    await s.ana.press(offer, "Open the form")


@doing("choose project", "action:issue.project")
async def choose_project(s: Scene) -> Steps:
    choose = await s.choosing(await new_issue(s), "Project", "Infrastructure")
    yield
    await choose()


@doing("choose tracker", "action:issue.tracker")
async def choose_tracker(s: Scene) -> Steps:
    await s.ana.command("/issue new project:mobile tracker:bug")
    refused = await s.form("New issue")
    await s.ana.submit(refused, {"Subject": s.word})  # the service says what it requires
    await s.ana.errors()
    await s.ana.close(refused)
    await s.ana.command("/issue new project:mobile tracker:bug")
    choose = await s.choosing(await s.form("New issue"), "Tracker", "Feature")
    yield
    await choose()


@doing("type subject", "action:issue.subject", asked=False)
async def type_subject(s: Scene) -> Steps:
    for number in [number for number, issue in s.data.issues.items() if issue.subject.startswith("Gadget ")]:
        del s.data.issues[number]  # earlier words are similar ones
    s.issue()
    form = await new_issue(s)
    yield
    await s.ana.type_into(form, "Subject", s.word)


@doing("show button", "action:issue.show")
async def show_pressed(s: Scene) -> Steps:
    made = await s.after(s.ana.command(f"/issue new {s.word} project:webshop"))
    yield
    await s.ana.press(made, "Show")


@doing("share button", "action:issue.share", effect=shared_here, said="shares", refused="Share it here")
async def share(s: Scene) -> Steps:
    s.issue()
    card = await s.after(s.ana.command(f"/issue {max(s.data.issues)}"))
    yield
    await s.ana.press(card, "Share here")


@doing("take back", "action:announcement.take_back", effect=announced, said="", asked=False)
async def take_back(s: Scene) -> Steps:
    made = await s.after(s.ana.command(f"/issue new {s.word} project:webshop"))
    yield
    await s.ana.press(made, "Take back")


@doing("open button", "action:open", asked=False)
async def open_pressed(s: Scene) -> Steps:
    card = await s.after(s.ana.command(f"/issue {NUMBER}"))
    yield
    await s.ana.press(card, "Open in Tracker")


async def result(s: Scene) -> JSON:
    """A search's answer with one issue in it."""
    s.issue()
    return await s.after(s.ana.command(f"/issues id:{max(s.data.issues)}"))


@doing("menu: show", "action:issue.menu", refused="Share it here")
async def menu_show(s: Scene) -> Steps:
    found = await result(s)
    yield
    await s.ana.choose_from_menu(found, s.word, "Show")


@doing("menu: share", "action:issue.menu", effect=shared_here, said="shares", refused="Share it here")
async def menu_share(s: Scene) -> Steps:
    found = await result(s)
    yield
    await s.ana.choose_from_menu(found, s.word, "Share here")


async def digest(s: Scene) -> JSON:
    """A digest with an issue of nobody's in it."""
    await s.ana.command(WEB)
    await s.settled()
    s.issue()
    listed = await s.after(s.ana.command("/digest"))
    await s.after(s.ana.press(listed, "Post now"))
    return next(m for m in await s.ana.messages() if s.word in str(m["blocks"]) and not m["ephemeral"])


@doing("menu: take", "action:issue.menu", effect=issues_taken, said="is yours")
async def menu_take(s: Scene) -> Steps:
    posted = await digest(s)
    yield
    await s.ana.choose_from_menu(posted, s.word, "Take it")


@doing("menu: log time", "action:issue.menu")
async def menu_time(s: Scene) -> Steps:
    posted = await digest(s)
    yield
    await s.ana.choose_from_menu(posted, s.word, "Log time")


@doing("take from somebody", "action:issue.take", effect=issues_taken, said="is yours")
async def take_from(s: Scene) -> Steps:
    posted = await digest(s)
    s.data.issues[max(s.data.issues)].assigned_to_id = 2
    asked = await s.after(s.ana.choose_from_menu(posted, s.word, "Take it"))
    yield
    await s.ana.press(asked, "Take it from Ben Okafor")


# Searching


@doing("issues", "command:issues")
async def search(s: Scene) -> Steps:
    yield
    await s.ana.command("/issues project:webshop status:any sort:id")


@doing("next page", "action:search.page.next")
async def next_page(s: Scene) -> Steps:
    found = await s.after(s.ana.command("/issues project:webshop status:any sort:id"))
    yield
    await s.ana.press(found, "Next ›")


@doing("previous page", "action:search.page.previous")
async def previous_page(s: Scene) -> Steps:
    found = await s.after(s.ana.command("/issues project:webshop status:any sort:id"))
    second = await s.after(s.ana.press(found, "Next ›"))
    yield
    await s.ana.press(second, "‹ Previous")


@doing("search shortcut", "shortcut:search_issues")
async def search_shortcut(s: Scene) -> Steps:
    yield
    await s.ana.shortcut("search_issues")


@doing("submit search", "form:search", typed=True)
async def submit_search(s: Scene) -> Steps:
    s.issue()
    await s.ana.shortcut("search_issues")
    form = await s.form("Search issues")
    yield
    await s.ana.submit(form, {"Subject": s.word, "Status": "Any"})


# Choices that are searched as one types


@doing("offer projects", "options:issue.project", asked=False)
async def offer_projects(s: Scene) -> Steps:
    form = await new_issue(s)
    yield
    s.offered = await s.ana.suggest(form, "Project", "web")


@doing("offer parents", "options:issue.parent", asked=False)
async def offer_parents(s: Scene) -> Steps:
    s.issue()
    form = await new_issue(s)
    yield
    s.offered = await s.ana.suggest(form, "Parent issue", s.word)


@doing("offer choices", *(f"options:issue.{name}" for name in CHOICES), asked=False)
async def offer_choices(s: Scene) -> Steps:
    while sum(category.project_id == OTHER for category in s.data.categories.values()) <= 100:
        number = free_id(s.data.categories)
        s.data.categories[number] = Category(number, f"Part {number}", OTHER)
    await s.ana.command("/issue new project:mobile")
    form = await s.form("New issue")
    yield
    s.offered = await s.ana.suggest(form, "Category", "Part")


@doing("offer custom values", "options:issue.custom", asked=False)
async def offer_custom_values(s: Scene) -> Steps:
    await s.ana.command("/issue new project:mobile tracker:bug")
    form = await s.form("New issue")
    yield
    s.offered = await s.ana.suggest(form, "Severity", "Maj")


# Home and links


async def home(s: Scene) -> JSON:
    """The Home tab once it is filled."""
    await s.ana.open_home()
    await s.settled()
    return await until(s.ana.home)


@doing("open home", "event:app_home_opened")
async def open_home(s: Scene) -> Steps:
    yield
    await s.ana.open_home()


@doing("home: create", "action:home.create")
async def home_create(s: Scene) -> Steps:
    await home(s)
    yield
    await s.ana.press_at_home("Create an issue")


@doing("home: search", "action:home.search")
async def home_search(s: Scene) -> Steps:
    await home(s)
    yield
    await s.ana.press_at_home("Search issues")


@doing("home: time", "action:home.time")
async def home_time(s: Scene) -> Steps:
    await home(s)
    yield
    await s.ana.press_at_home("Log time")


@doing("home: mine", "action:home.mine")
async def home_mine(s: Scene) -> Steps:
    shown = await home(s)
    rows = (block["elements"] for block in shown["blocks"] if block["type"] == "actions")
    title = next(e["text"]["text"] for row in rows for e in row if e["text"]["text"].startswith("All "))
    assert button_saying(shown["blocks"], title)
    yield
    await s.ana.press_at_home(title)


def linked(s: Scene) -> str:
    """The address of an issue of the scene's own."""
    s.issue()
    return f"{s.office.bot.client.base_url}/issues/{max(s.data.issues)}"


@doing("share a link", "event:link_shared", asked=False)
async def share_link(s: Scene) -> Steps:
    url = linked(s)
    yield
    await s.ana.say(url)


@doing("open details", "event:entity_details_requested")
async def open_details(s: Scene) -> Steps:
    said = await s.ana.say(linked(s))
    await s.settled()
    found = next(m for m in await s.ana.messages() if m["ts"] == said["ts"])
    yield
    await s.ana._post("details", channel=found["channel"], ts=found["ts"], url=found["unfurls"][0]["url"])
