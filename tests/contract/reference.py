"""The reference service with the data of `seed.json`, which `redmine_seed.rb` puts into a real Redmine."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import (
    ARCHIVED_PROJECT,
    CLOSED_PROJECT,
    LOCKED_USER,
    Category,
    CustomField,
    Data,
    Group,
    Issue,
    Project,
    Relation,
    Role,
    SavedQuery,
    User,
    Version,
    free_id,
    put,
)
from bot.sandbox.tracker.server import Tracker
from tests.contract.world import World

SEED: dict[str, Any] = json.loads(Path(__file__).with_name("seed.json").read_text())
BULK = 205
MAX_UPLOAD = 64 * 1024
FIRST_USER = 5
CUSTOMER = 6
LATE, EVERYWHERE, PRIVATE = 1, 2, 3
STATUSES = {"closed": CLOSED_PROJECT, "archived": ARCHIVED_PROJECT}
_SEES = frozenset({"view_issues", "view_time_entries"})
_REPORTS = _SEES | {"add_issues", "add_issue_notes"}
_WORKS = _REPORTS | {"log_time", "edit_own_time_entries"}
_DEVELOPS = _WORKS | {
    "edit_issues",
    "manage_subtasks",
    "set_own_issues_private",
    "view_private_notes",
    "set_notes_private",
}


def data() -> Data:
    """Returns a new copy, which tests may change."""
    made = defaults.fresh()
    made.anonymous.rights, made.non_member.rights = _SEES, _REPORTS
    made.roles[defaults.REPORTER].rights, made.roles[defaults.DEVELOPER].rights = _WORKS, _DEVELOPS
    put(made.roles, Role(CUSTOMER, "Customer", frozenset({"view_issues", "add_issues"}), issues="own"))
    people = {}
    for number, (login, person) in enumerate(SEED["users"].items(), start=FIRST_USER):
        first, last = person["name"]
        user = User(number, login, first, last, f"{login}@example.test", f"{number:x}" * 40)
        user.admin, user.tz = person.get("admin", False), person["zone"]
        if person.get("locked"):
            user.status = LOCKED_USER
        people[login] = put(made.users, user)
    crew = put(made.groups, Group(free_id(made.users), "Depot crew", {people["ana"].id, people["chris"].id}))
    projects = _projects(made, people)
    _fields(made, projects)
    issues = [_issue(made, row, people, projects, crew) for row in SEED["issues"]]
    _link(issues, SEED["issues"])
    put(made.relations, Relation(1, issues[0].id, issues[1].id))
    for number in range(1, BULK + 1):
        row = {"project": "public", "author": "ben", "tracker": "Support"}
        row["subject"] = f"Question {number:03} from a customer"
        question = _issue(made, row, people, projects, crew)
        question.created_on = question.updated_on = question.created_on - timedelta(hours=number)
    _link([_issue(made, row, people, projects, crew) for row in SEED["depot"]], SEED["depot"])
    late = {"due_date": "<=2024-06-30", "status_id": "o"}
    put(made.queries, SavedQuery(LATE, "Late", late, projects["depot"].id))
    put(made.queries, SavedQuery(EVERYWHERE, "Urgent ones", {"priority_id": "4", "status_id": "*"}))
    put(made.queries, SavedQuery(PRIVATE, "Ben's", {"status_id": "*"}, owner_id=people["ben"].id))
    return made


@asynccontextmanager
async def running(
    key_header: str = "X-Service-API-Key", made: Data | None = None, **options: Any
) -> AsyncIterator[World]:
    """Runs a reference service with this data, or its own, and these options of `Tracker`."""
    made = made or data()
    tracker = Tracker(made, key_header=key_header, max_upload=MAX_UPLOAD, **options)
    await tracker.start()
    try:
        yield world(tracker.url, key_header, made)
    finally:
        await tracker.stop()


def world(url: str, key_header: str, made: Data) -> World:
    return World(
        url=url,
        key_header=key_header,
        keys={user.login: user.api_key for user in made.users.values()},
        users={user.login: user.id for user in made.users.values()},
        projects={
            kind: {"id": project.id, "identifier": project.identifier}
            for kind, project in zip(SEED["projects"], made.projects.values(), strict=False)
            if kind not in ("depot", "cellar")
        },
        issues={row["kind"]: number for number, row in enumerate(SEED["issues"], start=1)},
        bulk=BULK,
        trackers={row.name: row.id for row in made.trackers.values()},
        statuses={row.name: row.id for row in made.statuses.values()},
        priorities={row.name: row.id for row in made.priorities.values()},
        activities={row.name: row.id for row in made.activities.values()},
        categories={row.name: row.id for row in made.categories.values()},
        versions={row.name: row.id for row in made.versions.values() if row.project_id == 1},
        custom_fields={row.name: row.id for row in made.custom_fields.values()},
        choices={name: _numbers(made, name) for name in ("Tester", "Broken since", "Building")},
        queries={"late": LATE, "urgent": EVERYWHERE, "bens": PRIVATE},
        max_upload=MAX_UPLOAD,
    )


def _projects(made: Data, people: dict[str, User]) -> dict[str, Project]:
    roles = {role.name: role.id for role in made.roles.values()}
    projects: dict[str, Project] = {}
    for number, (kind, row) in enumerate(SEED["projects"].items(), start=1):
        project = Project(number, row["name"], row["identifier"], f"{row['name']}, for the tests.")
        project.is_public, project.status = not row.get("hidden"), STATUSES.get(kind, project.status)
        project.parent_id = projects[row["parent"]].id if "parent" in row else None
        project.modules = frozenset(row.get("modules", project.modules))
        project.tracker_ids = _trackers(made, row)
        projects[kind] = put(made.projects, project)
        for login, role in row["members"].items():
            made.join(project, people[login], roles[role])
        for name in row.get("categories", ()):
            put(made.categories, Category(free_id(made.categories), name, number))
        for name in row.get("versions", ()):
            put(made.versions, Version(free_id(made.versions), name, number)).is_open = name != "Winter"
    return projects


def _trackers(made: Data, row: dict[str, Any]) -> tuple[int, ...]:
    names = row.get("trackers", ("Bug", "Feature", "Support"))
    return tuple(tracker.id for tracker in made.trackers.values() if tracker.name in names)


def _fields(made: Data, projects: dict[str, Project]) -> None:
    for number, (name, row) in enumerate(SEED["fields"].items(), start=1):
        field = CustomField(number, name, row["format"], tuple(row["options"]))
        field.required, field.multiple = row.get("required", False), row.get("multiple", False)
        field.is_filter = not row.get("unfilterable")
        field.tracker_ids = frozenset(made.trackers if field.name == "Shelf" else _trackers(made, row))
        field.project_ids = frozenset(projects[kind].id for kind in row["projects"] or ()) or None
        put(made.custom_fields, field)


def _numbers(made: Data, name: str) -> dict[str, int]:
    """The numbers of a field's values, if it names users, versions or its own options."""
    match name:
        case "Tester":
            people = made.users.values()
            return {key: user.id for user in people for key in (user.login, user.name)}
        case "Broken since":
            return {version.name: version.id for version in made.versions.values()}
        case "Building":
            return {option: n for n, option in enumerate(SEED["fields"][name]["options"], start=1)}
    return {}


