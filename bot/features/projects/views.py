"""Views of projects: the list, one project, and the form for a new one."""

from collections.abc import Sequence

from bot.features.name_matching import identifier_of
from bot.features.projects.projects import ProjectDraft
from bot.service.conventions import IDENTIFIER_LENGTH, PROJECT_NAME_LENGTH, ProjectStatus, project_url
from bot.service.models import Project
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, actions, button, context, fields, section
from bot.slack.text import code, cut, line, link
from bot.slack.wording import Wording

SHOWN = 40


def projects(found: Sequence[Project], text: str, style: Wording, command: str) -> Message:
    if not found:
        said = f"No project that you see is called “{line(text)}”." if text else "You see no project."
        return Message(said, (section(said),))
    title = f"*{len(found)} project{'' if len(found) == 1 else 's'}*"
    lines = [_line(project, style) for project in found[:SHOWN]]
    blocks: list[Block] = [section(title)]
    blocks += [section("\n".join(lines[i : i + 10])) for i in range(0, len(lines), 10)]
    if len(found) > SHOWN:
        blocks.append(context(f"{len(found) - SHOWN} more: name part of what you look for."))
    blocks.append(context(f"`{command} default <project>` makes one of them this channel's."))
    return Message(f"{title}: {', '.join(line(p.name) for p in found[:SHOWN])}", tuple(blocks))


def project(shown: Project, style: Wording, description: str) -> Message:
    """One project, with its description already converted to mrkdwn."""
    url = project_url(style.base_url, shown.identifier or shown.id)
    text = f"*{link(url, shown.name)}*"
    blocks: list[Block] = [section(text), context(f"{code(shown.identifier)} · {_visibility(shown)}")]
    if description:
        blocks.append(section(cut(description, 1500)))
    lists = (
        ("Trackers", shown.trackers),
        ("Categories", shown.issue_categories),
        ("Activities", shown.time_entry_activities),
        ("Custom fields", shown.issue_custom_fields),
    )
    blocks += fields(
        (label, cut(", ".join(line(ref.name) for ref in refs), 1500)) for label, refs in lists if refs
    )
    blocks.append(actions([button(f"Open in {style.service}", "open", url=url)]))
    return Message(text, tuple(blocks))


def new_form(draft: ProjectDraft, metadata: str) -> JSON:
    """The form for a new project, which suggests an identifier as the user types the name."""
    blocks = [
        forms.field(
            "name",
            "Name",
            forms.text("project.name", draft.name, most=PROJECT_NAME_LENGTH, on_keystroke=True),
            optional=False,
            dispatch=True,
        ),
        forms.field(
            f"identifier:{draft.identifier}",
            "Identifier",
            forms.text("identifier", draft.identifier, most=IDENTIFIER_LENGTH),
            hint="Part of the project's address; it can't be changed afterwards. Lower case letters, digits "
            "and dashes; left empty, it is made of the name.",
        ),
        forms.field(
            "description", "Description", forms.text("description", draft.description, multiline=True)
        ),
        forms.field(
            "public",
            "Public",
            forms.checkbox("public", "Others than its members may see it", checked=draft.public),
        ),
    ]
    return forms.form("project.new", "New project", blocks, submit="Create", metadata=metadata)


def submitted(view: JSON) -> ProjectDraft:
    """The form's values. An empty or unedited identifier is derived from the name."""
    values = forms.Values(view)
    name, identifier = (values.text("name") or "").strip(), (values.text("identifier") or "").strip()
    if not identifier or identifier == _suggestion(view):
        identifier = identifier_of(name)
    return ProjectDraft(
        name, identifier, values.text("description") or "", public=bool(values.all_chosen("public"))
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


def created(shown: Project, style: Wording, *, offer: bool) -> Message:
    """The answer after creation. `offer` adds a button that makes it the channel's project."""
    url = project_url(style.base_url, shown.identifier or shown.id)
    text = f"Created the project *{link(url, shown.name)}*."
    buttons = [button(f"Open in {style.service}", "open", url=url)]
    if offer:
        buttons.insert(
            0, button("Make it this channel's project", "project.default", str(shown.id), style="primary")
        )
    return Message(
        text,
        (section(text), context(f"{code(shown.identifier)} · {_visibility(shown)}"), actions(buttons)),
    )


def _line(shown: Project, style: Wording) -> str:
    url = project_url(style.base_url, shown.identifier or shown.id)
    parent = f" in {line(shown.parent.name)}" if shown.parent and shown.parent.name else ""
    return f"• {link(url, shown.name)} {code(shown.identifier)}{parent} · {_visibility(shown)}"


def _visibility(shown: Project) -> str:
    closed = " · closed" if shown.status == ProjectStatus.CLOSED else ""
    return ("public" if shown.is_public else ":lock: private") + closed
