"""The projects `depot` and, below it, `cellar`, whose issues differ in every field (`depot.json`).

This module puts them into the reference service; `redmine_seed.rb` puts the same ones into a real Redmine.
"""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import (
    Category,
    CustomField,
    Data,
    Group,
    Issue,
    Project,
    SavedQuery,
    User,
    Version,
    free_id,
    put,
)

ISSUES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("depot.json").read_text())
LATE, EVERYWHERE = 1, 2


def fill(made: Data) -> None:
    """Adds everything to a reference service that already has users and custom fields."""
    people = {user.login: user for user in made.users.values()}
    wes = User(free_id(made.users), "wes", "Wes", "Moreno", "wes@example.test", "0" * 36 + "0ce5")
    wes.tz = "America/New_York"  # west of the service, so that days begin later
    people["wes"] = put(made.users, wes)
    crew = put(made.groups, Group(free_id(made.users), "Depot crew", {people["ana"].id, people["chris"].id}))
    projects = _projects(made, people)
    depot = projects["depot"]
    categories = {name: _named(made.categories, Category, name, depot) for name in ("Inbound", "Outbound")}
    versions = {name: _named(made.versions, Version, name, depot) for name in ("Spring", "Autumn", "Winter")}
    versions["Winter"].is_open = False
    shelf = CustomField(free_id(made.custom_fields), "Shelf", tracker_ids=frozenset(made.trackers))
    put(made.custom_fields, shelf)  # the field that can't be filtered by
    fields = {field.name: field for field in made.custom_fields.values()}
    lab = fields["Colour"].project_ids or frozenset()
    for field in made.custom_fields.values():
        if field is shelf or field.project_ids == lab:
            field.project_ids = (lab if field is not shelf else frozenset()) | {
                p.id for p in projects.values()
            }
    named = {
        "Tester": {login: str(user.id) for login, user in people.items()},
        "Broken since": {name: str(version.id) for name, version in versions.items()},
        "Building": {name: str(n) for n, name in enumerate(fields["Building"].options, start=1)},
    }
    ids = {
        kind: {row.name.casefold(): row.id for row in table.values()}
        for kind, table in (
            ("tracker", made.trackers),
            ("status", made.statuses),
            ("priority", made.priorities),
        )
    }
    first = free_id(made.issues)
    for number, row in enumerate(ISSUES, start=first):
        issue = Issue(
            number,
            projects[row["project"]].id,
            tracker_id=ids["tracker"][row["tracker"].casefold()],
            status_id=ids["status"][row["status"].casefold()],
            priority_id=ids["priority"][row["priority"].casefold()],
            author_id=people[row["author"]].id,
            subject=row["subject"],
            done_ratio=row["done_ratio"],
            estimated_hours=row.get("estimated_hours"),
            is_private=row.get("is_private", False),
        )
        for moment in ("created_on", "updated_on", "closed_on"):
            if moment in row:
                setattr(issue, moment, datetime.fromisoformat(row[moment]))
        for day in ("start_date", "due_date"):
            if day in row:
                setattr(issue, day, date.fromisoformat(row[day]))
        if to := row.get("assigned_to"):
            issue.assigned_to_id = crew.id if to == "crew" else people[to].id
        issue.category_id = categories[row["category"]].id if "category" in row else None
        issue.version_id = versions[row["version"]].id if "version" in row else None
        issue.parent_id = first + row["parent"] if "parent" in row else None
        issue.custom[shelf.id] = f"S{number % 3}"
        for name, value in row["custom_fields"].items():
            chosen = named.get(name, {})
            issue.custom[fields[name].id] = chosen.get(value, value) if chosen else value
        put(made.issues, issue)
    put(made.queries, SavedQuery(LATE, "Late", {"due_date": "<=2024-06-30", "status_id": "o"}, depot.id))
    put(made.queries, SavedQuery(EVERYWHERE, "Urgent ones", {"priority_id": "4", "status_id": "*"}))


def _projects(made: Data, people: dict[str, User]) -> dict[str, Project]:
    first = free_id(made.projects)
    depot = Project(first, "Depot", "depot", "Depot, for the tests.", is_public=False)
    cellar = Project(
        first + 1, "Cellar", "cellar", "Cellar, for the tests.", is_public=False, parent_id=first
    )
    for project in (depot, cellar):
        put(made.projects, project).tracker_ids = (defaults.BUG, defaults.FEATURE, defaults.SUPPORT)
        for login, role in (
            ("ana", defaults.MANAGER),
            ("ben", defaults.REPORTER),
            ("wes", defaults.REPORTER),
        ):
            made.join(project, people[login], role)
    return {"depot": depot, "cellar": cellar}


def _named(table: dict[int, Any], kind: type[Any], name: str, project: Project) -> Any:
    return put(table, kind(free_id(table), name, project.id))
