"""The service's web pages: read-only, with an administrator's view of all data."""

from collections.abc import Iterable
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from aiohttp import web

from bot.sandbox.tracker.access import Viewer
from bot.sandbox.tracker.call import SERVICE, ValidationError, as_int
from bot.sandbox.tracker.data import ACTIVE_PROJECT, Data, Issue, Project
from bot.sandbox.tracker.filters import FilterContext, tests
from bot.sandbox.tracker.html import Child, Html, el, join, page, table
from bot.sandbox.tracker.issue_page import issue_body
from bot.sandbox.tracker.links import issue_link, marks, priority_mark, project_link

ROWS = 50
_COLUMNS = ("#", "Project", "Tracker", "Status", "Priority", "Subject", "Assignee", "Updated")
_INLINE = frozenset({"image/png", "image/jpeg", "image/gif"})


def routes() -> list[web.RouteDef]:
    return [
        web.get("/", _overview),
        web.get("/issues", _issues),
        web.get("/issues/{id:[0-9]{1,18}}", _issue),
        web.get("/projects/{id:[a-zA-Z0-9_-]{1,100}}", _project),
        web.get("/time_entries", _time_entries),
        web.get("/my/account", _account),
        web.get("/attachments/download/{id:[0-9]{1,18}}/{filename}", _download),
    ]


async def _account(request: web.Request) -> web.Response:
    """Stands in for the page where a user finds their API key; without logins it lists everyone's."""
    data = request.app[SERVICE].data
    rows = [(user.login, user.name, el("code", user.api_key)) for user in data.users.values()]
    return page(
        "API access keys",
        el("h1", "API access keys"),
        el("p", "These are the keys of the demo users. A real service shows only your own."),
        table(("Login", "Name", "API access key"), rows),
    )


def missing() -> web.Response:
    return page("Not found", el("h1", "Page not found"), status=404)


async def _overview(request: web.Request) -> web.Response:
    data = request.app[SERVICE].data
    cards = [_card(data, p) for p in sorted(data.projects.values(), key=lambda p: p.name)]
    latest = sorted(data.issues.values(), key=lambda i: i.updated_on, reverse=True)[:12]
    return page(
        "Overview",
        el("h1", "Overview"),
        el("div", cards, cls="grid"),
        el("h2", "Recently updated"),
        _issue_table(data, latest),
        here="/",
    )


def _card(data: Data, project: Project) -> Html:
    issues = [i for i in data.issues.values() if i.project_id == project.id]
    unfinished = sum(not data.statuses[i.status_id].is_closed for i in issues)
    return el(
        "div",
        el("h3", project_link(project), " ", _kind(project)),
        el("p", project.description, cls="small"),
        el("p", f"{unfinished} of {len(issues)} issues open", cls="soft small"),
        cls="card",
    )


def _kind(project: Project) -> Html:
    return join(
        None if project.is_public else el("span", "private", cls="pill private"),
        None if project.status == ACTIVE_PROJECT else el("span", "closed", cls="pill closed"),
    )


async def _issues(request: web.Request) -> web.Response:
    """List issues by the page's own choices, or by the API's filters where a link asks for them."""
    data, query = request.app[SERVICE].data, dict(request.query)
    start = max(as_int(query.pop("from", "")) or 0, 0)
    if "set_filter" in query:
        project = data.project(query.get("project_id", ""))
        try:
            wanted = tests(query, FilterContext(data, Viewer(data, None), ZoneInfo("UTC"), project))
        except ValidationError as invalid:
            return page("Issues", el("h1", "These filters aren't valid"), el("p", " ".join(invalid.errors)))
        found = [i for i in data.issues.values() if all(test(i) for test in wanted)]
        found.sort(key=lambda i: (i.created_on, i.id), reverse=True)
        where = f" in {project.name}" if project else ""
        head = el("h1", f"{_count(found)}{where} matching this link's filters")
    else:
        project = data.project(query["project"]) if query.get("project") else None
        every = query.get("status") == "any"
        found = [
            i
            for i in data.issues.values()
            if (project is None or i.project_id == project.id)
            and (every or not data.statuses[i.status_id].is_closed)
        ]
        found.sort(key=lambda i: (i.updated_on, i.id), reverse=True)
        query = {"project": project.identifier if project else "", "status": "any" if every else "open"}
        title = el("h1", _count(found, "" if every else "open "))
        head = join(title, _choices(data, query))
    shown = _issue_table(data, found[start : start + ROWS])
    return page("Issues", head, shown, _pager(query, start, len(found)), here="/issues")


def _count(found: list[Issue], kind: str = "") -> str:
    return f"{len(found)} {kind}issue{'' if len(found) == 1 else 's'}"


