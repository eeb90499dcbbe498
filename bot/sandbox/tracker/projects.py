"""GET and POST /projects.json, GET /projects/{id}.json; when enabled, the lists that issues refer to:
statuses, priorities, members and so on.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiohttp import web

from bot.sandbox.tracker import shapes
from bot.sandbox.tracker.call import Body, Call, Operation, ValidationError, is_blank, too_long
from bot.sandbox.tracker.data import ACTIVE_PROJECT, MODULES, Data, Group, Membership, Project, User, free_id
from bot.sandbox.tracker.defaults import MANAGER

MAX_NAME, MAX_IDENTIFIER = 255, 100
_USUAL = frozenset(("issue_tracking", "time_tracking"))
_IDENTIFIER = re.compile(r"(?!\d+\Z)[a-z0-9_-]+", re.ASCII)


async def list_projects(call: Call) -> web.Response:
    """Return a page of the active projects visible to the requester, in tree order."""
    is_visible = call.viewer.sees_project
    below: dict[int | None, list[Project]] = {}
    for project in sorted(call.data.projects.values(), key=lambda p: p.name.casefold()):
        below.setdefault(project.parent_id, []).append(project)
    projects = [p for p in _tree(below, None) if p.status == ACTIVE_PROJECT and is_visible(p)]
    include = call.includes()
    return call.listed("projects", projects, lambda p: shapes.project(call.data, p, call.viewer, include))


def _tree(below: Mapping[int | None, list[Project]], parent_id: int | None) -> list[Project]:
    projects = []
    for project in below.get(parent_id, ()):
        projects += [project, *_tree(below, project.id)]
    return projects


async def get_project(call: Call) -> web.Response:
    """Return a project by ID or identifier, even a closed one. Responds 404 (unknown), 401, 403 (hidden)."""
    shape = shapes.project(call.data, call.project(), call.viewer, call.includes())
    return web.json_response({"project": shape})


async def create_project(call: Call) -> web.Response:
    """Create a project; its creator becomes a manager. Responds 401, 403, 422."""
    creator = call.user
    call.require(call.viewer.may_anywhere("add_project"))
    project = _project(call, await call.body("project"))
    call.data.projects[project.id] = project
    _members(call, project, creator)
    shape = shapes.project(call.data, project, call.viewer, call.includes())
    return call.created("project", shape, f"/projects/{project.id}")


def _project(call: Call, sent: Body) -> Project:
    data = call.data
    name, identifier = sent.text("name"), sent.text("identifier")
    errors = []
    if is_blank(name):
        errors.append("Name cannot be blank")
    errors += too_long("Name", name, MAX_NAME)
    if is_blank(identifier):
        errors.append("Identifier cannot be blank")
    elif any(p.identifier == identifier for p in data.projects.values()):
        errors.append("Identifier has already been taken")
    elif not _IDENTIFIER.fullmatch(identifier):
        errors.append("Identifier is invalid")
    elif identifier == "new":
        errors.append("Identifier is reserved")
    errors += too_long("Identifier", identifier, MAX_IDENTIFIER)
    errors += too_long("Homepage", sent.text("homepage"), MAX_NAME)
    parent = None
    if sent.filled("parent_id"):
        parent = data.project(sent.text("parent_id"))
        if parent is None or not call.viewer.may("add_subprojects", parent):
            errors.append("Subproject of is invalid")
    if errors:
        raise ValidationError(*errors)
    trackers, modules = sent.get("tracker_ids"), sent.get("enabled_module_names")
    return Project(
        id=free_id(data.projects),
        name=name,
        identifier=identifier,
        description=sent.text("description"),
        homepage=sent.text("homepage"),
        parent_id=parent.id if parent else None,
        is_public=sent.flag("is_public", default=True),
        inherit_members=sent.flag("inherit_members"),
        tracker_ids=_known(trackers, tuple(data.trackers)),
        modules=frozenset(m for m in MODULES if m in modules) if isinstance(modules, list) else _USUAL,
        created_on=call.now,
        updated_on=call.now,
    )


def _known(sent: object, known: tuple[int, ...]) -> tuple[int, ...]:
    if not isinstance(sent, list):
        return known
    ids = set(map(str, sent))
    return tuple(n for n in known if str(n) in ids)


def _members(call: Call, project: Project, creator: User) -> None:
    data = call.data
    if project.inherit_members and project.parent_id is not None:
        for row in data.members(project.parent_id):
            heir = data.join(project, data.users[row.user_id], *row.role_ids)
            heir.inherited = frozenset(row.role_ids)
    if creator.admin:
        return
    own = data.member(project.id, creator.id)
    if own is None:
        data.join(project, creator, MANAGER)
    elif MANAGER not in own.role_ids:
        own.role_ids = (MANAGER, *own.role_ids)


def _listing(kind: str, rows: Callable[[Data], Iterable[dict[str, Any]]]) -> Operation:

    async def listed(call: Call) -> web.Response:
        return web.json_response({kind: [*rows(call.data)]})

    return listed


statuses = _listing("issue_statuses", lambda data: map(shapes.status, data.statuses.values()))
priorities = _listing("issue_priorities", lambda data: map(shapes.ref, data.priorities.values()))
activities = _listing("time_entry_activities", lambda data: map(shapes.ref, data.activities.values()))
trackers = _listing("trackers", lambda data: map(shapes.ref, data.trackers.values()))


async def versions(call: Call) -> web.Response:
    """Optional operation: return a project's versions. Responds 404 (unknown), 401, 403 (hidden)."""
    project = call.project()
    rows = [row for row in call.data.versions.values() if row.project_id == project.id]
    shaped = [shapes.ref(row) | {"status": "open" if row.is_open else "closed"} for row in rows]
    return web.json_response({"versions": shaped, "total_count": len(rows)})


async def memberships(call: Call) -> web.Response:
    """Optional operation: return a page of a project's members: users, locked ones too, and groups.

    Responds 404, 401, 403.
    """
    project, data = call.project(), call.data
    call.require(call.viewer.admin or bool(call.viewer.user and data.member(project.id, call.viewer.user.id)))
    members = data.members(project.id)
    users = {row.user_id for row in members}
    groups = [group for group in data.groups.values() if group.user_ids and group.user_ids <= users]

    def shape(row: Membership | Group) -> dict[str, Any]:
        shaped: dict[str, Any] = {"id": row.id, "project": shapes.ref(project)}
        if isinstance(row, Group):
            return shaped | {"group": shapes.ref(row), "roles": []}
        roles = [shapes.ref(data.roles[role]) for role in row.role_ids]
        return shaped | {"user": shapes.principal(data, row.user_id), "roles": roles}

    rows: list[Membership | Group] = [*members, *groups]
    return call.listed("memberships", rows, shape)
