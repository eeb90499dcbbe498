"""Permissions: what a requester may see and do, and which statuses an issue may get, by role."""

from bot.sandbox.tracker.data import (
    ACTIVE_PROJECT,
    ACTIVE_USER,
    ARCHIVED_PROJECT,
    Data,
    Issue,
    Project,
    Role,
    TimeEntry,
    User,
)

_READING = frozenset({"view_issues", "view_private_issues", "view_private_notes", "view_time_entries"})
_MODULES = {
    "time_tracking": {
        *("view_time_entries", "log_time", "log_time_for_others", "edit_own_time_entries"),
        "edit_time_entries",
    },
    "issue_tracking": {
        *("view_issues", "view_private_issues", "add_issues", "edit_issues", "edit_own_issues"),
        *("add_issue_notes", "view_private_notes", "set_notes_private", "manage_subtasks", "add_watchers"),
    },
}


class Viewer:
    """The requester of one call: a user, or None for an anonymous visitor."""

    def __init__(self, data: Data, user: User | None) -> None:
        self._data = data
        self.user = user
        self.admin = user is not None and user.admin
        self._ids = set() if user is None else {user.id}
        self._ids |= {g.id for g in data.groups.values() if user is not None and user.id in g.user_ids}
        self._member_roles = {
            row.project_id: [data.roles[role_id] for role_id in row.role_ids]
            for row in data.memberships.values()
            if user is not None and row.user_id == user.id
        }

    def me(self, *, groups: bool) -> set[int]:
        """Return the IDs `me` stands for: the user, plus the user's groups if `groups`."""
        return self._ids if groups or self.user is None else {self.user.id}

    def roles(self, project: Project) -> list[Role]:
        """Return the requester's roles in the project as a member, a non-member or an anonymous visitor."""
        if project.id in self._member_roles:
            return self._member_roles[project.id]
        if not project.is_public:
            return []
        return [self._data.anonymous if self.user is None else self._data.non_member]

    def may(self, right: str, project: Project) -> bool:
        """Return whether the right applies; closed projects are read-only, and modules may be disabled."""
        if project.status != ACTIVE_PROJECT and not (right in _READING and self.sees_project(project)):
            return False
        if any(right in rights and module not in project.modules for module, rights in _MODULES.items()):
            return False
        return self.admin or any(right in role.rights for role in self.roles(project))

    def may_anywhere(self, right: str) -> bool:
        return self.admin or any(self.may(right, p) for p in self._data.projects.values())

    def sees_project(self, project: Project) -> bool:
        """Return whether the project is public or the requester's own; no one sees archived projects."""
        if project.status >= ARCHIVED_PROJECT:
            return False
        return self.admin or project.is_public or project.id in self._member_roles

    def sees_issue(self, issue: Issue) -> bool:
        """Return whether the requester may see it: as author or assignee, or with the right to."""
        project = self._data.projects[issue.project_id]
        if not self.may("view_issues", project):
            return False
        if self.admin or (self.user is not None and issue.author_id == self.user.id):
            return True
        if issue.assigned_to_id in self._ids:
            return True
        if issue.is_private:
            return self.may("view_private_issues", project)
        return any(role.issues != "own" for role in self.roles(project) if "view_issues" in role.rights)

    def edits_issue(self, issue: Issue) -> bool:
        project = self._data.projects[issue.project_id]
        own = self.user is not None and issue.author_id == self.user.id
        return self.may("edit_issues", project) or (own and self.may("edit_own_issues", project))

    def sees_user(self, user: User) -> bool:
        """Return whether it's the requester or an active user of a shared project; admins see everyone."""
        if self.admin or user.id in self._ids:
            return True
        if user.status != ACTIVE_USER:
            return False
        rows = self._data.memberships.values()
        return any(
            r.user_id == user.id and self.sees_project(self._data.projects[r.project_id]) for r in rows
        )

    def edits_time(self, entry: TimeEntry) -> bool:
        project = self._data.projects[entry.project_id]
        own = self.user is not None and entry.user_id == self.user.id
        return self.may("edit_time_entries", project) or (own and self.may("edit_own_time_entries", project))


def first_statuses(data: Data, viewer: Viewer, project: Project) -> set[int]:
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
    allowed = {s for s in allowed if issue.tracker_id in (data.statuses[s].trackers or data.trackers)}
    if any(not data.statuses[other.status_id].is_closed for other in _holding_up(data, issue)):
        allowed = {status for status in allowed if not data.statuses[status].is_closed}
    return allowed | {issue.status_id}


def _holding_up(data: Data, issue: Issue) -> list[Issue]:
    """Return the issue's subtasks and the issues that block it."""
    blocking = [
        row.issue_id
        for row in data.relations.values()
        if row.kind == "blocks" and row.issue_to_id == issue.id
    ]
    return data.children().get(issue.id, []) + [data.issues[number] for number in blocking]
