"""What people see of projects."""

from collections.abc import Sequence

from slack_sdk.models.blocks import Block

from bot.service.conventions import ProjectStatus, project_url
from bot.service.models import Project
from bot.slack.mrkdwn import cut, line, link
from bot.slack.views.blocks import Message, actions, button, context, fields, section, shortened
from bot.slack.views.issues import Style

SHOWN = 40


def projects(found: Sequence[Project], text: str, style: Style, command: str) -> Message:
    """The projects that a person sees, a line each."""
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


def project(shown: Project, style: Style) -> Message:
    """One project."""
    url = project_url(style.base_url, shown.identifier or shown.id)
    text = f"*{link(url, shown.name)}*"
    blocks: list[Block] = [section(text), context(f"`{line(shown.identifier)}` · {_visibility(shown)}")]
    description = style.mrkdwn(shown.description or "").strip()
    if description:
        blocks.append(section(cut(description, 1500)))
    lists = (
        ("Trackers", shown.trackers),
        ("Categories", shown.issue_categories),
        ("Activities", shown.time_entry_activities),
        ("Custom fields", shown.issue_custom_fields),
    )
    blocks += fields(
        (label, shortened(", ".join(line(ref.name) for ref in refs), 1500)) for label, refs in lists if refs
    )
    blocks.append(actions([button(f"Open in {style.service}", "open", url=url)]))
    return Message(text, tuple(blocks))


def _line(shown: Project, style: Style) -> str:
    url = project_url(style.base_url, shown.identifier or shown.id)
    parent = f" in {line(shown.parent.name)}" if shown.parent and shown.parent.name else ""
    return f"• {link(url, shown.name)} `{line(shown.identifier)}`{parent} · {_visibility(shown)}"


def _visibility(shown: Project) -> str:
    closed = " · closed" if shown.status == ProjectStatus.CLOSED else ""
    return ("public" if shown.is_public else ":lock: private") + closed
