"""The list of a project's templates, and the form for one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.access.catalog import Catalog
from bot.access.projects import KnownProject
from bot.features.issues.field_inputs import field_input
from bot.features.issues.fields import DESCRIPTION, Draft
from bot.features.templates.applying import TEMPLATED
from bot.features.templates.templates import NAME_LENGTH
from bot.service.models import Ref
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Message,
    actions,
    button,
    confirm,
    context,
    section,
    shortened,
)
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.surfaces.view import Metadata
from bot.slack.text.mrkdwn import bold, line
from bot.store.plans import FilterValue
from bot.store.templates import Template

CALLBACK_ID = "template.save"
PREFIX_LENGTH = 50
HERE, EVERYWHERE = "channel", "project"
PURPOSE = "A template fills in a new issue's description, issue type, priority, and the start of its subject."
THEN = "Nobody can use it for new issues anymore. Issues created from it stay."
NAME_SHOWN_LENGTH = 60


class NewTemplate(Button):
    """Opens the form, filled in with a name and from an issue, if any; `project` is 0 for the channel's."""

    action = "template.new"
    project: Number
    issue: Number = 0
    name: str = ""


class EditTemplate(Button):
    action = "template.edit"
    template: Number


class RemoveTemplate(Button):
    action = "template.remove"
    template: Number


class UseTemplate(Button):
    """Opens the form for a new issue, filled in from a template."""

    action = "template.use"
    project: Number
    template: Number

    @property
    def draft(self) -> Draft:
        return Draft(project=f"#{self.project}", template=f"#{self.template}")


class ChooseTemplate(Button):
    """In the form for a new issue."""

    action = "issue.template"
    template: Number


class CopyIssue(Button):
    """In a template's form: the issue that it is made from, None once that is cleared."""

    action = "template.issue"
    issue: Number | None = None


def listing(project: KnownProject, templates: Sequence[Template], result: str = "") -> Message:
    """The templates with their buttons, below `result`, the result of the last action (mrkdwn)."""
    count, name = len(templates), bold(project.name)
    text = f"{count or 'No'} template{'' if count == 1 else 's'} in {name}{'' if count else ' yet.'}"
    blocks: list[Block] = [section(result)] if result else []
    blocks.append(section(text))
    for template in templates:
        blocks += [section(_entry(template)), _buttons(template)]
    if not count:
        blocks.append(context(PURPOSE))
    new = button("New template", NewTemplate(project=project.id), style=None if count else "primary")
    return Message(" ".join(filter(None, (result, text))), (*blocks, actions([new])))


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
    question = confirm(
        f"Remove {shortened(template.name, NAME_SHOWN_LENGTH)}?", THEN, "Remove", style="danger"
    )
    use = button("Use template", UseTemplate(project=template.project_id, template=template.id))
    edit = button("Edit", EditTemplate(template=template.id))
    remove = button("Remove", RemoveTemplate(template=template.id), style="danger", confirm=question)
    return actions([use, edit, remove])


class TemplateMetadata(Metadata):
    """The template's project, its ID unless it is new, and the channel that it is for, if any.

    `copied` is the description that was copied from an issue, as its outline's key hashed, and `written` the
    shown description as it would be written, hashed.
    """

    project_id: Number
    template: Number = 0
    channel: str = ""
    copied: str = ""
    written: str = ""


@dataclass(frozen=True)
class Entered:
    """The form's values; `chosen` are its choices by option key, `description` is rich text.

    `here` is whether only the channel is offered the template; None if the form doesn't ask.
    """

    name: str = ""
    here: bool | None = None
    prefix: str = ""
    chosen: Mapping[str, FilterValue] = field(default_factory=dict)
    description: JSON | None = None


def values_of(template: Template, description: JSON | None) -> Entered:
    content = template.content
    here = bool(template.channel_id)
    return Entered(template.name, here, content.prefix, content.choices, description)


def template_form(
    entered: Entered, project: KnownProject, catalog: Catalog, metadata: TemplateMetadata, *, in_channel: bool
) -> JSON:
    """The form. With `in_channel`, the template may be for the channel only."""
    # New block IDs once something is copied, so that Slack drops what was there.
    tag = f":{project.id}:{metadata.copied}"
    name = forms.text("name", entered.name, placeholder="e.g. Bug report", most=NAME_LENGTH)
    copied = forms.searched(CopyIssue.action, None, "Search by number or subject", 1)
    prefix = forms.text("prefix", entered.prefix, placeholder="e.g. [Bug]", most=PREFIX_LENGTH)
    description = forms.formatted_text(DESCRIPTION.name, entered.description)
    copies = "Fills in the issue type, priority, and description."
    blocks: list[Block] = [
        context(f"For new issues in {bold(project.name)}"),
        forms.field("name", "Name", name, optional=False),
        *([_scope(entered, project)] if in_channel else []),
        forms.field("copy", "Copy from an issue", copied, dispatch=True, hint=copies),
        forms.field("prefix", "Subject prefix", prefix),
    ]

    for row in TEMPLATED:
        refs, choice = row.known(catalog), entered.chosen.get(row.key)
        chosen = next((ref for ref in refs if choice and ref.id == choice.id), None)
        if choice and chosen is None:
            refs = (chosen := Ref(id=choice.id, name=choice.name), *refs)
        blocks += [field_input(row, chosen, refs, tag)] if refs else []
    bold_headings = "Put each heading in bold on a line of its own."
    blocks.append(forms.field(DESCRIPTION.name + tag, DESCRIPTION.label, description, hint=bold_headings))
    title = "Edit template" if metadata.template else "New template"
    return forms.form(CALLBACK_ID, title, blocks, submit="Save template", metadata=metadata.dump())


def _scope(entered: Entered, project: KnownProject) -> Block:
    known = [(EVERYWHERE, f"All of {project.name}"), (HERE, "Only this channel")]
    chosen = HERE if entered.here else EVERYWHERE
    return forms.field("scope", "Available in", forms.choice("scope", known, chosen, "All"), optional=False)


def entered_in(view: JSON) -> Entered:
    values = forms.Values(view)
    chosen = {row.key: (values.number(row.name), values.chosen(row.name, "text")) for row in TEMPLATED}
    return Entered(
        name=(values.text("name") or "").strip(),
        here=values.chosen("scope") == HERE if "scope" in values.block_ids else None,
        prefix=(values.text("prefix") or "").strip(),
        chosen={key: FilterValue(number, name or "") for key, (number, name) in chosen.items() if number},
        description=values.rich_text(DESCRIPTION.name),
    )
