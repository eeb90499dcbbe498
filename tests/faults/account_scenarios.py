"""Scenarios with projects, users and the user's own account."""

from bot.store.channels import Channel
from tests.faults.issue_scenarios import MADE
from tests.faults.scenario import (
    BY_BEN,
    BY_CHRIS,
    About,
    Steps,
    answer,
    close,
    command,
    form,
    press,
    scenario,
    submit,
)
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner
from tests.support.office import TEAM
from tests.support.people import KEYS
from tests.support.reading import JSON

INFRASTRUCTURE = 3


async def projects_made(s: Scene) -> int:
    return sum(project.name == s.word for project in s.data.projects.values())


async def users_made(s: Scene) -> int:
    return sum(user.login == s.slug for user in s.data.users.values())


async def users_changed(s: Scene) -> int:
    return sum(user.lastname == s.word for user in s.data.users.values())


async def default_set(s: Scene) -> int:
    project_id = await s.office.bot.store.channels.default_project(Channel(TEAM, CHANNEL))
    return int(project_id is not None)


async def default_cleared(s: Scene) -> int:
    return 1 - await default_set(s)


async def ben_linked(s: Scene) -> int:
    return int(await s.office.bot.store.links.get(owner("ben")) is not None)


async def ana_unlinked(s: Scene) -> int:
    return int(await s.office.bot.store.links.get(owner("ana")) is None)


async def with_default(s: Scene) -> None:
    channels = s.office.bot.store.channels
    await channels.set_default(owner("ana"), Channel(TEAM, CHANNEL), INFRASTRUCTURE)


NEW_PROJECT = form("New project", "/tracker project new {word}")
SET: About = {"effect": default_set, "confirmation": "now uses"}
NOT_ALLOWED = "administrators can create"


async def new_project(s: Scene, who: str) -> JSON:
    """The answer to a new project."""
    return await s.after(s.person(who).submit(await NEW_PROJECT(s, who), {}), who)


command("projects", "/tracker projects")
command("project", "/tracker project webshop")
command("default", "/tracker default infrastructure", **SET)
command(
    "no default", "/tracker default none", with_default, effect=default_cleared, confirmation="no longer has"
)
command("project form", "/tracker project new {word}", who="chris")
submit(
    "submit project",
    "project.new",
    NEW_PROJECT,
    {"Description": "Typed with care"},
    effect=projects_made,
    confirmation="Created",
    typed=True,
    who="chris",
)
press("default button", "project.default", new_project, "Use in this channel", **SET | BY_CHRIS)
press("project candidate", "project.show", answer("/tracker project webshp"), "Web Shop")


@scenario("type project name", "action:project.name", expects_answer=False, who="chris")
async def type_name(s: Scene) -> Steps:
    view = await form("New project", "/tracker project new")(s, "chris")
    yield
    await s.chris.type_into(view, "Name", s.word)


command("user", "/tracker user 3", refused="There's no user")
command("user form", "/tracker user new @gwen", who="chris")
submit(
    "submit user",
    "user.new",
    form("New account", "/tracker user new @gwen"),
    {"Login": "{slug}", "Email": "{slug}@harbor.example", "Last name": "{word}"},
    effect=users_made,
    confirmation="Created",
    refused=NOT_ALLOWED,
    typed=True,
    who="chris",
)
command("user edit form", "/tracker user edit 4", who="chris", refused="There's no user")
submit(
    "submit changed user",
    "user.edit",
    form("Edit account", "/tracker user edit 4"),
    {"Last name": "{word}"},
    effect=users_changed,
    confirmation="Updated",
    refused=f"{NOT_ALLOWED}|There's no user",
    typed=True,
    who="chris",
)


# The user's own account: Ben isn't linked yet.


LINKED: About = {"effect": ben_linked, "confirmation": "linked as", "who": "ben"}
KEY = {"API key": KEYS["ben"]}
LINK, LINK_FIRST = form("Link account", "/tracker link"), form("Link account", f"/issue {NUMBER}")


async def other_email(s: Scene, _who: str) -> JSON:
    """The question whether to link somebody with another email address."""
    ben = s.person("ben")
    await ben.submit(await LINK(s, "ben"), {"API key": KEYS["chris"]})
    return await ben.form_saying("Link account", "Link it anyway?")


async def offer_to_link(s: Scene, who: str) -> JSON:
    return await s.after(s.person(who).close(await LINK_FIRST(s, who)), who)


command("account", "/tracker")
command("whoami", "/tracker whoami")
command("unlink", "/tracker unlink", effect=ana_unlinked, confirmation="is unlinked")
command("link form", "/tracker link", who="ben")
submit("submit key", "link", LINK, KEY, **LINKED)
submit("submit key and go on", "link", LINK_FIRST, KEY, confirmation="linked as", who="ben")
submit(
    "submit key and create",
    "link",
    form("Link account", "/issue new {word} project:webshop"),
    KEY,
    **MADE | BY_BEN,
)
close("close link form", "link", LINK_FIRST, who="ben")
press("link button", "link.open", offer_to_link, "Link account", who="ben")
submit("link another email", "link.anyway", other_email, {}, **LINKED)
close("close the question", "link.anyway", other_email, expects_answer=False, who="ben")
press("help button", "help", answer("/tracker"), "Help")