def _issue(
    made: Data, row: dict[str, Any], people: dict[str, User], projects: dict[str, Project], crew: Group
) -> Issue:
    now, number = datetime.now(UTC).replace(microsecond=0), free_id(made.issues)

    def numbered(table: dict[int, Any], name: str) -> int:
        return next(number for number, one in table.items() if one.name.casefold() == name.casefold())

    issue = Issue(
        number,
        projects[row["project"]].id,
        numbered(made.trackers, row.get("tracker", "Feature")),
        numbered(made.statuses, row.get("status", "New")),
        numbered(made.priorities, row.get("priority", "Normal")),
        people[row["author"]].id,
        row["subject"],
        created_on=now,
        updated_on=now,
        description=row.get("description"),
        done_ratio=row.get("done_ratio", 0),
        estimated_hours=row.get("estimated_hours"),
        is_private=row.get("is_private", False),
    )
    if made.statuses[issue.status_id].is_closed and "created_on" not in row:
        issue.closed_on = now
    for moment in ("created_on", "updated_on", "closed_on"):
        if moment in row:
            setattr(issue, moment, datetime.fromisoformat(row[moment]))
    for day in ("start_date", "due_date"):
        if day in row:
            setattr(issue, day, date.fromisoformat(row[day]))
    if to := row.get("assigned_to"):
        issue.assigned_to_id = crew.id if to == "crew" else people[to].id
    issue.category_id = numbered(made.categories, row["category"]) if "category" in row else None
    issue.version_id = numbered(made.versions, row["version"]) if "version" in row else None
    fields = {field.name: field.id for field in made.custom_fields.values()}
    for name, value in row.get("custom_fields", {}).items():
        numbers = _numbers(made, name)
        issue.custom[fields[name]] = str(numbers[value]) if numbers else value
    return put(made.issues, issue)


def _link(issues: list[Issue], rows: list[dict[str, Any]]) -> None:
    """Puts subtasks below their parents, and the depot's issues on shelves."""
    for number, (issue, row) in enumerate(zip(issues, rows, strict=True)):
        if "parent" in row:
            issue.parent_id = issues[row["parent"]].id
        if row["project"] in ("depot", "cellar"):
            issue.custom[len(SEED["fields"])] = f"S{number % 3}"
