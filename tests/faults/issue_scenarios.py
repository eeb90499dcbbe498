"""Scenarios with issues."""

from collections.abc import AsyncGenerator

from bot.sandbox.tracker.data import Category, free_id
from bot.sandbox.tracker.defaults import BUG
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner, scenario
from tests.support.digesting import WEB
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]
CREATED = r"[Cc]reated "
CHOICES = ("tracker", "status", "priority", "assignee", "category", "version", "watchers")
OTHER = 2
"""A project that gets so many categories that the select searches them as the user types."""
SEVERITY = 1


async def issues_made(s: Scene) -> int:
    return sum(s.word in issue.subject for issue in s.data.issues.values())


async def shared_here(s: Scene) -> int:
    return sum("shared" in m["text"] and not m["ephemeral"] for m in await s.person("ben").messages())


async def issues_taken(s: Scene) -> int:
    mine = [i for i in s.data.issues.values() if i.subject == s.word and i.assigned_to_id == 1]
    return len(mine)


async def announced(s: Scene) -> int:
    """Returns 1 if the announcement has been deleted, 0 if it is still there."""
    return int(not any(s.word in m["text"] and not m["ephemeral"] for m in await s.ana.messages()))


async def message(s: Scene, *files: str, text: str = "") -> JSON:
    """Posts a message as Ana, with files, and returns it."""
    ids = [(await s.ana.upload(name, b"1"))["id"] for name in files]
    await s.ana._post("message", channel=s.office.channel_id("general"), text=text or s.word, file_ids=ids)
    await s.settled()
    return next(m for m in reversed(await s.ana.messages()) if not m["is_bot"])


async def new_issue(s: Scene) -> JSON:
    """Opens the form for a new issue."""
    await s.ana.command("/issue new project:webshop")
    return await s.form("New issue")


# Issues


