"""GET and POST /projects.json, GET /projects/{id}.json."""

import re
from collections.abc import Mapping

from aiohttp import web

from bot.sandbox.tracker import shapes
from bot.sandbox.tracker.call import (
    Body,
    Call,
    HttpError,
    ValidationError,
    as_bool,
    as_text,
    is_blank,
    too_long,
)
from bot.sandbox.tracker.data import ACTIVE_PROJECT, MODULES, Membership, Project, User, free_id, put
from bot.sandbox.tracker.defaults import MANAGER

MAX_NAME, MAX_IDENTIFIER = 255, 100
_USUAL = frozenset(("issue_tracking", "time_tracking"))
_IDENTIFIER = re.compile(r"(?!\d+\Z)[a-z0-9_-]+", re.ASCII)


async def list_projects(request: web.Request) -> web.Response:
    """Return a page of the active projects visible to the requester, in tree order."""
    call = Call(request)
    seen = call.viewer.sees_project
    below: dict[int | None, list[Project]] = {}
    for project in sorted(call.data.projects.values(), key=lambda p: p.name.casefold()):
        below.setdefault(project.parent_id, []).append(project)
    found = [p for p in _tree(below, None) if p.status == ACTIVE_PROJECT and seen(p)]
    include = call.includes()
    return call.listed("projects", found, lambda p: shapes.project(call.data, p, call.viewer, include))


def _tree(below: Mapping[int | None, list[Project]], parent_id: int | None) -> list[Project]:
    found = []
    for project in below.get(parent_id, ()):
        found += [project, *_tree(below, project.id)]
    return found


async def get_project(request: web.Request) -> web.Response:
    """Return a project by ID or identifier, even a closed one. Responds 404 (unknown), 401, 403 (hidden)."""
    call = Call(request)
    project = call.data.project(request.match_info["id"])
    if project is None:
        raise HttpError(404)
    call.require_seen(project)
    return web.json_response({"project": shapes.project(call.data, project, call.viewer, call.includes())})


async def create_project(request: web.Request) -> web.Response:
    """Create a project; its creator becomes a manager. Responds 401, 403, 422."""
    call = Call(request)
    creator = call.user
    call.require(call.viewer.may_anywhere("add_project"))
    project = _project(call, await call.body("project"))
    call.data.projects[project.id] = project
    _members(call, project, creator)
    shape = shapes.project(call.data, project, call.viewer, call.includes())
    return call.created("project", shape, f"/projects/{project.id}")


def _project(call: Call, sent: Body) -> Project:
    data = call.data
    name, identifier = as_text(sent.get("name")), as_text(sent.get("identifier"))
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
    errors += too_long("Homepage", as_text(sent.get("homepage")), MAX_NAME)
    parent = None
    if sent.get("parent_id") not in (None, ""):
        parent = data.project(as_text(sent["parent_id"]))
        if parent is None or not call.viewer.may("add_subprojects", parent):
            errors.append("Subproject of is invalid")
    if errors:
        raise ValidationError(*errors)
    trackers, modules = sent.get("tracker_ids"), sent.get("enabled_module_names")
    return Project(
        id=free_id(data.projects),
        name=name,
        identifier=identifier,
        description=as_text(sent.get("description")),
        homepage=as_text(sent.get("homepage")),
        parent_id=parent.id if parent else None,
        is_public=as_bool(sent.get("is_public", True)),
        inherit_members=as_bool(sent.get("inherit_members", False)),
        tracker_ids=_known(trackers, tuple(data.trackers)),
        modules=frozenset(m for m in MODULES if m in modules) if isinstance(modules, list) else _USUAL,
        created_on=call.now,
        updated_on=call.now,
    )


def _known(sent: object, known: tuple[int, ...]) -> tuple[int, ...]:
    if not isinstance(sent, list):
        return known
    wanted = {as_text(v) for v in sent}
    return tuple(n for n in known if str(n) in wanted)


def _members(call: Call, project: Project, creator: User) -> None:
    data = call.data
    if project.inherit_members and project.parent_id is not None:
        for row in [m for m in data.memberships.values() if m.project_id == project.parent_id]:
            new_id, inherited = free_id(data.memberships), frozenset(row.role_ids)
            put(data.memberships, Membership(new_id, project.id, row.user_id, row.role_ids, inherited))
    if creator.admin:
        return
    own = data.member(project.id, creator.id)
    if own is None:
        data.join(project, creator, MANAGER)
    elif MANAGER not in own.role_ids:
        own.role_ids = (MANAGER, *own.role_ids)