def _choices(data: Data, here: dict[str, str]) -> Html:
    projects = sorted(data.projects.values(), key=lambda p: p.name)
    rows = {
        "project": [("", "All projects"), *((p.identifier, p.name) for p in projects)],
        "status": [("open", "Open"), ("any", "All")],
    }

    def choice(name: str, value: str, text: str) -> Html:
        current = "true" if here[name] == value else None
        return el("a", text, href=_list(here | {name: value}), aria_current=current)

    return join(
        el("div", [choice(name, *option) for option in options], cls="filters")
        for name, options in rows.items()
    )


def _list(query: dict[str, str]) -> str:
    return "/issues?" + urlencode({k: v for k, v in query.items() if v})


def _pager(here: dict[str, str], start: int, total: int) -> Html:
    steps: list[Child] = []
    if start > 0:
        steps.append(el("a", "← Newer", href=_list(here | {"from": str(max(start - ROWS, 0))})))
    if start + ROWS < total:
        steps.append(el("a", "Older →", href=_list(here | {"from": str(start + ROWS)})))
    return el("p", steps, cls="filters")


def _issue_table(data: Data, issues: Iterable[Issue]) -> Html:
    rows = [
        (
            issue_link(i, str(i.id)),
            project_link(data.projects[i.project_id]),
            data.trackers[i.tracker_id].name,
            marks(data, i),
            priority_mark(data, i),
            issue_link(i, i.subject),
            data.principal(i.assigned_to_id) if i.assigned_to_id else None,
            i.updated_on.strftime("%Y-%m-%d %H:%M"),
        )
        for i in issues
    ]
    return table(_COLUMNS, rows)


async def _issue(request: web.Request) -> web.Response:
    data = request.app[SERVICE].data
    issue = data.issues.get(int(request.match_info["id"]))
    if issue is None:
        return missing()
    return page(f"#{issue.id} {issue.subject}", issue_body(data, issue))


async def _project(request: web.Request) -> web.Response:
    data = request.app[SERVICE].data
    project = data.project(request.match_info["id"])
    if project is None:
        return missing()
    members = [
        (data.users[m.user_id].name, ", ".join(data.roles[r].name for r in m.role_ids))
        for m in data.memberships.values()
        if m.project_id == project.id
    ]
    versions = [
        (v.name, str(v.due or ""), "open" if v.is_open else "closed")
        for v in data.versions.values()
        if v.project_id == project.id
    ]
    categories = ", ".join(c.name for c in data.categories.values() if c.project_id == project.id)
    issues = [i for i in data.issues.values() if i.project_id == project.id]
    latest = sorted(issues, key=lambda i: i.updated_on, reverse=True)[:15]
    return page(
        project.name,
        el("h1", project.name, " ", _kind(project)),
        el("p", project.description),
        el("p", "Identifier ", el("code", project.identifier), f" · categories: {categories or 'none'}"),
        el("h2", "Recently updated · ", el("a", "All issues", href=_list({"project": project.identifier}))),
        _issue_table(data, latest),
        el("h2", "Versions"),
        table(("Name", "Due", "State"), versions),
        el("h2", "Members"),
        table(("Name", "Roles"), members),
    )


async def _time_entries(request: web.Request) -> web.Response:
    data = request.app[SERVICE].data
    latest = sorted(data.time_entries.values(), key=lambda t: (t.spent_on, t.id), reverse=True)[:200]
    rows = [
        (
            str(t.spent_on),
            data.principal(t.user_id),
            data.activities[t.activity_id].name,
            project_link(data.projects[t.project_id]),
            issue_link(data.issues[t.issue_id]) if t.issue_id else None,
            t.comments,
            f"{t.hours:.2f}",
        )
        for t in latest
    ]
    columns = ("Date", "Person", "Activity", "Project", "Issue", "Comment", "Hours")
    return page(
        "Time",
        el("h1", "Time spent"),
        el("p", f"Latest {len(latest)} of {len(data.time_entries)} entries", cls="soft"),
        table(columns, rows),
        here="/time_entries",
    )


async def _download(request: web.Request) -> web.Response:
    """Return a file's bytes; only images are shown inline, so that no file can act as a page."""
    row = request.app[SERVICE].data.attachments.get(int(request.match_info["id"]))
    if row is None or row.filename != request.match_info["filename"]:
        return missing()
    shown = row.content_type in _INLINE
    how = "inline" if shown else "attachment"
    headers = {
        "Content-Type": row.content_type if shown else "application/octet-stream",
        "Content-Disposition": f"{how}; filename*=UTF-8''{quote(row.filename, safe='')}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(body=row.content, headers=headers)
