"""Links and badges that several pages share."""

from datetime import datetime

from bot.sandbox.tracker.data import Data, Issue, Project
from bot.sandbox.tracker.html import Html, el, join


def issue_link(issue: Issue, text: str | None = None) -> Html:
    """Return a link to the issue's page; the text defaults to its number and subject."""
    return el("a", text or f"#{issue.id} {issue.subject}", href=f"/issues/{issue.id}")


def project_link(project: Project) -> Html:
    return el("a", project.name, href=f"/projects/{project.identifier}")


def marks(data: Data, issue: Issue) -> Html:
    """Return badges for the issue's status, and for private issues."""
    status = data.statuses[issue.status_id]
    private = el("span", "private", cls="pill private") if issue.is_private else None
    return join(el("span", status.name, cls="pill closed" if status.is_closed else "pill"), " ", private)


def priority_mark(data: Data, issue: Issue) -> Html:
    """Return the issue's priority; the two highest are highlighted."""
    urgent = issue.priority_id in sorted(data.priorities)[-2:]
    return el("span", data.priorities[issue.priority_id].name, cls="pill high" if urgent else None)


def when(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
