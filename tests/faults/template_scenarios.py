"""Scenarios with templates for new issues."""

from bot.store.channels import Channel
from bot.store.plans import TemplateContent
from bot.store.templates import Template
from tests.faults.issue_scenarios import MADE, NEW_ISSUE
from tests.faults.scenario import answer, choose, command, form, press, submit, suggest
from tests.faults.scene import CHANNEL, NUMBER, WEBSHOP, Scene, owner
from tests.support.office import TEAM
from tests.support.reading import JSON


async def templates_saved(s: Scene) -> int:
    templates = await s.office.bot.store.templates.of_project(TEAM, WEBSHOP, Channel(TEAM, CHANNEL))
    return sum(template.name == s.word for template in templates)


async def templates_gone(s: Scene) -> int:
    return 1 - await templates_saved(s)


async def add_template(s: Scene) -> None:
    """Stores a template with this run's word as its name."""
    content = TemplateContent(prefix="[Bug]", description="### Steps to reproduce")
    await s.office.bot.store.templates.put(owner("ana"), Template(0, WEBSHOP, "", s.word, content))


async def listed(s: Scene, who: str) -> JSON:
    await add_template(s)
    return await answer("/issue template project:webshop")(s, who)


async def new_issue(s: Scene, who: str) -> JSON:
    await add_template(s)
    return await NEW_ISSUE(s, who)


NEW = form("New template", "/issue template new project:webshop")
command("templates", "/issue template project:webshop", add_template, refused="1 template")
command(
    "issue new from a template",
    '/issue new template:"{word}" {word} project:webshop',
    add_template,
    **MADE,
)
press("new template", "template.new", listed, "New template")
press("edit template", "template.edit", listed, "Edit")
press(
    "remove template", "template.remove", listed, "Remove", effect=templates_gone, confirmation="is removed"
)
press("use template", "template.use", listed, "Use template")
choose("choose template", "issue.template", new_issue, "Template", "{word}")
submit(
    "submit template",
    "template.save",
    NEW,
    {"Name": "{word}", "Description": "Typed with care", "Priority": "High"},
    effect=templates_saved,
    confirmation="is added",
    typed=True,
)
choose("copy an issue to a template", "template.issue", NEW, "Copy from an issue", str(NUMBER))
suggest("offer issues to copy", "template.issue", NEW, "Copy from an issue", str(NUMBER))
