"""GET and POST /issues.json; GET and PUT /issues/{id}.json when enabled, and the history of updates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date

from aiohttp import web

from bot.sandbox.tracker import shapes
from bot.sandbox.tracker.call import Body, Call, HttpError, ValidationError, as_int, crlf
from bot.sandbox.tracker.data import Attachment, Detail, Issue, Note, Project
from bot.sandbox.tracker.draft import Draft
from bot.sandbox.tracker.filters import FilterContext, order, tests

_RENAMED = {"version_id": "fixed_version_id"}
_ATTRIBUTES = (
    *("tracker_id", "subject", "description", "due_date", "category_id", "status_id", "assigned_to_id"),
    *("priority_id", "version_id", "start_date", "done_ratio", "estimated_hours", "parent_id", "is_private"),
)


async def list_issues(call: Call) -> web.Response:
    """Return a page of the visible issues that match the filters; only open ones unless a status is given.

    Responds 404 (unknown project or saved query), 403 or 401 (hidden project), 422 (malformed filters).
    """
    project = _project(call)
    params = _filters(call)
    candidates: Iterable[Issue] = call.data.issues.values()
    for matches in tests(params, FilterContext(call.data, call.viewer, call.zone, project)):
        candidates = filter(matches, candidates)
    visible = [issue for issue in candidates if call.viewer.sees_issue(issue)]
    ordered = order(visible, call.params.get("sort") or params.get("sort", ""), call.data)
    return call.listed("issues", ordered, _shapes(call).shape)


def _shapes(call: Call) -> shapes.Issues:
    return shapes.Issues(call.data, call.viewer, call.origin, call.includes())


def _project(call: Call) -> Project | None:
    sent = call.params.get("project_id")
    if not sent:
        return None
    number = as_int(sent)  # an identifier is not accepted here (docs/service.md, Lists)
    project = None if number is None else call.data.projects.get(number)
    if project is None:
        raise HttpError(404)
    call.require_seen(project)
    call.require(call.viewer.may("view_issues", project))
    return project


def _filters(call: Call) -> Mapping[str, str]:
    """Return the request's filters, or only the saved query's if it names one."""
    sent = call.params.get("query_id")
    if not sent:
        return call.params
    query = call.data.queries.get(as_int(sent) or 0)
    if query is None or query.project_id not in (None, as_int(call.params.get("project_id"))):
        raise HttpError(404)
    call.require(query.owner_id is None or query.owner_id in call.viewer.me(groups=False))
    return query.params


async def create_issue(call: Call) -> web.Response:
    """Create an issue with the files of its upload tokens; attributes the requester may not set are ignored.

    Responds 401 for an anonymous visitor, 403 without the right, 422 with error messages.
    """
    author = call.user
    call.require(call.viewer.may_anywhere("add_issues"))
    draft = Draft(call, await call.body("issue"))
    issue = draft.issue(author)
    call.data.issues[issue.id] = issue
    for file in draft.files:
        file.issue_id = issue.id
    _touch_parent(call, issue)
    return call.created("issue", _shapes(call).shape(issue), f"/issues/{issue.id}")


async def show_issue(call: Call) -> web.Response:
    """Optional operation: return one issue. Responds 404 (unknown), 403 or 401 (hidden)."""
    issue = call.path_row(call.data.issues)
    call.require(call.viewer.sees_issue(issue))
    return web.json_response({"issue": _shapes(call).detailed(issue)})


async def update_issue(call: Call) -> web.Response:
    """Optional operation: change attributes, add files (by token) and a note; ignores what may not be set.

    Responds 404 (unknown), 401, 403 (hidden or not allowed), 422 with error messages, or without one for an
    outdated `lock_version`.
    """
    change(call, call.path_row(call.data.issues), await call.body("issue"))
    return call.updated()


def change(call: Call, issue: Issue, sent: Body) -> None:
    """Change an issue and its history as the requester.

    A requester who may only add notes can't change attributes, and a note takes its own right. Raises
    HttpError and ValidationError, the latter without errors for an outdated `lock_version`.
    """
    project = call.data.projects[issue.project_id]
    edits, notes = call.viewer.edits_issue(issue), call.viewer.may("add_issue_notes", project)
    call.require(call.viewer.sees_issue(issue) and (edits or notes))
    if as_int(sent.get("lock_version", len(issue.notes))) != len(issue.notes):
        raise ValidationError
    draft = Draft(call, sent if edits else Body(uploads=sent.get("uploads")), issue)
    changed = draft.issue(call.user)
    details = tuple(_changes(issue, changed, draft.files))
    text = crlf(sent.text("notes")) if notes else ""
    private = bool(text) and sent.flag("private_notes") and call.viewer.may("set_notes_private", project)
    if details and (private or not text):
        changed.notes = [*changed.notes, Note(call.user.id, "", call.now, details)]
    if text:
        public_details = () if private else details
        changed.notes = [*changed.notes, Note(call.user.id, text, call.now, public_details, private)]
    if text or details:
        changed.updated_on = call.now
        _touch_parent(call, issue)
        _touch_parent(call, changed)
    for file in draft.files:
        file.issue_id = issue.id
    for row in fields(Issue):
        setattr(issue, row.name, getattr(changed, row.name))


def _touch_parent(call: Call, issue: Issue) -> None:
    if issue.parent_id is not None:
        call.data.issues[issue.parent_id].updated_on = call.now


def _changes(old: Issue, new: Issue, files: Sequence[Attachment]) -> Iterator[Detail]:
    for name in _ATTRIBUTES:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Detail("attr", _RENAMED.get(name, name), _text(before), _text(after))
    for number in sorted({*old.custom, *new.custom}):
        before, after = old.custom.get(number), new.custom.get(number)
        if (before or None) != (after or None):
            yield Detail("cf", str(number), _text(before), _text(after))
    for file in files:
        yield Detail("attachment", str(file.id), None, file.filename)


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return ", ".join(value)
    return value.isoformat() if isinstance(value, date) else str(value)
