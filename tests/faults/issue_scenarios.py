"""Scenarios with issues."""

from bot.sandbox.tracker.data import Category, free_id
from bot.sandbox.tracker.defaults import BUG
from tests.faults.scenario import (
    About,
    Setup,
    Steps,
    answer,
    choose,
    command,
    form,
    menu,
    press,
    press_in_form,
    scenario,
    shortcut,
    submit,
    suggest,
)
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner
from tests.support.digesting import WEB
from tests.support.reading import JSON

CREATED = r"[Cc]reated "
SHARED = r"(?<!n't )\bshared <"
OTHER = 2
"""A project that gets so many categories that the select searches them as the user types."""
SEVERITY = 1
NEW_ISSUE = form("New issue", "/issue new project:webshop")
NEW_MOBILE_BUG = form("New issue", "/issue new project:mobile tracker:bug")
CARD, CARD_OF_NEW = answer(f"/issue {NUMBER}"), answer("/issue {issue}")
FOUND = answer("/issues id:{issue}")


async def issues_made(s: Scene) -> int:
    return sum(s.word in issue.subject for issue in s.data.issues.values())


async def issues_shared(s: Scene) -> int:
    return sum("shared" in m["text"] and not m["ephemeral"] for m in await s.person("ben").messages())


async def issues_taken(s: Scene) -> int:
    return sum(i.subject == s.word and i.assigned_to_id == 1 for i in s.data.issues.values())


async def posts_gone(s: Scene) -> int:
    return int(not any(s.word in m["text"] and not m["ephemeral"] for m in await s.ana.messages()))


async def new_issue_with_thread(s: Scene, _who: str) -> JSON:
    """The form for a new issue from a message that has a file and an answer."""
    parent = await s.message(s.file)
    await s.ana.say("Here, too", parent)
    return await _for_webshop(s, parent)


async def new_issue_with_file(s: Scene, _who: str) -> JSON:
    return await _for_webshop(s, await s.message(s.file))


async def _for_webshop(s: Scene, message: JSON) -> JSON:
    await s.ana.shortcut("issue_from_message", message)
    await s.ana.choose(await s.form("New issue"), "Project", "Web Shop")
    return await s.form("New issue")


async def reopening(s: Scene, who: str) -> JSON:
    """Offers to reopen a form that the user has closed."""
    view = await NEW_ISSUE(s, who)
    await s.ana.close(view)
    kept = ("type", "callback_id", "title", "submit", "close", "blocks", "private_metadata")
    return await s.offer({"view": {name: view[name] for name in kept}}, "Reopen form", "form.reopen")


def saved(command: str) -> Setup:
    """Offers to go on with a command whose form couldn't be opened in time."""

    async def setup(s: Scene, _who: str) -> JSON:
        name, _, rest = s.filled(command).partition(" ")
        kept = {"payload": {"command": name, "text": rest, "channel_id": CHANNEL}}
        return await s.offer(kept, "Open form", "form.resume")

    return setup


async def requiring_severity(s: Scene, who: str) -> JSON:
    """The form, as after the service refused a bug without a severity."""
    s.office.bot.parts.catalogs.note_required(owner("ana"), OTHER, BUG, [SEVERITY])
    return await NEW_MOBILE_BUG(s, who)


async def long_card(s: Scene, _who: str) -> JSON:
    s.issue().description = "Many words. " * 60
    return await s.after(s.ana.command(f"/issue {max(s.data.issues)}"))


async def digest(s: Scene, _who: str) -> JSON:
    """Posts a digest that contains one unassigned issue and returns the post."""
    await s.ana.command(WEB)
    await s.settled()
    s.issue()
    listed = await s.after(s.ana.command("/digest"))
    await s.after(s.ana.press(listed, "Send now"))
    return await _public(s)


async def taken_meanwhile(s: Scene, who: str) -> JSON:
    """The question whether to take an issue that somebody else has taken."""
    posted = await digest(s, who)
    s.data.issues[max(s.data.issues)].assigned_to_id = 2
    return await s.after(s.ana.choose_from_menu(posted, s.word, "Assign to me"))


async def all_fields(s: Scene, who: str) -> JSON:
    s.issue()
    return await s.ana.with_more_fields(await NEW_ISSUE(s, who))


async def all_fields_of_bug(s: Scene, who: str) -> JSON:
    return await s.ana.with_more_fields(await NEW_MOBILE_BUG(s, who))


async def after_unfinished(s: Scene, who: str) -> JSON:
    """The form, after another one was closed unfinished."""
    unfinished = await NEW_ISSUE(s, who)
    await s.ana.type_into(unfinished, "Subject", s.word)
    await s.settled()
    await s.ana.close(unfinished)
    return await NEW_ISSUE(s, who)


