"""Validate a new or changed issue from a client: which attributes are accepted, ignored or rejected.

Error messages match the real service's English. Attributes the requester may not set are ignored silently
(docs/service.md, Issues).
"""

from dataclasses import replace

from bot.sandbox.tracker import custom
from bot.sandbox.tracker.call import (
    Body,
    Call,
    ValidationError,
    as_bool,
    as_int,
    as_text,
    crlf,
    is_blank,
    too_long,
)
from bot.sandbox.tracker.data import (
    ACTIVE_PROJECT,
    ACTIVE_USER,
    Attachment,
    CustomField,
    Issue,
    Project,
    User,
    free_id,
)
from bot.sandbox.tracker.dates import day
from bot.sandbox.tracker.durations import hours_of
from bot.sandbox.tracker.files import taken_uploads, use_uploads
from bot.sandbox.tracker.workflow import first_statuses, next_statuses

MAX_SUBJECT = 255
MAX_DONE = 100


DERIVED = frozenset({"priority_id", "start_date", "due_date", "done_ratio"})
"""What an issue with subtasks gets from them."""


class Draft:
    """The attributes of a new or changed issue, checked against the requester's permissions.

    `project` is None when the requester can't create issues in it: the error is "blank", never "forbidden".
    """

    def __init__(self, call: Call, sent: Body, old: Issue | None = None) -> None:
        self._call = call
        self._old = old
        derived = DERIVED if old is not None and old.id in call.data.children() else frozenset()
        self._sent = {name: value for name, value in sent.items() if name not in derived}
        self._errors: list[str] = []
        self.project = self._usable_project() if old is None else call.data.projects[old.project_id]
        self.files: list[Attachment] = []

    def issue(self, author: User) -> Issue:
        """Return the unsaved issue; raises ValidationError with all error messages."""
        self._check_subject()
        project = self.project
        if project is None:
            self._errors += ["Project cannot be blank", "Tracker cannot be blank", "Status cannot be blank"]
            raise ValidationError(*self._errors)
        if not project.tracker_ids:
            raise ValidationError("Tracker cannot be blank")
        issue = self._blank(project, author) if self._old is None else replace(self._old)
        if "subject" in self._sent:
            issue.subject = as_text(self._sent["subject"])
        if "description" in self._sent:
            description = self._sent["description"]
            issue.description = None if description is None else crlf(str(description))
        self._classify(issue, project)
        self._people(issue, project)
        self._place(issue, project)
        self._plan(issue)
        if "is_private" in self._sent and self._may_hide(issue, project):
            issue.is_private = as_bool(self._sent["is_private"])
        issue.custom = self._custom(issue, project)
        self._uploads()
        if self._errors:
            raise ValidationError(*self._errors)
        return issue

    def _check_subject(self) -> None:
        if self._old is None or "subject" in self._sent:
            subject = as_text(self._sent.get("subject"))
            if is_blank(subject):
                self._errors.append("Subject cannot be blank")
            self._errors += too_long("Subject", subject, MAX_SUBJECT)

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

    def _is_cleared(self, name: str) -> bool:
        return name in self._sent and self._sent[name] in (None, "")

    def _classify(self, issue: Issue, project: Project) -> None:
        """Set tracker, status and priority; a tracker or status that isn't allowed is ignored."""
        data, viewer = self._call.data, self._call.viewer
        tracker = as_int(self._sent.get("tracker_id"))
        if tracker in project.tracker_ids and tracker:
            issue.tracker_id = tracker
        status = as_int(self._sent.get("status_id"))
        old = self._old
        allowed = first_statuses(data, viewer, project) if old is None else next_statuses(data, viewer, old)
        if status in allowed and status and status != issue.status_id:
            if data.statuses[status].is_closed and not data.statuses[issue.status_id].is_closed:
                issue.closed_on = self._call.now
            issue.status_id = status
        priority = as_int(self._sent.get("priority_id"))
        if priority in data.priorities and priority:
            issue.priority_id = priority
        elif self._sent.get("priority_id") not in (None, "") or (old and self._is_cleared("priority_id")):
            self._errors.append("Priority cannot be blank")

    def _people(self, issue: Issue, project: Project) -> None:
        sent = self._sent.get("assigned_to_id")
        wanted = self._call.user.id if sent == "me" else as_int(sent)
        if sent in (None, "") and self._old is None:
            category = self._call.data.categories.get(as_int(self._sent.get("category_id")) or 0)
            issue.assigned_to_id = category.assigned_to_id if category else None
        elif sent in (None, ""):  # null is ignored
            issue.assigned_to_id = None if sent == "" else issue.assigned_to_id
        elif wanted in {issue.assigned_to_id, *self._call.data.assignable(project)}:
            issue.assigned_to_id = wanted
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
        category = data.categories.get(as_int(self._sent.get("category_id")) or 0)
        if category is not None and category.project_id == project.id:
            issue.category_id = category.id
        elif self._is_cleared("category_id"):
            issue.category_id = None
        elif "category_id" in self._sent:
            self._errors.append("Category is not included in the list")
        version = data.versions.get(as_int(self._sent.get("fixed_version_id")) or 0)
        if (
            version is not None
            and version.project_id == project.id
            and (version.is_open or version.id == issue.version_id)
        ):
            issue.version_id = version.id
        elif self._is_cleared("fixed_version_id"):
            issue.version_id = None
        elif "fixed_version_id" in self._sent:
            self._errors.append("Target version is not included in the list")
        if "parent_issue_id" in self._sent and self._call.viewer.may("manage_subtasks", project):
            self._set_parent(issue)

    def _set_parent(self, issue: Issue) -> None:
        parent = self._call.data.issues.get(as_int(self._sent["parent_issue_id"]) or 0)
        if self._is_cleared("parent_issue_id"):
            issue.parent_id = None
        elif parent is None or not self._call.viewer.sees_issue(parent) or issue.id in self._line(parent):
            self._errors.append("Parent task is invalid")
        else:
            issue.parent_id = parent.id

    def _line(self, issue: Issue) -> set[int]:
        """Return an issue's number and those above it."""
        above = self._call.data.issues.get(issue.parent_id or 0)
        return {issue.id} | (self._line(above) if above else set())

    def _plan(self, issue: Issue) -> None:
        for name, label in (("start_date", "Start date"), ("due_date", "Due date")):
            if name in self._sent:
                setattr(issue, name, day(self._sent[name]))
                if not self._is_cleared(name) and getattr(issue, name) is None:
                    self._errors.append(f"{label} is not a valid date")
        if issue.start_date and issue.due_date and issue.due_date < issue.start_date:
            self._errors.append("Due date must be greater than start date")
        if "estimated_hours" in self._sent:
            issue.estimated_hours = hours_of(self._sent["estimated_hours"])
            if not self._is_cleared("estimated_hours") and (
                issue.estimated_hours is None or issue.estimated_hours < 0
            ):
                self._errors.append("Estimated time is invalid")
        if self._sent.get("done_ratio") not in (None, ""):
            done = as_int(self._sent["done_ratio"])
            if done is None or not 0 <= done <= MAX_DONE:
                self._errors.append("% Done is not included in the list")
            else:
                issue.done_ratio = done

    def _may_hide(self, issue: Issue, project: Project) -> bool:
        viewer = self._call.viewer
        own = issue.author_id == self._call.user.id and viewer.may("set_own_issues_private", project)
        return own or viewer.may("set_issues_private", project)

    def _custom(self, issue: Issue, project: Project) -> dict[int, custom.Kept]:
        given = self._sent.get("custom_fields")
        rows = [r for r in given if isinstance(r, dict)] if isinstance(given, list) else []
        values = {as_int(r.get("id")): r.get("value") for r in rows}
        found: dict[int, custom.Kept] = {}
        for field in self._call.data.fields(issue.project_id, issue.tracker_id):
            found[field.id] = (
                custom.kept(field, values[field.id]) if field.id in values else self._stored(field)
            )
            if said := custom.error_message(field, found[field.id], self._call.data, project):
                self._errors.append(said)
        return found

    def _stored(self, field: CustomField) -> custom.Kept:
        stored = self._old.custom.get(field.id) if self._old else None
        return custom.kept(field, None) if stored is None else stored

    def _uploads(self) -> None:
        taken, lost = taken_uploads(self._call.data, self._sent)
        if lost:
            self._errors.append(f"{lost} file(s) could not be saved.")
        if not self._errors:
            self.files = use_uploads(taken)
