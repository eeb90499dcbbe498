"""The service's web pages, with an administrator's view of all data; issues can be changed as any person."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from aiohttp import web

from bot.sandbox.tracker.access import Viewer
from bot.sandbox.tracker.call import SERVICE, Body, Call, HttpError, ValidationError, as_int
from bot.sandbox.tracker.data import ACTIVE_PROJECT, Attachment, Data, Issue, Note, Project, TimeEntry
from bot.sandbox.tracker.filters import FilterContext, order, tests
from bot.sandbox.tracker.html import Child, Html, el, join, markdown, page, table
from bot.sandbox.tracker.issues import change

ROWS = 50
_COLUMNS = ("#", "Project", "Tracker", "Status", "Priority", "Subject", "Assignee", "Updated")
_CHANGED = {
    "status_id": "Status",
    "assigned_to_id": "Assignee",
    "priority_id": "Priority",
    "due_date": "Due date",
}
_INLINE = frozenset({"image/png", "image/jpeg", "image/gif"})


def routes() -> list[web.RouteDef]:
    return [
        web.get("/", _overview),
        web.get("/issues", _issues),
        web.get("/issues/{id:[0-9]{1,18}}", _issue),
        web.post("/issues/{id:[0-9]{1,18}}", _change),
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
        el("h3", _project_link(project), " ", _kind(project)),
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
    """List issues by the API's filters: those of a link, or of the page's own choices."""
    data, query = request.app[SERVICE].data, dict(request.query)
    start, linked = max(as_int(query.pop("from", "")) or 0, 0), "set_filter" in query
    project = data.project(query.get("project_id", ""))
    try:
        predicates = tests(query, FilterContext(data, Viewer(data, None), ZoneInfo("UTC"), project))
    except ValidationError as invalid:
        return page("Issues", el("h1", "These filters aren't valid"), el("p", " ".join(invalid.errors)))
    matching = [i for i in data.issues.values() if all(test(i) for test in predicates)]
    issues = order(matching, "created_on:desc" if linked else "updated_on:desc", data)
    if linked:
        where = f" in {project.name}" if project else ""
        head = el("h1", f"{_count(issues)}{where} matching this link's filters")
    else:
        query = {"project_id": "", "status_id": "open"} | query
        title = el("h1", _count(issues, "open " if query["status_id"] == "open" else ""))
        head = join(title, _choices(data, query))
    rows = _issue_table(data, issues[start : start + ROWS])
    return page("Issues", head, rows, _pager(query, start, len(issues)), here="/issues")


def _count(issues: list[Issue], kind: str = "") -> str:
    return f"{len(issues)} {kind}issue{'' if len(issues) == 1 else 's'}"


def _choices(data: Data, here: dict[str, str]) -> Html:
    projects = sorted(data.projects.values(), key=lambda p: p.name)
    rows = {
        "project_id": [("", "All projects"), *((p.identifier, p.name) for p in projects)],
        "status_id": [("open", "Open"), ("*", "All")],
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
            _issue_link(i, str(i.id)),
            _project_link(data.projects[i.project_id]),
            data.trackers[i.tracker_id].name,
            _marks(data, i),
            _priority_mark(data, i),
            _issue_link(i, i.subject),
            data.principal(i.assigned_to_id) if i.assigned_to_id else None,
            i.updated_on.strftime("%Y-%m-%d %H:%M"),
        )
        for i in issues
    ]
    return table(_COLUMNS, rows)


async def _issue(request: web.Request) -> web.Response:
    return _issue_page(request, request.query)


def _issue_page(request: web.Request, filled: Mapping[str, str], problem: str = "") -> web.Response:
    service = request.app[SERVICE]
    issue = service.data.issues.get(int(request.match_info["id"]))
    if issue is None:
        return missing()
    form = _form(service.data, issue, filled, problem) if service.issue_updates else None
    body = join(_issue_body(service.data, issue), _section("Change this issue", form))
    return page(f"#{issue.id} {issue.subject}", body, status=422 if problem else 200)


async def _change(request: web.Request) -> web.Response:
    """Save an issue's form as the chosen person, by the API's rules."""
    service, sent = request.app[SERVICE], Body(await request.post())
    issue = service.data.issues.get(int(request.match_info["id"]))
    user = sent.row("as", service.data.users)
    if issue is None or user is None or not service.issue_updates:
        return missing()
    try:
        change(Call(request, user), issue, sent)
    except HttpError:
        return _issue_page(request, sent, f"{user.name} can't change this issue.")
    except ValidationError as invalid:
        problem = (
            ". ".join(invalid.errors) or "This issue has changed since you opened it. Check it and save again"
        )
        return _issue_page(request, sent, f"{problem}.")
    kept = [name for key, name in _CHANGED.items() if sent.text(key) != str(getattr(issue, key) or "")]
    if kept:
        return _issue_page(
            request, {"as": sent["as"]}, f"{user.name} can't change {' and '.join(kept)} here."
        )
    raise web.HTTPSeeOther(f"/issues/{issue.id}?as={user.id}#change")


def _form(data: Data, issue: Issue, filled: Mapping[str, str], problem: str) -> Html:
    """Return the form that changes an issue; `filled` keeps the chosen person and the comment."""
    assignable = data.assignable(data.projects[issue.project_id]) | {issue.assigned_to_id or 0} - {0}
    choices: dict[str, tuple[Iterable[tuple[int | str, str]], object]] = {
        "as": (((u.id, u.name) for u in data.users.values()), filled.get("as")),
        "status_id": (((s.id, s.name) for s in data.statuses.values()), issue.status_id),
        "assigned_to_id": (
            [("", "Unassigned"), *((n, data.principal(n)) for n in sorted(assignable))],
            issue.assigned_to_id,
        ),
        "priority_id": (((p.id, p.name) for p in data.priorities.values()), issue.priority_id),
    }
    fields = [(_CHANGED.get(key, "As"), _select(key, *choice)) for key, choice in choices.items()]
    fields.append(("Due date", el("input", name="due_date", type="date", value=str(issue.due_date or ""))))
    fields.append(("Comment", el("textarea", filled.get("notes"), name="notes", rows="3")))
    return el(
        "form",
        el("p", problem, cls="problem", role="alert") if problem else None,
        [el("label", el("span", label), field) for label, field in fields],
        el("input", type="hidden", name="lock_version", value=str(len(issue.notes))),
        el("button", "Save"),
        method="post",
        action=f"/issues/{issue.id}#change",
        id="change",
        cls="card change",
    )


def _select(name: str, choices: Iterable[tuple[int | str, str]], chosen: object) -> Html:
    options = [
        el("option", text, value=str(value), selected="" if str(value) == str(chosen or "") else None)
        for value, text in choices
    ]
    return el("select", options, name=name)


async def _project(request: web.Request) -> web.Response:
    data = request.app[SERVICE].data
    project = data.project(request.match_info["id"])
    if project is None:
        return missing()
    members = [
        (data.users[m.user_id].name, ", ".join(data.roles[r].name for r in m.role_ids))
        for m in data.members(project.id)
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
        el(
            "h2", "Recently updated · ", el("a", "All issues", href=_list({"project_id": project.identifier}))
        ),
        _issue_table(data, latest),
        el("h2", "Versions"),
        table(("Name", "Due", "State"), versions),
        el("h2", "Members"),
        table(("Name", "Roles"), members),
    )


async def _time_entries(request: web.Request) -> web.Response:
    data = request.app[SERVICE].data
    latest = sorted(data.time_entries.values(), key=lambda t: (t.spent_on, t.id), reverse=True)[:200]
    return page(
        "Time",
        el("h1", "Time spent"),
        el("p", f"Latest {len(latest)} of {len(data.time_entries)} entries", cls="soft"),
        _time_table(data, latest),
        here="/time_entries",
    )


async def _download(request: web.Request) -> web.Response:
    """Return a file's bytes; only images are shown inline, so that no file can act as a page."""
    row = request.app[SERVICE].data.attachments.get(int(request.match_info["id"]))
    if row is None or row.filename != request.match_info["filename"]:
        return missing()
    is_inline = row.content_type in _INLINE
    how = "inline" if is_inline else "attachment"
    headers = {
        "Content-Type": row.content_type if is_inline else "application/octet-stream",
        "Content-Disposition": f"{how}; filename*=UTF-8''{quote(row.filename, safe='')}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(body=row.content, headers=headers)


def _issue_body(data: Data, issue: Issue) -> Html:
    parent = data.issues.get(issue.parent_id or 0)
    time = [entry for entry in data.time_entries.values() if entry.issue_id == issue.id]
    above = [_project_link(data.projects[issue.project_id])]
    if parent is not None:
        above += [Html(" · "), _issue_link(parent)]
    return join(
        el("p", above),
        el("h1", f"{data.trackers[issue.tracker_id].name} #{issue.id}: {issue.subject}"),
        el(
            "div",
            el("dl", [el("div", el("dt", name), el("dd", value)) for name, value in _facts(data, issue)]),
            el("div", markdown(issue.description), cls="text") if issue.description else None,
            cls="card",
        ),
        _section("Subtasks", _children(data, data.children(), issue)),
        _section("Related", _relations(data, issue)),
        _section("Files", [_file(data, a) for a in data.attachments.values() if a.issue_id == issue.id]),
        _section("Time spent", _time_table(data, time, "Project", "Issue") if time else None),
        _section("Comments", [_note(data, note) for note in issue.notes if note.text]),
    )


def _section(title: str, content: Child) -> Html | None:
    return join(el("h2", title), content) if content else None


def _facts(data: Data, issue: Issue) -> list[tuple[str, Child]]:
    spent = data.minutes().get(issue.id, 0) / 60
    facts: list[tuple[str, Child]] = [
        ("Status", _marks(data, issue)),
        ("Priority", _priority_mark(data, issue)),
        ("Author", data.principal(issue.author_id)),
        ("Assignee", data.principal(issue.assigned_to_id) if issue.assigned_to_id else None),
        ("Category", data.categories[issue.category_id].name if issue.category_id else None),
        ("Target version", data.versions[issue.version_id].name if issue.version_id else None),
        ("Start date", str(issue.start_date or "")),
        ("Due date", str(issue.due_date or "")),
        ("% Done", f"{issue.done_ratio}%"),
        ("Estimated hours", f"{issue.estimated_hours:g}h" if issue.estimated_hours is not None else None),
        ("Spent hours", f"{spent:.2f}h" if spent else None),
        ("Watchers", ", ".join(data.principal(w) for w in sorted(issue.watcher_ids))),
    ]
    for field in data.fields(issue.project_id, issue.tracker_id):
        value = issue.custom.get(field.id)
        facts.append((field.name, ", ".join(value) if isinstance(value, list) else value))
    facts += [("Created", _when(issue.created_on)), ("Updated", _when(issue.updated_on))]
    facts.append(("Closed", _when(issue.closed_on) if issue.closed_on else None))
    return [(name, value) for name, value in facts if value]


def _children(data: Data, children: dict[int, list[Issue]], issue: Issue) -> Html | None:
    below = children.get(issue.id)
    if not below:
        return None
    items = [
        el("li", _issue_link(child), " ", _marks(data, child), _children(data, children, child))
        for child in below
    ]
    return el("ul", items, cls="tree")


def _relations(data: Data, issue: Issue) -> Html | None:
    items = []
    for row in data.relations.values():
        if issue.id in (row.issue_id, row.issue_to_id):
            kind = row.kind if row.issue_id == issue.id else f"{row.kind} (incoming)"
            other = data.issues[row.issue_to_id if row.issue_id == issue.id else row.issue_id]
            items.append(
                el("li", el("span", kind, cls="soft"), " ", _issue_link(other), " ", _marks(data, other))
            )
    return el("ul", items, cls="tree") if items else None


def _file(data: Data, row: Attachment) -> Html:
    href = f"/attachments/download/{row.id}/{quote(row.filename, safe='')}"
    about = f" {len(row.content):,} bytes, {data.principal(row.author_id)}, {_when(row.created_on)}"
    picture = row.content_type.startswith("image/")
    return el(
        "div",
        el("a", row.filename, href=href),
        el("span", about, cls="soft small"),
        el("div", row.description) if row.description else None,
        el("img", src=href, alt=row.description or row.filename, cls="thumb") if picture else None,
    )


def _time_table(data: Data, entries: Sequence[TimeEntry], *left_out: str) -> Html:
    columns: dict[str, list[Child]] = {
        "Date": [str(t.spent_on) for t in entries],
        "Person": [data.principal(t.user_id) for t in entries],
        "Activity": [data.activities[t.activity_id].name for t in entries],
        "Project": [_project_link(data.projects[t.project_id]) for t in entries],
        "Issue": [_issue_link(data.issues[t.issue_id]) if t.issue_id else None for t in entries],
        "Comment": [t.comments for t in entries],
        "Hours": [f"{t.hours:.2f}" for t in entries],
    }
    kept_columns = {name: cells for name, cells in columns.items() if name not in left_out}
    return table(kept_columns, zip(*kept_columns.values(), strict=True))


def _note(data: Data, note: Note) -> Html:
    head = f"{data.principal(note.user_id)}, {_when(note.created_on)}"
    return el("div", el("div", head, cls="soft small"), markdown(note.text), cls="card")


def _issue_link(issue: Issue, text: str | None = None) -> Html:
    return el("a", text or f"#{issue.id} {issue.subject}", href=f"/issues/{issue.id}")


def _project_link(project: Project) -> Html:
    return el("a", project.name, href=f"/projects/{project.identifier}")


def _marks(data: Data, issue: Issue) -> Html:
    """Return badges for the issue's status, and for private issues."""
    status = data.statuses[issue.status_id]
    private = el("span", "private", cls="pill private") if issue.is_private else None
    return join(el("span", status.name, cls="pill closed" if status.is_closed else "pill"), " ", private)


def _priority_mark(data: Data, issue: Issue) -> Html:
    """Return the issue's priority; the two highest are highlighted."""
    urgent = issue.priority_id in sorted(data.priorities)[-2:]
    return el("span", data.priorities[issue.priority_id].name, cls="pill high" if urgent else None)


def _when(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
