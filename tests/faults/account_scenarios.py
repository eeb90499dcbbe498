"""Scenarios with projects, users and the user's own account."""

from collections.abc import AsyncGenerator

from tests.faults.issue_scenarios import CREATED, issues_made
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner, scenario
from tests.support.office import TEAM
from tests.support.people import KEYS
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]
INFRASTRUCTURE = 3
ADMINISTRATORS = "administrators can create"


async def projects_made(s: Scene) -> int:
    return sum(project.name == s.word for project in s.data.projects.values())


async def users_made(s: Scene) -> int:
    return sum(user.login == s.slug for user in s.data.users.values())


async def users_changed(s: Scene) -> int:
    return sum(user.lastname == s.word for user in s.data.users.values())


async def default_set(s: Scene) -> int:
    found = await s.office.bot.store.channels.default_project(TEAM, CHANNEL)
    return int(found is not None)


async def default_cleared(s: Scene) -> int:
    return 1 - await default_set(s)


async def ben_linked(s: Scene) -> int:
    return int(await s.office.bot.store.links.get(owner("ben")) is not None)


async def ana_unlinked(s: Scene) -> int:
    return int(await s.office.bot.store.links.get(owner("ana")) is None)


# Projects


@scenario("projects", "command:tracker")
async def list_projects(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker projects")


@scenario("project", "command:tracker")
async def show_project(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker project webshop")


@scenario("default", "command:tracker", effect=default_set, said="now uses")
async def set_default(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker default infrastructure")


@scenario("no default", "command:tracker", effect=default_cleared, said="no longer has")
async def clear_default(s: Scene) -> Steps:
    await s.office.bot.store.channels.set_default(
        TEAM, CHANNEL, INFRASTRUCTURE, "Infrastructure", by=owner("ana")
    )
    yield
    await s.ana.command("/tracker default none")


@scenario("project form", "command:tracker", who="chris")
async def project_form(s: Scene) -> Steps:
    yield
    await s.chris.command(f"/tracker project new {s.word}")


@scenario("type project name", "action:project.name", expects_answer=False, who="chris")
async def type_name(s: Scene) -> Steps:
    await s.chris.command("/tracker project new")
    form = await s.form("New project", "chris")
    yield
    await s.chris.type_into(form, "Name", s.word)


@scenario("submit project", "form:project.new", effect=projects_made, said="Created", typed=True, who="chris")
async def submit_project(s: Scene) -> Steps:
    await s.chris.command(f"/tracker project new {s.word}")
    form = await s.form("New project", "chris")
    yield
    await s.chris.submit(form, {"Description": "Typed with care"})


@scenario("default button", "action:project.default", effect=default_set, said="now uses", who="chris")
async def default_pressed(s: Scene) -> Steps:
    await s.chris.command(f"/tracker project new {s.word}")
    made = await s.after(s.chris.submit(await s.form("New project", "chris"), {}), "chris")
    yield
    await s.chris.press(made, "Use in this channel")


@scenario("project candidate", "action:project.show")
async def show_pressed(s: Scene) -> Steps:
    offer = await s.after(s.ana.command("/tracker project webshp"))
    yield
    await s.ana.press(offer, "Web Shop")


# Users


@scenario("user", "command:tracker", refused="There's no user")
async def show_user(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker user 3")


@scenario("user form", "command:tracker", who="chris")
async def user_form(s: Scene) -> Steps:
    yield
    await s.chris.command("/tracker user new @gwen")


@scenario(
    "submit user",
    "form:user.new",
    effect=users_made,
    said="Created",
    typed=True,
    who="chris",
    refused=ADMINISTRATORS,
)
async def submit_user(s: Scene) -> Steps:
    await s.chris.command("/tracker user new @gwen")
    form = await s.form("New account", "chris")
    yield
    values = {"Login": s.slug, "Email": f"{s.slug}@harbor.example", "Last name": s.word}
    await s.chris.submit(form, values)


@scenario("user edit form", "command:tracker", who="chris")
async def user_edit_form(s: Scene) -> Steps:
    yield
    await s.chris.command("/tracker user edit 4")


@scenario(
    "submit changed user",
    "form:user.edit",
    effect=users_changed,
    said="Saved",
    typed=True,
    who="chris",
    refused=ADMINISTRATORS,
)
async def submit_changed_user(s: Scene) -> Steps:
    await s.chris.command("/tracker user edit 4")
    form = await s.form("Edit account", "chris")
    yield
    await s.chris.submit(form, {"Last name": s.word})


# The user's own account


@scenario("account", "command:tracker")
async def account(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker")


@scenario("whoami", "command:tracker")
async def whoami(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker whoami")


@scenario("unlink", "command:tracker", effect=ana_unlinked, said="is deleted")
async def unlink(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker unlink")


@scenario("link form", "command:tracker", who="ben")
async def link_form(s: Scene) -> Steps:
    yield
    await s.person("ben").command("/tracker link")


@scenario("submit key", "form:link", effect=ben_linked, said="linked as", who="ben")
async def submit_key(s: Scene) -> Steps:
    await s.person("ben").command("/tracker link")
    form = await s.form("Link account", "ben")
    yield
    await s.person("ben").submit(form, {"API key": KEYS["ben"]})


@scenario("submit key and go on", "form:link", said="linked as", who="ben")
async def submit_key_and_go_on(s: Scene) -> Steps:
    await s.person("ben").command(f"/issue {NUMBER}")
    form = await s.form("Link account", "ben")
    yield
    await s.person("ben").submit(form, {"API key": KEYS["ben"]})


@scenario("submit key and create", "form:link", effect=issues_made, said=CREATED, typed=True, who="ben")
async def submit_key_and_create(s: Scene) -> Steps:
    await s.person("ben").command(f"/issue new {s.word} project:webshop")
    form = await s.form("Link account", "ben")
    yield
    await s.person("ben").submit(form, {"API key": KEYS["ben"]})


@scenario("close link form", "closed:link", who="ben")
async def close_link(s: Scene) -> Steps:
    await s.person("ben").command(f"/issue {NUMBER}")
    form = await s.form("Link account", "ben")
    yield
    await s.person("ben").close(form)


@scenario("link button", "action:link.open", who="ben")
async def link_pressed(s: Scene) -> Steps:
    ben = s.person("ben")
    await ben.command(f"/issue {NUMBER}")
    offer = await s.after(ben.close(await s.form("Link account", "ben")), "ben")
    yield
    await ben.press(offer, "Link account")


@scenario("link another email", "form:link.anyway", effect=ben_linked, said="linked as", who="ben")
async def submit_anyway(s: Scene) -> Steps:
    asked = await _other_email(s)
    yield
    await s.person("ben").submit(asked, {})


@scenario("close the question", "closed:link.anyway", expects_answer=False, who="ben")
async def close_question(s: Scene) -> Steps:
    asked = await _other_email(s)
    yield
    await s.person("ben").close(asked)


@scenario("help button", "action:help")
async def help_pressed(s: Scene) -> Steps:
    shown = await s.after(s.ana.command("/tracker"))
    yield
    await s.ana.press(shown, "Help")


async def _other_email(s: Scene) -> JSON:
    ben = s.person("ben")
    await ben.command("/tracker link")
    await ben.submit(await s.form("Link account", "ben"), {"API key": KEYS["chris"]})
    return await ben.form_saying("Link account", "Link it anyway?")
