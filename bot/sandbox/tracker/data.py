"""The reference service's data: plain mutable rows in dictionaries by ID, open to tests and demo data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Literal, Protocol, TypeVar

ACTIVE_USER, REGISTERED_USER, LOCKED_USER = 1, 2, 3
ACTIVE_PROJECT, CLOSED_PROJECT, ARCHIVED_PROJECT = 1, 5, 9
MAX_DIGITS = 19
LONG_AGO = datetime(2025, 1, 6, 8, tzinfo=UTC)
MODULES = ("issue_tracking", "time_tracking", "news", "documents", "files", "wiki", "calendar", "gantt")
"""The modules a project may have; a module's ID is its position in this list, from 1."""


@dataclass(slots=True)
class Named:
    id: int
    name: str


@dataclass(slots=True)
class Priority(Named):
    """A priority; IDs are in order of urgency."""

    is_default: bool = False


@dataclass(slots=True)
class Status(Named):
    """A status; `trackers` are those whose issues may change to it (None: all)."""

    is_closed: bool = False
    trackers: frozenset[int] | None = None


@dataclass(slots=True)
class Role(Named):
    """A role's permissions in a project.

    Rights: view_issues, view_private_issues, add_issues, edit_issues, edit_own_issues, add_issue_notes,
    view_private_notes, set_notes_private, manage_subtasks, add_watchers, set_issues_private,
    set_own_issues_private, view_time_entries, log_time, log_time_for_others, edit_own_time_entries,
    edit_time_entries, add_project, add_subprojects.
    `first_statuses` are the allowed statuses of a new issue, `next_statuses` those after each status (None:
    all). With `issues` "own", the role sees only issues the user created or is assigned to.
    """

    rights: frozenset[str] = frozenset()
    first_statuses: frozenset[int] = frozenset()
    next_statuses: Mapping[int, frozenset[int]] | None = None
    issues: Literal["own", "default"] = "default"


@dataclass(slots=True)
class User:
    """A user account; `tz` is the time zone of "today" and of dates without one."""

    id: int
    login: str
    firstname: str
    lastname: str
    mail: str
    api_key: str = field(repr=False)
    admin: bool = False
    status: int = ACTIVE_USER
    tz: str = "UTC"
    created_on: datetime = LONG_AGO
    updated_on: datetime = LONG_AGO
    last_login_on: datetime | None = None
    passwd_changed_on: datetime | None = None
    must_change_passwd: bool = False

    @property
    def name(self) -> str:
        return f"{self.firstname} {self.lastname}"


@dataclass(slots=True)
class Group(Named):
    """A group of users; shares the ID range with users, as both can be assignees."""

    user_ids: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Membership:
    """A user's roles in a project; `inherited` are the ones from a group or a parent project."""

    id: int
    project_id: int
    user_id: int
    role_ids: tuple[int, ...]
    inherited: frozenset[int] = frozenset()


@dataclass(slots=True)
class Category(Named):
    project_id: int = 0
    assigned_to_id: int | None = None


@dataclass(slots=True)
class Version(Named):
    """A project's version; issues can target it while it is open."""

    project_id: int = 0
    due: date | None = None
    is_open: bool = True


@dataclass(slots=True)
class CustomField(Named):
    """An issue custom field; `project_ids` None means every project.

    `format`: string, text, int, float, bool, date, list, user, version, link or enumeration. `options` are
    for list and enumeration; an enumeration's values are their positions, from 1.
    """

    format: str = "string"
    options: tuple[str, ...] = ()
    required: bool = False
    is_filter: bool = False
    multiple: bool = False
    tracker_ids: frozenset[int] = frozenset()
    project_ids: frozenset[int] | None = None


@dataclass(slots=True)
class Project(Named):
    """A project; `status` is ACTIVE_PROJECT or a sibling, `activity_ids` are the allowed ones (None: all)."""

    identifier: str = ""
    description: str | None = None
    homepage: str | None = None
    parent_id: int | None = None
    status: int = ACTIVE_PROJECT
    is_public: bool = True
    inherit_members: bool = False
    tracker_ids: tuple[int, ...] = ()
    activity_ids: tuple[int, ...] | None = None
    modules: frozenset[str] = frozenset(("issue_tracking", "time_tracking"))
    created_on: datetime = LONG_AGO
    updated_on: datetime = LONG_AGO


@dataclass(frozen=True, slots=True)
class Detail:
    """One change of an issue: of an attribute, a custom field ("cf") or an attachment."""

    property: Literal["attr", "cf", "attachment"]
    name: str
    old_value: str | None
    new_value: str | None


@dataclass(slots=True)
class Note:
    """A journal entry of an issue: a comment, changes, or both."""

    user_id: int
    text: str
    created_on: datetime
    details: tuple[Detail, ...] = ()
    is_private: bool = False


@dataclass(slots=True)
class Issue:
    """An issue; `custom` holds custom field values by field ID."""

    id: int
    project_id: int
    tracker_id: int
    status_id: int
    priority_id: int
    author_id: int
    subject: str
    description: str | None = None
    category_id: int | None = None
    assigned_to_id: int | None = None
    version_id: int | None = None
    parent_id: int | None = None
    start_date: date | None = None
    due_date: date | None = None
    done_ratio: int = 0
    estimated_hours: float | None = None
    is_private: bool = False
    custom: dict[int, str | list[str] | None] = field(default_factory=dict)
    watcher_ids: set[int] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    created_on: datetime = LONG_AGO
    updated_on: datetime = LONG_AGO
    closed_on: datetime | None = None


