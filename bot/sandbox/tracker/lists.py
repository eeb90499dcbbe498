"""Optional operations that list what issues refer to: statuses, priorities, members and so on."""

from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from bot.sandbox.loopback import Handler
from bot.sandbox.tracker import shapes
from bot.sandbox.tracker.call import Call, HttpError
from bot.sandbox.tracker.data import Data, Group, Membership, Named, Project

Rows = list[dict[str, Any]]


def routes() -> list[web.RouteDef]:
    project = r"/projects/{id:[a-zA-Z0-9_-]{1,100}}"
    lists: dict[str, tuple[str, Callable[[Data], Rows]]] = {
        "issue_statuses": ("", _statuses),
        "issue_priorities": ("/enumerations", lambda data: _refs(data.priorities)),
        "time_entry_activities": ("/enumerations", lambda data: _refs(data.activities)),
        "trackers": ("", lambda data: _refs(data.trackers)),
    }
    return [
        *(web.get(f"{where}/{kind}.json", _listing(kind, rows)) for kind, (where, rows) in lists.items()),
        web.get(f"{project}/versions.json", versions),
        web.get(f"{project}/memberships.json", memberships),
    ]


def _refs(rows: Mapping[int, Named]) -> Rows:
    return [shapes.ref(row) for row in rows.values()]


def _listing(kind: str, rows: Callable[[Data], Rows]) -> Handler:
    async def listing(request: web.Request) -> web.Response:
        return web.json_response({kind: rows(Call(request).data)})

    return listing


def _statuses(data: Data) -> Rows:
    return [shapes.ref(row) | {"is_closed": row.is_closed} for row in data.statuses.values()]


async def versions(request: web.Request) -> web.Response:
    """Return a project's versions. Responds 404 (unknown), 401, 403 (hidden)."""
    call = Call(request)
    project = _project(call)
    found = [row for row in call.data.versions.values() if row.project_id == project.id]
    shaped = [shapes.ref(row) | {"status": "open" if row.is_open else "closed"} for row in found]
    return web.json_response({"versions": shaped, "total_count": len(found)})


async def memberships(request: web.Request) -> web.Response:
    """Return a page of a project's members: users, locked ones too, and groups. Responds 404, 401, 403."""
    call = Call(request)
    project, data = _project(call), call.data
    call.require(call.viewer.admin or bool(call.viewer.user and data.member(project.id, call.viewer.user.id)))
    members = [row for row in data.memberships.values() if row.project_id == project.id]
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


def _project(call: Call) -> Project:
    project = call.data.project(call.request.match_info["id"])
    if project is None:
        raise HttpError(404)
    call.require_seen(project)
    return project
