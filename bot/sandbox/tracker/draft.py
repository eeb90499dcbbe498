"""Validate a new or changed issue from a client: which attributes are accepted, ignored or rejected.

Error messages match the real service's English. Attributes the requester may not set are ignored silently
(docs/service.md, Issues).
"""

import re
from collections.abc import Callable, Container
from dataclasses import replace

from bot.sandbox.tracker.access import first_statuses, next_statuses
from bot.sandbox.tracker.call import Body, Call, ValidationError, as_int, crlf, is_blank, too_long
from bot.sandbox.tracker.data import (
    ACTIVE_PROJECT,
    ACTIVE_USER,
    Attachment,
    CustomField,
    Data,
    Issue,
    Project,
    User,
    free_id,
)
from bot.sandbox.tracker.dates import day, hours_of
from bot.sandbox.tracker.files import taken_uploads, use_uploads

MAX_SUBJECT = 255
MAX_DONE = 100
DERIVED = frozenset({"priority_id", "start_date", "due_date", "done_ratio"})
"""What an issue with subtasks gets from them."""
Kept = str | list[str] | None
_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)
_CHOICES: dict[str, Callable[[CustomField, Data, Project], set[str]]] = {
    "list": lambda field, _data, _project: set(field.options),
    "enumeration": lambda field, _data, _project: {str(n) for n in range(1, len(field.options) + 1)},
    "user": lambda _field, data, project: {str(n) for n in data.assignable(project) if n in data.users},
    "version": lambda _field, data, project: {
        str(version.id) for version in data.versions.values() if version.project_id == project.id
    },
}