@scenario("issue new", "command:issue", effect=issues_made, said=CREATED, typed=True)
async def create(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/issue new {s.word} project:webshop priority:high to:me")


@scenario("issue for a colleague", "command:issue", effect=issues_made, said=CREATED, typed=True)
async def create_for_colleague(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/issue new {s.word} project:infrastructure to:@chris")


@scenario("issue show", "command:issue", refused=f"#{NUMBER} Delivery")
async def show(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/issue {NUMBER}")


@scenario("issue form", "command:issue")
async def open_form(s: Scene) -> Steps:
    yield
    await s.ana.command("/issue new project:webshop due:2030-01-02")


@scenario("create shortcut", "shortcut:create_issue")
async def shortcut(s: Scene) -> Steps:
    yield
    await s.ana.shortcut("create_issue")


@scenario("create from message", "shortcut:issue_from_message")
async def from_message(s: Scene) -> Steps:
    found = await message(s)
    yield
    await s.ana.shortcut("issue_from_message", found)


@scenario("submit issue", "form:issue.create", effect=issues_made, said=CREATED, typed=True)
async def submit(s: Scene) -> Steps:
    form = await new_issue(s)
    yield
    await s.ana.submit(form, {"Subject": s.word, "Description": "Typed with care", "Tracker": "Support"})


@scenario("submit issue with a file", "form:issue.create", effect=issues_made, said=CREATED, typed=True)
async def submit_with_file(s: Scene) -> Steps:
    await s.ana.shortcut("issue_from_message", await message(s, f"{s.slug}.log"))
    await s.ana.choose(await s.form("New issue"), "Project", "Web Shop")
    form = await s.form("New issue")
    yield
    await s.ana.submit(form, {"Subject": s.word})


@scenario("submit issue with its thread", "form:issue.create", effect=issues_made, said=CREATED, typed=True)
async def submit_with_thread(s: Scene) -> Steps:
    parent = await message(s, f"{s.slug}.log")
    await s.ana.say("Here, too", parent)
    await s.ana.shortcut("issue_from_message", parent)
    await s.ana.choose(await s.form("New issue"), "Project", "Web Shop")
    form = await s.form("New issue")
    yield
    await s.ana.submit(form, {"Subject": s.word, "Thread": True})


@scenario("open form with a draft", "action:issue.open_draft")
async def open_draft(s: Scene) -> Steps:
    answer = await s.after(s.ana.command(f"/issue new {s.word} project:webshop priority:hihg"))
    yield
    await s.ana.press(answer, "Open form")


@scenario("more fields", "action:issue.more_fields")
async def more_fields(s: Scene) -> Steps:
    form = await new_issue(s)
    yield
    await s.ana.press_in_form(form, "More fields")


@scenario("open the form again", "action:form.reopen")
async def reopen(s: Scene) -> Steps:
    form = await new_issue(s)
    await s.ana.close(form)
    shown = {name: form[name] for name in ("type", "callback_id", "title", "submit", "close", "blocks")}
    offer = await s.offer(
        {"view": shown | {"private_metadata": form["private_metadata"]}}, "Reopen form", "form.reopen"
    )
    yield
    await s.ana.press(offer, "Reopen form")


def typed(text: str) -> JSON:
    """Returns what the bot saves of a command whose form couldn't be opened in time."""
    name, _, rest = text.partition(" ")
    return {"command": name, "text": rest, "channel_id": CHANNEL}


@scenario("open the form late", "action:form.resume")
async def resume(s: Scene) -> Steps:
    offer = await s.offer(typed("/issue new project:webshop"), "Open form", "form.resume")
    yield
    await s.ana.press(offer, "Open form")


@scenario("resume a saved command", "action:form.resume", effect=issues_made, said=CREATED, typed=True)
async def resume_with_effect(s: Scene) -> Steps:
    offer = await s.offer(typed(f"/issue new {s.word} project:webshop"), "Open form", "form.resume")
    yield
    await s.ana.press(offer, "Open form")


@scenario("choose project", "action:issue.project")
async def choose_project(s: Scene) -> Steps:
    choose = await s.choosing(await new_issue(s), "Project", "Infrastructure")
    yield
    await choose()


@scenario("choose tracker", "action:issue.tracker")
async def choose_tracker(s: Scene) -> Steps:
    # As the bot knows after the service refused a bug without a severity.
    s.office.bot.features.catalogs.note_required(owner("ana"), OTHER, BUG, [SEVERITY])
    await s.ana.command("/issue new project:mobile tracker:bug")
    choose = await s.choosing(await s.form("New issue"), "Tracker", "Feature")
    yield
    await choose()


@scenario("type subject", "action:issue.subject", expects_answer=False)
async def type_subject(s: Scene) -> Steps:
    for number in [number for number, issue in s.data.issues.items() if issue.subject.startswith("Gadget ")]:
        del s.data.issues[number]  # issues of earlier runs would match as similar
    s.issue()
    form = await new_issue(s)
    yield
    await s.ana.type_into(form, "Subject", s.word)


@scenario("show button", "action:issue.show")
async def show_pressed(s: Scene) -> Steps:
    made = await s.after(s.ana.command(f"/issue new {s.word} project:webshop private:yes"))
    yield
    await s.ana.press(made, "Show issue")


@scenario("show more", "action:issue.more")
async def show_more(s: Scene) -> Steps:
    s.issue()
    s.data.issues[max(s.data.issues)].description = "Many words. " * 60
    card = await s.after(s.ana.command(f"/issue {max(s.data.issues)}"))
    yield
    await s.ana.press(card, "Show more")


SHARED = r"(?<!n't )\bshared <"


@scenario("share button", "action:issue.share", effect=shared_here, said=SHARED, refused="Share issue")
async def share(s: Scene) -> Steps:
    s.issue()
    card = await s.after(s.ana.command(f"/issue {max(s.data.issues)}"))
    yield
    await s.ana.press(card, "Share here")


@scenario(
    "delete post",
    "action:announcement.take_back",
    effect=announced,
    said=r"\A\s*\Z",
    expects_answer=False,
)
async def delete_post(s: Scene) -> Steps:
    await s.after(s.ana.command(f"/issue new {s.word} project:webshop"))
    made = next(m for m in await s.ana.messages() if s.word in str(m) and not m["ephemeral"])
    yield
    await s.ana.delete_post(made)


@scenario("delete post in answer", "action:issue.delete_post", effect=announced, said="The post is deleted")
async def delete_post_pressed(s: Scene) -> Steps:
    answer = await s.after(s.ana.command(f"/issue new {s.word} project:webshop"))
    yield
    await s.ana.press(answer, "Delete post")


@scenario("open button", "action:open", expects_answer=False)
async def open_pressed(s: Scene) -> Steps:
    card = await s.after(s.ana.command(f"/issue {NUMBER}"))
    yield
    await s.ana.press(card, "Open in Tracker")


async def result(s: Scene) -> JSON:
    """Returns search results with one issue in them."""
    s.issue()
    return await s.after(s.ana.command(f"/issues id:{max(s.data.issues)}"))


@scenario("menu: assign to me", "action:issue.assign", effect=issues_taken, said="assigned to you")
async def menu_assign(s: Scene) -> Steps:
    found = await result(s)
    yield
    await s.ana.choose_from_menu(found, s.word, "Assign to me")


@scenario(
    "menu: share",
    "action:issue.share_listed",
    effect=shared_here,
    said=SHARED,
    refused="Share issue",
)
async def menu_share(s: Scene) -> Steps:
    found = await result(s)
    yield
    await s.ana.choose_from_menu(found, s.word, "Share here")


async def digest(s: Scene) -> JSON:
    """Posts a digest that contains one unassigned issue and returns the post."""
    await s.ana.command(WEB)
    await s.settled()
    s.issue()
    listed = await s.after(s.ana.command("/digest"))
    await s.after(s.ana.press(listed, "Send now"))
    return next(m for m in await s.ana.messages() if s.word in str(m["blocks"]) and not m["ephemeral"])


@scenario("menu: take", "action:issue.take", effect=issues_taken, said="assigned to you")
async def menu_take(s: Scene) -> Steps:
    posted = await digest(s)
    yield
    await s.ana.choose_from_menu(posted, s.word, "Assign to me")


@scenario("menu: more actions", "action:issue.show")
async def menu_more(s: Scene) -> Steps:
    posted = await digest(s)
    yield
    await s.ana.choose_from_menu(posted, s.word, "More actions")


@scenario("take from someone else", "action:issue.take", effect=issues_taken, said="assigned to you")
async def take_from(s: Scene) -> Steps:
    posted = await digest(s)
    s.data.issues[max(s.data.issues)].assigned_to_id = 2
    asked = await s.after(s.ana.choose_from_menu(posted, s.word, "Assign to me"))
    yield
    await s.ana.press(asked, "Assign to me")


# Searching


# Selects that search as the user types


@scenario("offer projects", "options:issue.project", expects_answer=False)
async def offer_projects(s: Scene) -> Steps:
    form = await new_issue(s)
    yield
    s.offered = await s.ana.suggest(form, "Project", "web")


@scenario("offer parents", "options:issue.parent", expects_answer=False)
async def offer_parents(s: Scene) -> Steps:
    s.issue()
    form = await s.ana.with_more_fields(await new_issue(s))
    yield
    s.offered = await s.ana.suggest(form, "Parent issue", s.word)


@scenario("offer choices", *(f"options:issue.{name}" for name in CHOICES), expects_answer=False)
async def offer_choices(s: Scene) -> Steps:
    while sum(category.project_id == OTHER for category in s.data.categories.values()) <= 100:
        number = free_id(s.data.categories)
        s.data.categories[number] = Category(number, f"Part {number}", OTHER)
    await s.ana.command("/issue new project:mobile")
    form = await s.ana.with_more_fields(await s.form("New issue"))
    yield
    s.offered = await s.ana.suggest(form, "Category", "Part")


@scenario("offer custom values", "options:issue.custom", expects_answer=False)
async def offer_custom_values(s: Scene) -> Steps:
    await s.ana.command("/issue new project:mobile tracker:bug")
    form = await s.ana.with_more_fields(await s.form("New issue"))
    yield
    s.offered = await s.ana.suggest(form, "Severity", "Maj")
