"""Views of projects: the list, one project, and the form for a new one."""

from collections.abc import Sequence

from bot.access.name_matching import identifier_of
from bot.access.projects import KnownProject
from bot.service.conventions import IDENTIFIER_LENGTH, PROJECT_NAME_LENGTH, ProjectStatus, project_url
from bot.service.inputs import NewProject
from bot.service.models import Project, Ref
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Element,
    Message,
    actions,
    button,
    context,
    fields,
    link_button,
    section,
    sentence,
)
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.text.mrkdwn import bold, code, cut, line, link, prose
from bot.slack.text.wording import Wording
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.store.channels import Channel

MAX_PROJECTS = 40
NAME_TYPED = "project.name"  # the action of the name's input, which Slack reports at every keystroke


class MakeDefault(Button):
    action = "project.default"
    project: Number


class ShowProject(Button):
    action = "project.show"
    project: Number


def projects(projects: Sequence[KnownProject], text: str, wording: Wording) -> Message:
    tracker = wording.command("tracker")
    if not projects:
        return sentence(f"No project matches “{text}”. Type `{tracker} projects` to list all.")

    title = f"*{len(projects)} project{'' if len(projects) == 1 else 's'}*"
    lines = [_line(project, wording) for project in projects[:MAX_PROJECTS]]
    blocks: list[Block] = [section(title)]
    blocks += [section("\n".join(lines[i : i + 10])) for i in range(0, len(lines), 10)]
    if len(projects) > MAX_PROJECTS:
        blocks.append(
            context(f"{len(projects) - MAX_PROJECTS} more. Type part of a name after `{tracker} projects`.")
        )
    blocks.append(context(f"Set this channel's project: `{tracker} default <project>`"))
    return Message(f"{title}: {', '.join(line(p.name) for p in projects[:MAX_PROJECTS])}", tuple(blocks))


def candidates(text: str, projects: Sequence[Ref], action: type[MakeDefault | ShowProject]) -> Message:
    """A sentence that no project matches, and a choice of similar ones."""
    one = projects[0] if len(projects) == 1 else None
    offered = button(one.name, action(project=one.id)) if one else _choice(projects, action)
    return Message(prose(text), (section(prose(text)), actions([offered])))


def project(project: Project, wording: Wording, description: str, *, members: bool = False) -> Message:
    text = f"*{_link(project, wording)}*"
    blocks: list[Block] = [section(text), _facts(project)]
    if description:
        blocks.append(section(cut(description, 1500)))
    lists = (
        ("Issue types", project.trackers),
        ("Categories", project.issue_categories),
        ("Activities", project.time_entry_activities),
        ("Custom fields", project.issue_custom_fields),
    )
    blocks += fields(
        (label, cut(", ".join(line(ref.name) for ref in refs), 1500)) for label, refs in lists if refs
    )
    if members:
        blocks.append(context(f"I can't list its members. {line(wording.service)} shows them."))
    blocks.append(actions([_open_button(project, wording)]))
    return Message(text, tuple(blocks))


def default(
    project: KnownProject | None, visible: Sequence[KnownProject], channel: Channel, wording: Wording
) -> Message:
    """The channel's project, and how to choose another of the `visible` ones."""
    change = f"`{wording.command('tracker')} default"
    if project is None:
        text = f"{_named(channel)} has no project that you can see. Set one: {change} <project>`."
    else:
        text = (
            f"{_named(channel)} uses {bold(project.name)}. "
            f"Change: {change} <project>`. Clear: {change} none`."
        )
    purpose = "New issues and searches in a channel use its project."
    choice = _choice(visible, MakeDefault) if visible else None
    return Message(text, (section(text, choice), context(purpose)))


def default_set(project: KnownProject, channel: Channel) -> Message:
    text = f"{_named(channel)} now uses {bold(project.name)} for new issues and searches."
    return Message(text, (section(text),))


def default_cleared(channel: Channel) -> Message:
    text = f"{_named(channel)} no longer has a project."
    return Message(text, (section(text),))


