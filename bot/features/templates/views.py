"""The list of a project's templates."""

from collections.abc import Sequence

from bot.access.projects import KnownProject
from bot.features.templates.buttons import EditTemplate, NewTemplate, RemoveTemplate, UseTemplate
from bot.slack.surfaces.blocks import Block, Message, actions, button, confirm, context, section, shortened
from bot.slack.text.mrkdwn import bold, line
from bot.store.templates import Template

PURPOSE = "A template fills in a new issue's description, issue type, priority, and the start of its subject."
THEN = "Nobody can use it for new issues anymore. Issues created from it stay."
NAME = 60


def listing(project: KnownProject, templates: Sequence[Template], said: str = "") -> Message:
    """The templates with their buttons, below `said`, the result of the last action (mrkdwn)."""
    count, name = len(templates), bold(project.name)
    text = f"{count or 'No'} template{'' if count == 1 else 's'} in {name}{'' if count else ' yet.'}"
    blocks: list[Block] = [section(said)] if said else []
    blocks.append(section(text))
    for template in templates:
        blocks += [section(_entry(template)), _buttons(template)]
    if not count:
        blocks.append(context(PURPOSE))
    new = button("New template", NewTemplate(project=project.id), style=None if count else "primary")
    return Message(" ".join(filter(None, (said, text))), (*blocks, actions([new])))


def saved(template: Template, *, new: bool) -> str:
    return f"{bold(template.name)} is {'added' if new else 'updated'}."


def removed(template: Template) -> str:
    return f"{bold(template.name)} is removed."


def asking(template: Template) -> Message:
    """The question before a template that was named in a command is removed."""
    text = f"Remove {bold(template.name)}? {THEN}"
    remove = button("Remove", RemoveTemplate(template=template.id), style="danger")
    return Message(text, (section(text), actions([remove])))


def _entry(template: Template) -> str:
    content = template.content
    facts = [
        f"Subject starts with {line(content.prefix)}" if content.prefix else "",
        *(line(choice.name) for choice in content.choices.values()),
    ]
    here = " · Only in this channel" if template.channel_id else ""
    return "\n".join(filter(None, (f"{bold(template.name)}{here}", " · ".join(filter(None, facts)))))


def _buttons(template: Template) -> Block:
    question = confirm(f"Remove {shortened(template.name, NAME)}?", THEN, "Remove", style="danger")
    use = button("Use template", UseTemplate(project=template.project_id, template=template.id))
    edit = button("Edit", EditTemplate(template=template.id))
    remove = button("Remove", RemoveTemplate(template=template.id), style="danger", confirm=question)
    return actions([use, edit, remove])
