"""Scenarios with templates for new issues."""

from collections.abc import AsyncGenerator

from bot.store.channels import Channel
from bot.store.templates import Content, Template
from tests.faults.issue_scenarios import CREATED, issues_made
from tests.faults.scene import CHANNEL, NUMBER, WEBSHOP, Scene, owner, scenario
from tests.support.office import TEAM
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]
HEADING = "### Steps to reproduce"


async def templates_saved(s: Scene) -> int:
    found = await s.office.bot.store.templates.of_project(TEAM, WEBSHOP, Channel(TEAM, CHANNEL))
    return sum(template.name == s.word for template in found)


async def templates_gone(s: Scene) -> int:
    return 1 - await templates_saved(s)


async def template(s: Scene) -> None:
    """Stores a template with this run's word as its name."""
    made = Template(0, WEBSHOP, "", s.word, Content(prefix="[Bug]", description=HEADING))
    await s.office.bot.store.templates.put(owner("ana"), made)


async def listed(s: Scene) -> JSON:
    """Shows the templates, with one in the list."""
    await template(s)
    return await s.after(s.ana.command("/issue template project:webshop"))


async def new_template(s: Scene) -> JSON:
    """Opens the form for a new template."""
    await s.ana.command("/issue template new project:webshop")
    return await s.form("New template")


@scenario("templates", "command:issue", refused="1 template")
async def templates(s: Scene) -> Steps:
    await template(s)
    yield
    await s.ana.command("/issue template project:webshop")


@scenario("issue new from a template", "command:issue", effect=issues_made, said=CREATED, typed=True)
async def create_from_template(s: Scene) -> Steps:
    await template(s)
    yield
    await s.ana.command(f'/issue new template:"{s.word}" {s.word} project:webshop')


@scenario("new template", "action:template.new")
async def new_pressed(s: Scene) -> Steps:
    shown = await listed(s)
    yield
    await s.ana.press(shown, "New template")


@scenario("edit template", "action:template.edit")
async def edit_pressed(s: Scene) -> Steps:
    shown = await listed(s)
    yield
    await s.ana.press(shown, "Edit")


@scenario("remove template", "action:template.remove", effect=templates_gone, said="is removed")
async def remove_pressed(s: Scene) -> Steps:
    shown = await listed(s)
    yield
    await s.ana.press(shown, "Remove")


@scenario("use template", "action:template.use")
async def use_pressed(s: Scene) -> Steps:
    shown = await listed(s)
    yield
    await s.ana.press(shown, "Use template")


@scenario("choose template", "action:issue.template")
async def choose_template(s: Scene) -> Steps:
    await template(s)
    await s.ana.command("/issue new project:webshop")
    choose = await s.choosing(await s.form("New issue"), "Template", s.word)
    yield
    await choose()


@scenario("submit template", "form:template.save", effect=templates_saved, said="is saved", typed=True)
async def submit(s: Scene) -> Steps:
    form = await new_template(s)
    yield
    await s.ana.submit(form, {"Name": s.word, "Description": "Typed with care", "Priority": "High"})


@scenario("copy an issue to a template", "action:template.issue")
async def copy(s: Scene) -> Steps:
    choose = await s.choosing(await new_template(s), "Copy from an issue", str(NUMBER))
    yield
    await choose()


@scenario("offer issues to copy", "options:template.issue", expects_answer=False)
async def offer_issues(s: Scene) -> Steps:
    form = await new_template(s)
    yield
    s.offered = await s.ana.suggest(form, "Copy from an issue", str(NUMBER))
