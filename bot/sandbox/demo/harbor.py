"""Harbor, the demo's company, as harbor.toml describes it: its users, projects and settings."""

import tomllib
from dataclasses import replace
from datetime import datetime, timedelta
from importlib.resources import files

from pydantic import BaseModel

from bot.sandbox import picked
from bot.sandbox.people import BEN, FARAH, PEOPLE, Person
from bot.sandbox.tracker.data import (
    ACTIVE_PROJECT,
    CLOSED_PROJECT,
    Category,
    CustomField,
    Data,
    Group,
    Project,
    SavedQuery,
    User,
    Version,
    free_id,
    put,
)
from bot.sandbox.tracker.defaults import BUG, FEATURE, SUPPORT, TASK, fresh

TRACKER_IDS = {"bug": BUG, "feature": FEATURE, "support": SUPPORT, "task": TASK}
WEBSHOP, MOBILE, INFRASTRUCTURE, SECURITY, OLD_SHOP = 1, 2, 3, 4, 5
"""Project IDs: the position in harbor.toml, from 1."""
SUPPORT_TEAM = 20
SEVERITY, CUSTOMER, BROWSERS = 1, 2, 3


class HarborProject(BaseModel):
    """A project; `categories` are subjects by category and tracker, `members` are roles by login.

    `versions` are the days until each is due. `circumstances` turn one bug's subject into several.
    """

    name: str
    identifier: str
    description: str
    homepage: str | None = None
    parent: str | None = None
    is_public: bool = True
    is_closed: bool = False
    issues: int
    trackers: list[str]
    members: dict[str, str]
    versions: dict[str, int] = {}
    circumstances: list[str]
    categories: dict[str, dict[str, list[str]]]


class Epic(BaseModel):
    """A large feature; `tasks` have subtasks of their own."""

    project: str
    category: str
    subject: str
    tasks: dict[str, list[str]]


class Harbor(BaseModel):
    """`invoice` and `gift_cards` describe the issues with fixed numbers.

    `prose` has fragments of descriptions, notes and comments, in Markdown; `follow_ups` are the subjects of
    issues that follow from others, by tracker.
    """

    invoice: str
    gift_cards: str
    projects: list[HarborProject]
    epics: list[Epic]
    custom_fields: list[CustomField]
    queries: list[SavedQuery]
    prose: dict[str, list[str]]
    follow_ups: dict[str, dict[str, list[str]]]


_TOML = files("bot.sandbox.demo").joinpath("harbor.toml").read_text(encoding="utf-8")
HARBOR = Harbor.model_validate(tomllib.loads(_TOML))
PROSE = HARBOR.prose


def company(now: datetime) -> Data:
    """Return users with API keys, projects with members and versions, custom fields and saved queries."""
    data = fresh()
    for number, person in enumerate(PEOPLE, 1):
        put(data.users, _user(number, person, now))
    put(data.groups, Group(SUPPORT_TEAM, "Support team", {user_of(data, p).id for p in (BEN, FARAH)}))
    for project in HARBOR.projects:
        _add_project(data, project, now)
    data.custom_fields = {field.id: replace(field) for field in HARBOR.custom_fields}
    data.queries = {query.id: replace(query) for query in HARBOR.queries}
    return data


def user_of(data: Data, person: Person) -> User:
    return next(u for u in data.users.values() if u.login == person.login)


def _user(number: int, person: Person, now: datetime) -> User:
    return User(
        id=number,
        **picked(person, "login", "firstname", "lastname", "mail", "api_key", "admin", "tz"),
        created_on=now - timedelta(days=420 - number),
        updated_on=now - timedelta(days=30 + number),
        last_login_on=now - timedelta(hours=3 * number),
        passwd_changed_on=now - timedelta(days=200 - number),
    )


def _add_project(data: Data, project: HarborProject, now: datetime) -> None:
    project_id = free_id(data.projects)
    parent = data.project(project.parent) if project.parent else None
    created = now - timedelta(days=420 - 20 * project_id)
    row = Project(
        id=project_id,
        **picked(project, "name", "identifier", "description", "homepage", "is_public"),
        parent_id=parent.id if parent else None,
        status=CLOSED_PROJECT if project.is_closed else ACTIVE_PROJECT,
        tracker_ids=tuple(TRACKER_IDS[name] for name in project.trackers),
        created_on=created,
        updated_on=created,
    )
    put(data.projects, row)
    for name in project.categories:
        put(data.categories, Category(free_id(data.categories), name, row.id))
    for name, days in project.versions.items():
        due = (now + timedelta(days=days)).date()
        put(data.versions, Version(free_id(data.versions), name, row.id, due, is_open=days > 0))
    users = {user.login: user for user in data.users.values()}
    roles = {role.name.lower(): role.id for role in data.roles.values()}
    for login, role in project.members.items():
        data.join(row, users[login], roles[role])
