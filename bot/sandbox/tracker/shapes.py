"""The API's JSON (docs/service.md, Shapes)."""

from collections.abc import Collection
from typing import Any
from urllib.parse import quote

from bot.sandbox import picked
from bot.sandbox.tracker.access import Viewer, next_statuses
from bot.sandbox.tracker.data import MODULES, Attachment, Data, Issue, Named, Project, Status, TimeEntry, User
from bot.sandbox.tracker.dates import iso, stamp

Shape = dict[str, Any]


def ref(row: Named) -> Shape:
    return picked(row, "id", "name")


def status(row: Status) -> Shape:
    return ref(row) | {"is_closed": row.is_closed}


def _stamps(row: object, *names: str) -> Shape:
    return {name: stamp(getattr(row, name)) for name in names}


def principal(data: Data, user_or_group_id: int) -> Shape:
    return {"id": user_or_group_id, "name": data.principal(user_or_group_id)}


def user(data: Data, row: User, viewer: Viewer, include: Collection[str] = ()) -> Shape:
    """Return a user; only the user and administrators see the login, email and key."""
    own = viewer.admin or row is viewer.user
    shape: Shape = {"id": row.id}
    if own:
        shape |= {"login": row.login, "admin": row.admin}
    shape |= {"firstname": row.firstname, "lastname": row.lastname}
    if own:
        shape["mail"] = row.mail
    shape |= _stamps(row, "created_on", "updated_on", "last_login_on", "passwd_changed_on")
    if own:
        shape |= {"twofa_scheme": None, "api_key": row.api_key}
    if viewer.admin:
        shape["status"] = row.status
        if "groups" in include:
            shape["groups"] = [ref(g) for g in data.groups.values() if row.id in g.user_ids]
    if "memberships" in include:
        shape["memberships"] = _memberships(data, row, viewer)
    return shape


def _memberships(data: Data, row: User, viewer: Viewer) -> list[Shape]:
    rows = [(m, data.projects[m.project_id]) for m in data.memberships.values() if m.user_id == row.id]
    return [
        {
            "id": member.id,
            "project": ref(project),
            "roles": [
                ref(data.roles[role]) | ({"inherited": True} if role in member.inherited else {})
                for role in member.role_ids
            ],
        }
        for member, project in rows
        if viewer.sees_project(project)
    ]


def project(data: Data, row: Project, viewer: Viewer, include: Collection[str] = ()) -> Shape:
    """Return a project; its parent is omitted when there is none or it is hidden."""
    shape = picked(row, "id", "name", "identifier", "description", "homepage")
    parent = data.projects.get(row.parent_id or 0)
    if parent is not None and viewer.sees_project(parent):
        shape["parent"] = ref(parent)
    shape |= picked(row, "status", "is_public", "inherit_members")
    if "trackers" in include:
        shape["trackers"] = [ref(data.trackers[t]) for t in row.tracker_ids]
    if "issue_categories" in include:
        shape["issue_categories"] = [ref(c) for c in data.categories.values() if c.project_id == row.id]
    if "time_entry_activities" in include:
        usable = data.activities if row.activity_ids is None else row.activity_ids
        shape["time_entry_activities"] = [ref(a) for a in data.activities.values() if a.id in usable]
    if "enabled_modules" in include:
        shape["enabled_modules"] = [
            {"id": n, "name": name} for n, name in enumerate(MODULES, 1) if name in row.modules
        ]
    if "issue_custom_fields" in include:
        # Fields for all projects are not listed, as in Redmine 5.0.
        fields = data.custom_fields.values()
        shape["issue_custom_fields"] = [ref(f) for f in fields if f.project_ids and row.id in f.project_ids]
    return shape | _stamps(row, "created_on", "updated_on")


def attachment(data: Data, row: Attachment, origin: str) -> Shape:
    """Return an attachment; images have a thumbnail."""
    shape = picked(row, "id", "filename", "content_type", "description") | {
        "filesize": len(row.content),
        "content_url": f"{origin}/attachments/download/{row.id}/{quote(row.filename)}",
    }
    if row.content_type.startswith("image/"):
        shape["thumbnail_url"] = shape["content_url"]
    return shape | {"author": principal(data, row.author_id), "created_on": stamp(row.created_on)}


def time_entry(data: Data, row: TimeEntry) -> Shape:
    """Return a time entry; its author is never included."""
    shape: Shape = {"id": row.id, "project": ref(data.projects[row.project_id])}
    if row.issue_id is not None:
        shape["issue"] = {"id": row.issue_id}
    return shape | {
        "user": principal(data, row.user_id),
        "activity": ref(data.activities[row.activity_id]),
        **picked(row, "hours", "comments"),
        "spent_on": iso(row.spent_on),
        **_stamps(row, "created_on", "updated_on"),
    }


