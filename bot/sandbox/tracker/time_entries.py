"""POST /time_entries.json, PUT and DELETE /time_entries/{id}.json."""

from dataclasses import replace

from aiohttp import web

from bot.sandbox.tracker import shapes
from bot.sandbox.tracker.call import Body, Call, HttpError, ValidationError, as_int, too_long
from bot.sandbox.tracker.data import ACTIVE_USER, Project, TimeEntry, free_id
from bot.sandbox.tracker.dates import day, hours_of

MAX_COMMENT = 1024
MAX_HOURS = 1000


async def create_time_entry(call: Call) -> web.Response:
    """Log time on an issue or project, for the requester unless they may log for others.

    Responds 401 for an anonymous visitor, 403 where the project doesn't allow it, 422 for invalid values.
    """
    author = call.user
    call.require(call.viewer.may_anywhere("log_time"))
    sent = await call.body("time_entry")
    blank = TimeEntry(
        id=free_id(call.data.time_entries, call.data.deleted_time),
        project_id=0,
        issue_id=None,
        user_id=author.id,
        author_id=author.id,
        activity_id=0,
        minutes=0,
        spent_on=call.today,
        created_on=call.now,
    )
    entry = _changed(call, blank, sent, new=True)
    call.data.time_entries[entry.id] = entry
    return call.created("time_entry", shapes.time_entry(call.data, entry), f"/time_entries/{entry.id}")


async def update_time_entry(call: Call) -> web.Response:
    """Change one's own entry, or another user's with the right to.

    Responds 404 (unknown), 403, 422.
    """
    entry = call.path_row(call.data.time_entries)
    if not call.viewer.edits_time(entry):
        raise HttpError(403)
    changed = _changed(call, entry, await call.body("time_entry"), new=False)
    call.data.time_entries[entry.id] = changed
    return call.updated()


async def delete_time_entry(call: Call) -> web.Response:
    """Optional operation: delete an entry that the requester may edit.

    Responds 404 (unknown), 403, or 401 for an anonymous visitor.
    """
    entry = call.path_row(call.data.time_entries)
    call.require(call.viewer.edits_time(entry))
    call.data.deleted_time[entry.id] = call.data.time_entries.pop(entry.id)
    return call.updated()


def _changed(call: Call, entry: TimeEntry, sent: Body, *, new: bool) -> TimeEntry:
    entry = replace(entry, updated_on=call.now)
    errors: list[str] = []
    project = _target(call, entry, sent, errors)
    if "hours" in sent or new:
        _set_hours(entry, sent.get("hours"), errors)
    if "activity_id" in sent or new:
        _set_activity(call, entry, project, sent.get("activity_id"), errors)
    if "spent_on" in sent:
        _set_date(entry, sent["spent_on"], errors)
    if "comments" in sent:
        entry.comments = sent.text("comments") or None
        errors += too_long("Comment", entry.comments or "", MAX_COMMENT)
    if project is not None:
        _for_another(call, entry, sent, project)
    if errors:
        raise ValidationError(*errors)
    return entry


def _set_hours(entry: TimeEntry, sent: object, errors: list[str]) -> None:
    hours = hours_of(sent)
    if sent in (None, ""):
        errors.append("Hours cannot be blank")
    elif hours is None or not 0 < round(hours * 60) < MAX_HOURS * 60:
        errors.append("Hours is invalid")
    else:
        entry.minutes = round(hours * 60)


def _set_activity(
    call: Call, entry: TimeEntry, project: Project | None, sent: object, errors: list[str]
) -> None:
    activity_id = as_int(sent)
    usable = project.activity_ids if project and project.activity_ids is not None else call.data.activities
    if sent in (None, ""):
        errors.append("Activity cannot be blank")
    elif activity_id is None or activity_id not in {*usable, entry.activity_id}:
        errors.append("Activity is not included in the list")
    else:
        entry.activity_id = activity_id


def _set_date(entry: TimeEntry, sent: object, errors: list[str]) -> None:
    spent_on = day(sent)
    if spent_on is None:
        errors.append("Date cannot be blank" if sent in (None, "") else "Date is not a valid date")
    else:
        entry.spent_on = spent_on


def _target(call: Call, entry: TimeEntry, sent: Body, errors: list[str]) -> Project | None:
    """Set the entry's project and issue; an issue determines the project. Responds 403 if not allowed."""
    data = call.data
    project = data.projects.get(entry.project_id)
    if sent.filled("project_id"):
        project_key = sent["project_id"]
        project = data.project(project_key) if isinstance(project_key, str | int) else None
        if project is None:
            errors.append("Project is invalid")
            return None
        entry.project_id, entry.issue_id = project.id, None
    if "issue_id" in sent:
        entry.issue_id = None
        if sent.filled("issue_id"):
            issue = sent.row("issue_id", data.issues)
            its = data.projects[issue.project_id] if issue and call.viewer.sees_issue(issue) else None
            elsewhere = sent.filled("project_id") and its is not project
            if issue is None or its is None or elsewhere or not call.viewer.may("log_time", its):
                errors.append("Issue is invalid")
                return None
            project = its
            entry.project_id, entry.issue_id = project.id, issue.id
    if project is None:
        errors.append("Project cannot be blank")
        return None
    call.require(call.viewer.may("log_time", project))
    return project


def _for_another(call: Call, entry: TimeEntry, sent: Body, project: Project) -> None:
    """Set another user as the author; ignored unless the requester may log for others."""
    user = sent.row("user_id", call.data.users)
    if user is None or user.status != ACTIVE_USER or not call.viewer.may("log_time_for_others", project):
        return
    if call.data.member(project.id, user.id):
        entry.user_id = user.id
