"""The statuses that an issue may get, by role."""

from bot.sandbox.tracker.access import Viewer
from bot.sandbox.tracker.data import Data, Issue, Project


def first_statuses(data: Data, viewer: Viewer, project: Project) -> set[int]:
    """Return the allowed statuses of a new issue."""
    if viewer.admin:
        return set(data.statuses)
    return {status for role in viewer.roles(project) for status in role.first_statuses}


def next_statuses(data: Data, viewer: Viewer, issue: Issue) -> set[int]:
    """Return an issue's current status and those it may change to; a blocked one can't be closed."""
    steps = [role.next_statuses for role in viewer.roles(data.projects[issue.project_id])]
    if viewer.admin or None in steps:
        allowed = set(data.statuses)
    else:
        allowed = {status for step in steps if step for status in step.get(issue.status_id, ())}
    if any(_is_open(data, other) for other in _holding_up(data, issue)):
        allowed = {status for status in allowed if not data.statuses[status].is_closed}
    return allowed | {issue.status_id}


def _is_open(data: Data, issue: Issue) -> bool:
    return not data.statuses[issue.status_id].is_closed


def _holding_up(data: Data, issue: Issue) -> list[Issue]:
    """Return the issue's subtasks and the issues that block it."""
    blocking = [
        row.issue_id
        for row in data.relations.values()
        if row.kind == "blocks" and row.issue_to_id == issue.id
    ]
    return data.children().get(issue.id, []) + [data.issues[number] for number in blocking]