async def many_categories(s: Scene, who: str) -> JSON:
    while sum(category.project_id == OTHER for category in s.data.categories.values()) <= 100:
        number = free_id(s.data.categories)
        s.data.categories[number] = Category(number, f"Part {number}", OTHER)
    return await s.ana.with_more_fields(await form("New issue", "/issue new project:mobile")(s, who))


async def _public(s: Scene) -> JSON:
    return next(m for m in await s.ana.messages() if s.word in str(m) and not m["ephemeral"])


MADE: About = {"effect": issues_made, "confirmation": CREATED, "typed": True}
TAKEN: About = {"effect": issues_taken, "confirmation": "Assignee"}
SHOWN: About = {"effect": issues_shared, "confirmation": SHARED, "refused": "Share issue"}

command("issue new", "/issue new {word} project:webshop priority:high to:me", **MADE)
command("issue for a colleague", "/issue new {word} project:infrastructure to:@chris", **MADE)
command("issue show", f"/issue {NUMBER}", refused=f"#{NUMBER} Delivery")
command("issue form", "/issue new project:webshop due:2030-01-02")
shortcut("create shortcut", "create_issue")
shortcut("create from message", "issue_from_message", Scene.message)
submit(
    "submit issue",
    "issue.create",
    NEW_ISSUE,
    {"Subject": "{word}", "Description": "Typed with care", "Issue type": "Support"},
    **MADE,
)
submit("submit issue with a file", "issue.create", new_issue_with_file, {"Subject": "{word}"}, **MADE)
submit(
    "submit issue with its thread",
    "issue.create",
    new_issue_with_thread,
    {"Subject": "{word}", "Thread": True},
    **MADE,
)
press(
    "open form with a draft",
    "issue.open_draft",
    answer("/issue new {word} project:webshop priority:hihg"),
    "Open form",
)
press_in_form("more fields", "issue.more_fields", NEW_ISSUE, "More fields")
press_in_form("continue draft", "issue.continue_draft", after_unfinished, "Continue draft")
press_in_form("discard draft", "issue.discard_draft", after_unfinished, "Discard", expects_answer=False)
press("open the form again", "form.reopen", reopening, "Reopen form")
press("open the form late", "form.resume", saved("/issue new project:webshop"), "Open form")
press(
    "resume a saved command", "form.resume", saved("/issue new {word} project:webshop"), "Open form", **MADE
)
choose("choose project", "issue.project", NEW_ISSUE, "Project", "Infrastructure")
choose("choose tracker", "issue.value", requiring_severity, "Issue type", "Feature")
choose("choose assignee", "issue.value", NEW_ISSUE, "Assignee", "Ana Ruiz (me)", expects_answer=False)
press("show button", "issue.show", answer("/issue new {word} project:webshop private:yes"), "Show issue")
press("show more", "issue.more", long_card, "Show more")
press("share button", "issue.share", CARD_OF_NEW, "Share here", **SHOWN)
press("open button", "open", CARD, "Open in Tracker", expects_answer=False)
menu("menu: assign to me", "issue.assign", FOUND, "Assign to me", **TAKEN)
menu("menu: share", "issue.share_listed", FOUND, "Share here", **SHOWN)
menu("menu: more actions", "issue.show", digest, "More actions")
press("take from someone else", "issue.assign", taken_meanwhile, "Assign to me", **TAKEN)
suggest("offer projects", "issue.project", NEW_ISSUE, "Project", "web")
suggest("offer parents", "issue.value", all_fields, "Parent issue", "{word}")
suggest("offer choices", "issue.value", many_categories, "Category", "Part")
suggest(
    "offer custom values", "issue.value", all_fields_of_bug, "Severity", "Maj", refused='"Maj"}\\]'
)  # the typed value can be chosen


@scenario("type subject", "action:issue.subject", expects_answer=False)
async def type_subject(s: Scene) -> Steps:
    for number in [number for number, issue in s.data.issues.items() if issue.subject.startswith("Gadget ")]:
        del s.data.issues[number]  # issues of earlier runs would match as similar
    s.issue()
    view = await NEW_ISSUE(s, "ana")
    yield
    await s.ana.type_into(view, "Subject", s.word)


@scenario(
    "delete post",
    "action:post.delete",
    effect=posts_gone,
    confirmation=r"\A\s*\Z",
    expects_answer=False,
)
async def delete_post(s: Scene) -> Steps:
    await s.after(s.ana.command(f"/issue new {s.word} project:webshop"))
    made = await _public(s)
    yield
    await s.ana.delete_post(made)