class Draft:
    """The attributes of a new or changed issue, checked against the requester's permissions.

    `project` is None when the requester can't create issues in it: the error is "blank", never "forbidden".
    """

    def __init__(self, call: Call, sent: Body, old: Issue | None = None) -> None:
        self._call = call
        self._old = old
        derived = DERIVED if old is not None and old.id in call.data.children() else frozenset()
        self._sent = Body({name: value for name, value in sent.items() if name not in derived})
        self._errors: list[str] = []
        self.project = self._usable_project() if old is None else call.data.projects[old.project_id]
        self.files: list[Attachment] = []

    def issue(self, author: User) -> Issue:
        """Return the unsaved issue; raises ValidationError with all error messages."""
        if self._old is None or "subject" in self._sent:
            subject = self._sent.text("subject")
            self._errors += ["Subject cannot be blank"] if is_blank(subject) else []
            self._errors += too_long("Subject", subject, MAX_SUBJECT)
        project = self.project
        if project is None:
            self._errors += ["Project cannot be blank", "Tracker cannot be blank", "Status cannot be blank"]
            raise ValidationError(*self._errors)
        if not project.tracker_ids:
            raise ValidationError("Tracker cannot be blank")
        issue = self._blank(project, author) if self._old is None else replace(self._old)
        if "subject" in self._sent:
            issue.subject = subject
        if "description" in self._sent:
            description = self._sent["description"]
            issue.description = None if description is None else crlf(str(description))
        self._classify(issue, project)
        self._people(issue, project)
        self._place(issue, project)
        self._plan(issue)
        if "is_private" in self._sent and self._may_hide(issue, project):
            issue.is_private = self._sent.flag("is_private")
        issue.custom = self._custom(issue, project)
        taken, lost = taken_uploads(self._call.data, self._sent)
        self._errors += [f"{lost} file(s) could not be saved."] if lost else []
        if self._errors:
            raise ValidationError(*self._errors)
        self.files = use_uploads(taken)
        return issue

    def _blank(self, project: Project, author: User) -> Issue:
        data, now = self._call.data, self._call.now
        return Issue(
            id=free_id(data.issues),
            project_id=project.id,
            tracker_id=project.tracker_ids[0],
            status_id=min(data.statuses),
            priority_id=next((p.id for p in data.priorities.values() if p.is_default), min(data.priorities)),
            author_id=author.id,
            subject="",
            start_date=self._call.today,
            created_on=now,
            updated_on=now,
        )

    def _usable_project(self) -> Project | None:
        sent = self._sent.get("project_id")
        project = self._call.data.project(sent) if isinstance(sent, str | int) else None
        if project is None or project.status != ACTIVE_PROJECT:
            return None
        return project if self._call.viewer.may("add_issues", project) else None

    def _classify(self, issue: Issue, project: Project) -> None:
        """Set tracker, status and priority; a tracker or status that isn't allowed is ignored."""
        data, viewer = self._call.data, self._call.viewer
        tracker = self._sent.number("tracker_id")
        if tracker in project.tracker_ids and tracker:
            issue.tracker_id = tracker
        status = self._sent.number("status_id")
        old = self._old
        allowed = first_statuses(data, viewer, project) if old is None else next_statuses(data, viewer, issue)
        if status in allowed and status and status != issue.status_id:
            if data.statuses[status].is_closed and not data.statuses[issue.status_id].is_closed:
                issue.closed_on = self._call.now
            issue.status_id = status
        priority = self._sent.number("priority_id")
        if priority in data.priorities and priority:
            issue.priority_id = priority
        elif self._sent.filled("priority_id") or (old and self._sent.cleared("priority_id")):
            self._errors.append("Priority cannot be blank")

    def _people(self, issue: Issue, project: Project) -> None:
        sent = self._sent.get("assigned_to_id")
        assignee_id = self._call.user.id if sent == "me" else as_int(sent)
        if sent in (None, "") and self._old is None:
            category = self._sent.row("category_id", self._call.data.categories)
            issue.assigned_to_id = category.assigned_to_id if category else None
        elif sent in (None, ""):  # null is ignored
            issue.assigned_to_id = None if sent == "" else issue.assigned_to_id
        elif assignee_id in {issue.assigned_to_id, *self._call.data.assignable(project)}:
            issue.assigned_to_id = assignee_id
        elif "assigned_to_id" in self._sent:
            self._errors.append("Assignee is invalid")
        if self._old is not None:
            return
        watchers = self._sent.get("watcher_user_ids")
        if isinstance(watchers, list) and self._call.viewer.may("add_watchers", project):
            users = [self._call.data.users.get(as_int(w) or 0) for w in watchers]
            issue.watcher_ids = {u.id for u in users if u is not None and u.status == ACTIVE_USER}

    def _place(self, issue: Issue, project: Project) -> None:
        data = self._call.data
        here = {c.id for c in data.categories.values() if c.project_id == project.id}
        issue.category_id = self._listed("category_id", "Category", here, issue.category_id)
        rows = [v for v in data.versions.values() if v.project_id == project.id]
        usable = {v.id for v in rows if v.is_open or v.id == issue.version_id}
        issue.version_id = self._listed("fixed_version_id", "Target version", usable, issue.version_id)
        if "parent_issue_id" in self._sent and self._call.viewer.may("manage_subtasks", project):
            self._set_parent(issue)

    def _listed(self, name: str, label: str, usable: Container[int], current: int | None) -> int | None:
        """Return the number that is sent, None if that's cleared, or the one held; otherwise add an error."""
        if name not in self._sent:
            return current
        number = self._sent.number(name)
        if number is not None and number in usable:
            return number
        if self._sent.filled(name):
            self._errors.append(f"{label} is not included in the list")
        return None

    def _set_parent(self, issue: Issue) -> None:
        parent = self._sent.row("parent_issue_id", self._call.data.issues)
        if self._sent.cleared("parent_issue_id"):
            issue.parent_id = None
        elif parent is None or not self._call.viewer.sees_issue(parent) or issue.id in self._line(parent):
            self._errors.append("Parent task is invalid")
        else:
            issue.parent_id = parent.id

    def _line(self, issue: Issue) -> set[int]:
        above = self._call.data.issues.get(issue.parent_id or 0)
        return {issue.id} | (self._line(above) if above else set())

    def _plan(self, issue: Issue) -> None:
        for name, label in (("start_date", "Start date"), ("due_date", "Due date")):
            if name in self._sent:
                setattr(issue, name, day(self._sent[name]))
                if not self._sent.cleared(name) and getattr(issue, name) is None:
                    self._errors.append(f"{label} is not a valid date")
        if issue.start_date and issue.due_date and issue.due_date < issue.start_date:
            self._errors.append("Due date must be greater than start date")
        if "estimated_hours" in self._sent:
            hours = issue.estimated_hours = hours_of(self._sent["estimated_hours"])
            if self._sent.filled("estimated_hours") and (hours is None or hours < 0):
                self._errors.append("Estimated time is invalid")
        if self._sent.filled("done_ratio"):
            done = self._listed("done_ratio", "% Done", range(MAX_DONE + 1), issue.done_ratio)
            issue.done_ratio = done or 0

    def _may_hide(self, issue: Issue, project: Project) -> bool:
        viewer = self._call.viewer
        own = issue.author_id == self._call.user.id and viewer.may("set_own_issues_private", project)
        return own or viewer.may("set_issues_private", project)

    def _custom(self, issue: Issue, project: Project) -> dict[int, Kept]:
        given = self._sent.get("custom_fields")
        rows = [r for r in given if isinstance(r, dict)] if isinstance(given, list) else []
        values = {as_int(r.get("id")): r.get("value") for r in rows}
        stored = self._old.custom if self._old else {}
        values_by_field: dict[int, Kept] = {}
        for field in self._call.data.fields(issue.project_id, issue.tracker_id):
            kept = None if field.id in values else stored.get(field.id)
            values_by_field[field.id] = _kept(field, values.get(field.id)) if kept is None else kept
            if message := _error_message(field, values_by_field[field.id], self._call.data, project):
                self._errors.append(message)
        return values_by_field


def _kept(field: CustomField, sent: object) -> Kept:
    """Return the value in the field's type; a list stays a list, so that `_error_message` can reject it."""
    if field.multiple:
        values = sent if isinstance(sent, list) else [sent]
        return [str(value) for value in values if value not in (None, "")]
    if isinstance(sent, list):
        if len(sent) > 1:
            return [str(value) for value in sent]
        return _kept(field, sent[0] if sent else None)
    return None if sent is None else str(sent)


def _error_message(field: CustomField, value: Kept, data: Data, project: Project) -> str | None:
    values = [each for each in (value if isinstance(value, list) else [value]) if each]
    problem = next((fault for each in values if (fault := _problem(field, each, data, project))), None)
    if problem is None and isinstance(value, list) and not field.multiple:
        problem = "is invalid"
    if problem is None and field.required and not values:
        problem = "cannot be blank"
    return problem and f"{field.name} {problem}"


def _problem(field: CustomField, value: str, data: Data, project: Project) -> str | None:
    if field.format in _CHOICES:
        allowed = _CHOICES[field.format](field, data, project)
        return None if value in allowed else "is not included in the list"
    if field.format == "int" and not _NUMBER.fullmatch(value.strip()):
        return "is not a number"
    if field.format == "float" and not _is_float(value):
        return "is invalid"
    if field.format == "date" and day(value) is None:
        return "is not a valid date"
    return None


def _is_float(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