def _choice(projects: Sequence[KnownProject | Ref], action: type[MakeDefault | ShowProject]) -> Element:
    """A select that acts on the chosen project like a button."""
    options = [(action(project=one.id).pack(), one.name) for one in projects[:MAX_SELECT_OPTIONS]]
    return forms.choice(action.action, options, None, "Choose a project")


def _named(channel: Channel) -> str:
    return f"<#{channel.channel_id}>" if channel.channel_id[:1] in "CG" else "This conversation"


def new_form(draft: NewProject, metadata: str) -> JSON:
    """The form for a new project, which suggests an identifier as the user types the name."""
    name = forms.text(NAME_TYPED, draft.name, most=PROJECT_NAME_LENGTH, on_keystroke=True)
    identifier = forms.text("identifier", draft.identifier, most=IDENTIFIER_LENGTH)
    hint = "Part of the project's URL. It can't be changed later. Leave it empty to use the name."
    description = forms.text("description", draft.description, multiline=True)
    public = forms.checkbox("public", "Visible to everyone, not only members", checked=bool(draft.is_public))
    blocks = [
        forms.field("name", "Name", name, optional=False, dispatch=True),
        forms.field(f"identifier:{draft.identifier}", "Identifier", identifier, hint=hint),
        forms.field("description", "Description", description),
        forms.field("public", "Public", public),
    ]
    return forms.form("project.new", "New project", blocks, submit="Create project", metadata=metadata)


def submitted(view: JSON) -> NewProject:
    """The form's values. An empty or unedited identifier is derived from the name."""
    values = forms.Values(view)
    name, identifier = (values.text("name") or "").strip(), (values.text("identifier") or "").strip()
    if not identifier or identifier == _suggestion(view):
        identifier = identifier_of(name)
    return NewProject(
        name=name,
        identifier=identifier,
        description=values.text("description") or "",
        is_public=bool(values.all_chosen("public")),
    )


def with_suggestion(view: JSON) -> JSON | None:
    """The form with a new suggested identifier, or None if it hasn't changed or the user typed their own."""
    typed, before = forms.Values(view).text("identifier") or "", _suggestion(view)
    draft = submitted(view)
    if typed.strip() != before or draft.identifier == before:
        return None
    return new_form(draft, view.get("private_metadata", ""))


def _suggestion(view: JSON) -> str:
    """The suggested identifier, kept in the block ID. A new block ID makes Slack show the new suggestion."""
    blocks = (str(block.get("block_id")).partition(":") for block in view["blocks"])
    return next((suggestion for name, _, suggestion in blocks if name == "identifier"), "")


def created(project: Project, wording: Wording, *, offer: bool) -> Message:
    """The reply after creation. `offer` adds a button that makes it the channel's project."""
    text = f"Created the project *{_link(project, wording)}*."
    buttons = [_open_button(project, wording)]
    if offer:
        make = button("Use in this channel", MakeDefault(project=project.id), style="primary")
        buttons.insert(0, make)
    return Message(text, (section(text), _facts(project), actions(buttons)))


def _line(project: KnownProject, wording: Wording) -> str:
    parent = f" in {line(project.parent.name)}" if project.parent and project.parent.name else ""
    return f"• {_link(project, wording)} {code(project.identifier)}{parent} · {_visibility(project)}"


def _facts(project: Project | KnownProject) -> Block:
    return context(f"{code(project.identifier)} · {_visibility(project)}")


def _link(project: Project | KnownProject, wording: Wording) -> str:
    return link(_url(project, wording), project.name)


def _open_button(project: Project | KnownProject, wording: Wording) -> Element:
    return link_button(f"Open in {wording.service}", _url(project, wording))


def _url(project: Project | KnownProject, wording: Wording) -> str:
    return project_url(wording.base_url, project.identifier or project.id)


def _visibility(project: Project | KnownProject) -> str:
    closed = " · Closed" if project.status == ProjectStatus.CLOSED else ""
    public = project.seemed_public if isinstance(project, KnownProject) else project.is_public
    return ("Public" if public else ":lock: Private") + closed