@dataclass(slots=True)
class Relation:
    """A relation between two issues: relates, blocks, precedes, duplicates."""

    id: int
    issue_id: int
    issue_to_id: int
    kind: str = "relates"
    delay: int | None = None


@dataclass(slots=True)
class Attachment:
    """A file; without `issue_id` it is pending, until its uploader attaches it by token."""

    id: int
    filename: str
    content: bytes = field(repr=False)
    content_type: str
    author_id: int
    created_on: datetime
    description: str = ""
    issue_id: int | None = None

    @property
    def token(self) -> str:
        return f"{self.id}.{sha256(self.content).hexdigest()}"


@dataclass(slots=True)
class TimeEntry:
    """A time entry; `minutes` because the service stores whole minutes."""

    id: int
    project_id: int
    issue_id: int | None
    user_id: int
    author_id: int
    activity_id: int
    minutes: int
    spent_on: date
    comments: str | None = None
    created_on: datetime = LONG_AGO
    updated_on: datetime = LONG_AGO

    @property
    def hours(self) -> float:
        return round(self.minutes / 60, 2)


@dataclass(slots=True)
class SavedQuery(Named):
    """A saved query: filters in the format of the issue list's parameters; `project_id` None is global.

    With `owner_id` it is private.
    """

    params: dict[str, str] = field(default_factory=dict)
    project_id: int | None = None
    owner_id: int | None = None


class Row(Protocol):
    id: int


RowT = TypeVar("RowT", bound=Row)


def free_id(*tables: Mapping[int, object]) -> int:
    """Return an ID above all existing ones."""
    return max((max(t, default=0) for t in tables), default=0) + 1


def put(table: dict[int, RowT], row: RowT) -> RowT:
    table[row.id] = row
    return row


@dataclass
class Data:
    """All of the service's data. `Data()` is empty; `defaults.fresh()` has roles, statuses and so on."""

    trackers: dict[int, Named] = field(default_factory=dict)
    statuses: dict[int, Status] = field(default_factory=dict)
    priorities: dict[int, Priority] = field(default_factory=dict)
    activities: dict[int, Named] = field(default_factory=dict)
    roles: dict[int, Role] = field(default_factory=dict)
    non_member: Role = field(default_factory=lambda: Role(0, "Non member"))
    anonymous: Role = field(default_factory=lambda: Role(0, "Anonymous"))
    users: dict[int, User] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)
    projects: dict[int, Project] = field(default_factory=dict)
    memberships: dict[int, Membership] = field(default_factory=dict)
    categories: dict[int, Category] = field(default_factory=dict)
    versions: dict[int, Version] = field(default_factory=dict)
    custom_fields: dict[int, CustomField] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    relations: dict[int, Relation] = field(default_factory=dict)
    attachments: dict[int, Attachment] = field(default_factory=dict)
    time_entries: dict[int, TimeEntry] = field(default_factory=dict)
    deleted_time: dict[int, TimeEntry] = field(default_factory=dict)
    queries: dict[int, SavedQuery] = field(default_factory=dict)

    def project(self, key: str | int) -> Project | None:
        """Return the project with this ID or identifier."""
        text = str(key)
        number = int(text) if text.isascii() and text.isdigit() and len(text) < MAX_DIGITS else None
        if number is not None:
            return self.projects.get(number)
        return next((p for p in self.projects.values() if p.identifier == text), None)

    def subprojects(self, project: Project) -> Iterator[Project]:
        """Yield all descendants of the project."""
        for child in self.projects.values():
            if child.parent_id == project.id:
                yield child
                yield from self.subprojects(child)

    def principal(self, user_or_group_id: int) -> str:
        user = self.users.get(user_or_group_id)
        return user.name if user else self.groups[user_or_group_id].name

    def members(self, project_id: int) -> list[Membership]:
        return [m for m in self.memberships.values() if m.project_id == project_id]

    def member(self, project_id: int, user_id: int) -> Membership | None:
        return next((m for m in self.members(project_id) if m.user_id == user_id), None)

    def join(self, project: Project, user: User, *role_ids: int) -> Membership:
        row = Membership(free_id(self.memberships), project.id, user.id, role_ids)
        return put(self.memberships, row)

    def assignable(self, project: Project) -> set[int]:
        """Return the IDs of active members, and of groups whose users are all members."""
        active = {m.user_id for m in self.members(project.id) if self.users[m.user_id].status == ACTIVE_USER}
        return active | {g.id for g in self.groups.values() if g.user_ids and g.user_ids <= active}

    def fields(self, project_id: int, tracker_id: int) -> list[CustomField]:
        """Return the custom fields of an issue with this tracker in this project, ordered by ID."""
        return [
            f
            for _, f in sorted(self.custom_fields.items())
            if tracker_id in f.tracker_ids and (f.project_ids is None or project_id in f.project_ids)
        ]

    def children(self) -> dict[int, list[Issue]]:
        """Return issues by parent ID."""
        children: dict[int, list[Issue]] = {}
        for issue in self.issues.values():
            if issue.parent_id is not None:
                children.setdefault(issue.parent_id, []).append(issue)
        return children

    def minutes(self) -> dict[int, int]:
        """Return minutes logged on each issue itself, by issue ID."""
        totals: dict[int, int] = {}
        for entry in self.time_entries.values():
            if entry.issue_id is not None:
                totals[entry.issue_id] = totals.get(entry.issue_id, 0) + entry.minutes
        return totals