def _journal(data: Data, row: Issue, number: int) -> Shape:
    note = row.notes[number - 1]
    return {
        "id": row.id * 1000 + number,
        "user": principal(data, note.user_id),
        "notes": note.text,
        "created_on": stamp(note.created_on),
        "private_notes": note.is_private,
        "details": [picked(detail, "property", "name", "old_value", "new_value") for detail in note.details],
    }


class Issues:
    """The issues of one response; computes the totals of subtasks and time once for all of them."""

    def __init__(self, data: Data, viewer: Viewer, origin: str, include: Collection[str] = ()) -> None:
        self._data = data
        self._viewer = viewer
        self._origin = origin
        self._include = include
        self._children = data.children()
        self._minutes = data.minutes()

    def shape(self, row: Issue) -> Shape:
        """Return one issue; a missing value is absent or null, as in the service."""
        data = self._data
        shape: Shape = {
            "id": row.id,
            "project": ref(data.projects[row.project_id]),
            "tracker": ref(data.trackers[row.tracker_id]),
            "status": status(data.statuses[row.status_id]),
            "priority": ref(data.priorities[row.priority_id]),
            "author": principal(data, row.author_id),
        }
        if row.assigned_to_id is not None:
            shape["assigned_to"] = principal(data, row.assigned_to_id)
        if row.category_id is not None:
            shape["category"] = ref(data.categories[row.category_id])
        if row.version_id is not None:
            shape["fixed_version"] = ref(data.versions[row.version_id])
        if row.parent_id is not None:
            shape["parent"] = {"id": row.parent_id}
        shape |= {
            **picked(row, "subject", "description"),
            "start_date": iso(row.start_date),
            "due_date": iso(row.due_date),
            **picked(row, "done_ratio", "is_private", "estimated_hours"),
            "total_estimated_hours": self._estimate(row),
        }
        if self._viewer.may("view_time_entries", data.projects[row.project_id]):
            shape["spent_hours"] = self._hours([row])
            shape["total_spent_hours"] = self._hours(self._family(row))
        fields = [self._custom(f.id, row) for f in data.fields(row.project_id, row.tracker_id)]
        if fields:
            shape["custom_fields"] = fields
        return shape | _stamps(row, "created_on", "updated_on", "closed_on") | self._included(row)

    def _included(self, row: Issue) -> Shape:
        shape: Shape = {}
        if "attachments" in self._include:
            files = self._data.attachments.values()
            shape["attachments"] = [
                attachment(self._data, a, self._origin) for a in files if a.issue_id == row.id
            ]
        if "relations" in self._include:
            shape["relations"] = [
                picked(r, "id", "issue_id", "issue_to_id", "delay") | {"relation_type": r.kind}
                for r in self._data.relations.values()
                if row.id in (r.issue_id, r.issue_to_id)
                and all(self._viewer.sees_issue(self._data.issues[n]) for n in (r.issue_id, r.issue_to_id))
            ]
        return shape

    def detailed(self, row: Issue) -> Shape:
        """Return one issue with what only a single one includes: its subtasks, history and next statuses."""
        data, shape = self._data, self.shape(row)
        if "children" in self._include and (below := self._tree(row)):
            shape["children"] = below
        if "journals" in self._include:
            shape["journals"] = [
                _journal(data, row, number)
                for number in range(1, len(row.notes) + 1)
                if self._sees_note(row, number)
            ]
        if "allowed_statuses" in self._include:
            allowed = sorted(next_statuses(data, self._viewer, row))
            shape["allowed_statuses"] = [status(data.statuses[n]) for n in allowed]
        return shape

    def _tree(self, row: Issue) -> list[Shape]:
        children = []
        for child in filter(self._viewer.sees_issue, self._children.get(row.id, ())):
            below = self._tree(child)
            shape = picked(child, "id", "subject") | {"tracker": ref(self._data.trackers[child.tracker_id])}
            children.append(shape | ({"children": below} if below else {}))
        return children

    def _sees_note(self, row: Issue, number: int) -> bool:
        note = row.notes[number - 1]
        own = self._viewer.user is not None and note.user_id == self._viewer.user.id
        project = self._data.projects[row.project_id]
        return own or not note.is_private or self._viewer.may("view_private_notes", project)

    def _custom(self, field_id: int, row: Issue) -> Shape:
        field = self._data.custom_fields[field_id]
        value = row.custom.get(field_id)
        if field.multiple:
            return ref(field) | {"multiple": True, "value": value or []}
        return ref(field) | {"value": value}

    def _family(self, row: Issue) -> list[Issue]:
        family = [row]
        for child in self._children.get(row.id, ()):
            family += self._family(child)
        return family

    def _estimate(self, row: Issue) -> float | None:
        known = [i.estimated_hours for i in self._family(row) if i.estimated_hours is not None]
        return round(sum(known), 2) if known else None

    def _hours(self, rows: list[Issue]) -> float:
        return round(sum(self._minutes.get(i.id, 0) for i in rows) / 60, 2)
