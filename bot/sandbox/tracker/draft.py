"""Validate a new issue from a client: which attributes are accepted, ignored or rejected.

Error messages match the real service's English. Attributes the requester may not set are ignored silently
(docs/service.md, Issues).
"""

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
    Issue,
    Project,
    User,
    free_id,
)
from bot.sandbox.tracker.dates import day
from bot.sandbox.tracker.durations import hours_of
from bot.sandbox.tracker.tokens import Tokens

MAX_SUBJECT = 255
MAX_DONE = 100


class Draft:
    """The attributes of a new issue, checked against the requester's permissions.

    `project` is None when the requester can't use it: the error is "blank", never "forbidden".
    """

    def __init__(self, call: Call, sent: Body) -> None:
        self._call = call
        self._sent = sent
        self._errors: list[str] = []
        self.project = self._usable_project()
        self.files: list[Attachment] = []

    def issue(self, author: User) -> Issue:
        """Return the unsaved issue with its defaults; raises ValidationError with all error messages."""
        subject = as_text(self._sent.get("subject"))
        if is_blank(subject):
            self._errors.append("Subject cannot be blank")
        self._errors += too_long("Subject", subject, MAX_SUBJECT)
        project = self.project
        if project is None:
            self._errors += ["Project cannot be blank", "Tracker cannot be blank", "Status cannot be blank"]
            raise ValidationError(*self._errors)
        if not project.tracker_ids:
            raise ValidationError("Tracker cannot be blank")
        description = self._sent.get("description")
        issue = Issue(
            id=free_id(self._call.data.issues),
            project_id=project.id,
            tracker_id=self._tracker(project),
            status_id=self._status(project),
            priority_id=self._priority(),
            author_id=author.id,
            subject=subject,
            description=None if description is None else crlf(str(description)),
            created_on=self._call.now,
            updated_on=self._call.now,
        )
        self._people(issue, project)
        self._place(issue, project)
        self._plan(issue)
        issue.is_private = as_bool(self._sent.get("is_private")) and self._may_hide(project)
        issue.custom = self._custom(issue, project)
        if self._call.data.statuses[issue.status_id].is_closed:
            issue.closed_on = self._call.now
        self._uploads()
        if self._errors:
            raise ValidationError(*self._errors)
        return issue

    def _usable_project(self) -> Project | None:
        sent = self._sent.get("project_id")
        project = self._call.data.project(sent) if isinstance(sent, str | int) else None
        if project is None or project.status != ACTIVE_PROJECT:
            return None
        return project if self._call.viewer.may("add_issues", project) else None

    def _tracker(self, project: Project) -> int:
        wanted = as_int(self._sent.get("tracker_id"))
        return wanted if wanted in project.tracker_ids and wanted else project.tracker_ids[0]

    def _status(self, project: Project) -> int:
        statuses = self._call.data.statuses
        roles = self._call.viewer.roles(project)
        allowed = set(statuses) if self._call.viewer.admin else {s for r in roles for s in r.first_statuses}
        wanted = as_int(self._sent.get("status_id"))
        return wanted if wanted in allowed and wanted else min(statuses)

    def _priority(self) -> int:
        priorities = self._call.data.priorities
        default = next((p.id for p in priorities.values() if p.is_default), min(priorities))
        if self._sent.get("priority_id") in (None, ""):
            return default
        wanted = as_int(self._sent["priority_id"])
        if wanted in priorities and wanted:
            return wanted
        self._errors.append("Priority cannot be blank")
        return default

    def _people(self, issue: Issue, project: Project) -> None:
        assignable = self._call.data.assignable(project)
        sent = self._sent.get("assigned_to_id")
        wanted = self._call.user.id if sent == "me" else as_int(sent)
        if sent in (None, ""):
            category = self._call.data.categories.get(as_int(self._sent.get("category_id")) or 0)
            default = category.assigned_to_id if category else None
            issue.assigned_to_id = default or project.default_assignee_id
        elif wanted in assignable:
            issue.assigned_to_id = wanted
        else:
            self._errors.append("Assignee is invalid")
        watchers = self._sent.get("watcher_user_ids")
        if isinstance(watchers, list) and self._call.viewer.may("add_watchers", project):
            users = [self._call.data.users.get(as_int(w) or 0) for w in watchers]
            issue.watcher_ids = {u.id for u in users if u is not None and u.status == ACTIVE_USER}

    def _place(self, issue: Issue, project: Project) -> None:
        data = self._call.data
        category = data.categories.get(as_int(self._sent.get("category_id")) or 0)
        if category is not None and category.project_id == project.id:
            issue.category_id = category.id
        elif self._sent.get("category_id") not in (None, ""):
            self._errors.append("Category is not included in the list")
        issue.version_id = project.default_version_id
        if self._sent.get("fixed_version_id") not in (None, ""):
            version = data.versions.get(as_int(self._sent["fixed_version_id"]) or 0)
            if version is None or version.project_id != project.id or not version.is_open:
                self._errors.append("Target version is not included in the list")
            else:
                issue.version_id = version.id
        if self._sent.get("parent_issue_id") in (None, "") or not self._call.viewer.may(
            "manage_subtasks", project
        ):
            return
        parent = data.issues.get(as_int(self._sent["parent_issue_id"]) or 0)
        if parent is None or not self._call.viewer.sees_issue(parent):
            self._errors.append("Parent task is invalid")
        else:
            issue.parent_id = parent.id

    def _plan(self, issue: Issue) -> None:
        issue.start_date = self._call.today
        for name, label in (("start_date", "Start date"), ("due_date", "Due date")):
            if name not in self._sent:
                continue
            value = self._sent[name]
            found = day(value)
            if value not in (None, "") and found is None:
                self._errors.append(f"{label} is not a valid date")
            setattr(issue, name, found)
        if issue.start_date and issue.due_date and issue.due_date < issue.start_date:
            self._errors.append("Due date must be greater than start date")
        estimate = self._sent.get("estimated_hours")
        if estimate not in (None, ""):
            issue.estimated_hours = hours_of(estimate)
            if issue.estimated_hours is None or issue.estimated_hours < 0:
                self._errors.append("Estimated time is invalid")
        done = self._sent.get("done_ratio")
        if done not in (None, ""):
            number = as_int(done)
            if number is None or not 0 <= number <= MAX_DONE:
                self._errors.append("% Done is not included in the list")
            else:
                issue.done_ratio = number

    def _may_hide(self, project: Project) -> bool:
        may = self._call.viewer.may
        return may("set_issues_private", project) or may("set_own_issues_private", project)

    def _custom(self, issue: Issue, project: Project) -> dict[int, custom.Kept]:
        given = self._sent.get("custom_fields")
        rows = [r for r in given if isinstance(r, dict)] if isinstance(given, list) else []
        values = {as_int(r.get("id")): r.get("value") for r in rows}
        found: dict[int, custom.Kept] = {}
        for field in self._call.data.fields(issue.project_id, issue.tracker_id):
            found[field.id] = custom.kept(field, values.get(field.id))
            if said := custom.error_message(field, found[field.id], self._call.data, project):
                self._errors.append(said)
        return found

    def _uploads(self) -> None:
        taken = Tokens(self._call.data, self._sent)
        self._errors += taken.errors
        if not self._errors:
            self.files = taken.use()
