"""The reference service, with the same small data set that `redmine_seed.rb` creates in a real Redmine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import (
    ARCHIVED_PROJECT,
    CLOSED_PROJECT,
    LOCKED_USER,
    Category,
    CustomField,
    Data,
    Issue,
    Project,
    Relation,
    Role,
    User,
    Version,
    put,
)
from bot.sandbox.tracker.server import Tracker
from tests.contract import depot
from tests.contract.world import World

BULK = 205
MAX_UPLOAD = 64 * 1024
ANA, BEN, CHRIS, DORA, NILS, LENA, OLGA = 5, 6, 7, 8, 9, 10, 11
SHOP, SEARCH, VAULT, MUSEUM, ATTIC, LAB = 1, 2, 3, 4, 5, 6
PROJECTS = ["public", "child", "private", "closed", "archived", "lab"]
ISSUES = ["parent", "child", "closed", "private", "vault", "in_child", "museum", "archived", "lab", "olgas"]
SEVERITY, ENVIRONMENT = 1, 2
CUSTOMER = 6
PROTOTYPE = 3
BUILDINGS = ("North", "South")
LAB_FIELDS = (
    ("Serial number", "string", ()),
    ("Remarks", "text", ()),
    ("Attempts", "int", ()),
    ("Voltage", "float", ()),
    ("Reproducible", "bool", ()),
    ("First seen", "date", ()),
    ("Colour", "list", ("red", "green", "blue")),
    ("Browsers", "list", ("Firefox", "Chromium", "Safari")),
    ("Tester", "user", ()),
    ("Broken since", "version", ()),
    ("Report", "link", ()),
    ("Building", "enumeration", BUILDINGS),
)
_SEES = frozenset({"view_issues", "view_time_entries"})
_REPORTS = _SEES | {"add_issues", "add_notes"}
_WORKS = _REPORTS | {"log_time", "edit_own_time_entries"}


def data() -> Data:
    """Returns a new copy, which tests may change."""
    made = defaults.fresh()
    made.anonymous.rights, made.non_member.rights = _SEES, _REPORTS
    made.roles[defaults.REPORTER].rights = _WORKS
    made.roles[defaults.DEVELOPER].rights = _WORKS | {
        "edit_issues",
        "manage_subtasks",
        "set_own_issues_private",
        "view_private_notes",
        "set_notes_private",
    }
    customer = Role(CUSTOMER, "Customer", frozenset({"view_issues", "add_issues"}), issues="own")
    put(made.roles, customer)
    for user_id, login, name, zone in (
        (ANA, "ana", ("Ana", "Ruiz"), "Europe/Madrid"),
        (BEN, "ben", ("Ben", "Okafor"), "Europe/London"),
        (CHRIS, "chris", ("Chris", "Lindqvist"), "Etc/GMT+12"),
        (DORA, "dora", ("Dora", "Weiss"), "Pacific/Tongatapu"),
        (NILS, "nils", ("Nils", "Aalto"), "Europe/Helsinki"),
        (LENA, "lena", ("Lena", "Vogt"), "Europe/Berlin"),
        (OLGA, "olga", ("Olga", "Petrova"), "Europe/Sofia"),
    ):
        mail = f"{login}@example.test"
        put(
            made.users,
            User(user_id, login, *name, mail, f"{user_id:x}" * 40, admin=login == "chris", tz=zone),
        )
    made.users[LENA].status = LOCKED_USER
    _projects(made)
    _issues(made)
    depot.fill(made)
    return made


@asynccontextmanager
async def running(key_header: str = "X-Service-API-Key", **options: Any) -> AsyncIterator[World]:
    """Runs a reference service with its own data and these options of `Tracker`."""
    made = data()
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
            kind: {"id": number, "identifier": made.projects[number].identifier}
            for number, kind in enumerate(PROJECTS, start=SHOP)
        },
        issues={kind: number for number, kind in enumerate(ISSUES, start=1)},
        bulk=BULK,
        trackers={row.name: row.id for row in made.trackers.values()},
        statuses={row.name: row.id for row in made.statuses.values()},
        priorities={row.name: row.id for row in made.priorities.values()},
        activities={row.name: row.id for row in made.activities.values()},
        categories={row.name: row.id for row in made.categories.values()},
        versions={row.name: row.id for row in made.versions.values() if row.project_id == SHOP},
        custom_fields={row.name: row.id for row in made.custom_fields.values()},
        choices={
            "Tester": {"Ben Okafor": BEN, "Dora Weiss": DORA},
            "Broken since": {"Prototype": PROTOTYPE},
            "Building": {name: number for number, name in enumerate(BUILDINGS, start=1)},
        },
        queries={"late": depot.LATE, "urgent": depot.EVERYWHERE},
        max_upload=MAX_UPLOAD,
    )


def _projects(made: Data) -> None:
    trackers = (defaults.BUG, defaults.FEATURE, defaults.SUPPORT)
    for project in (
        Project(SHOP, "Web Shop", "webshop", "Web Shop, for the tests."),
        Project(SEARCH, "Shop Search", "webshop-search", "Shop Search, for the tests.", parent_id=SHOP),
        Project(VAULT, "Vault", "vault", "Vault, for the tests.", is_public=False),
        Project(MUSEUM, "Museum", "museum", "Museum, for the tests.", status=CLOSED_PROJECT),
        Project(ATTIC, "Attic", "attic", "Attic, for the tests.", status=ARCHIVED_PROJECT),
        Project(LAB, "Lab", "lab", "Lab, for the tests.", modules=frozenset({"issue_tracking"})),
    ):
        project.tracker_ids = trackers
        put(made.projects, project)
        made.join(project, made.users[ANA], defaults.MANAGER)
        made.join(project, made.users[CHRIS], defaults.DEVELOPER if project.is_public else defaults.MANAGER)
        if project.is_public:
            made.join(project, made.users[BEN], defaults.REPORTER)
            made.join(project, made.users[DORA], defaults.DEVELOPER)
    made.projects[LAB].tracker_ids = (defaults.BUG, defaults.FEATURE)
    made.join(made.projects[SHOP], made.users[LENA], defaults.REPORTER)
    made.join(made.projects[LAB], made.users[OLGA], CUSTOMER)
    put(made.versions, Version(PROTOTYPE, "Prototype", LAB))
    for number, name in enumerate(("Checkout", "Catalogue"), start=1):
        put(made.categories, Category(number, name, SHOP))
    for number, name in enumerate(("1.0", "2.0"), start=1):
        put(made.versions, Version(number, name, SHOP))
    severity = CustomField(SEVERITY, "Severity", "list", ("minor", "major", "critical"), required=True)
    severity.is_filter = True
    severity.tracker_ids, severity.project_ids = frozenset({defaults.BUG}), frozenset({SHOP})
    put(made.custom_fields, severity)
    environment = CustomField(ENVIRONMENT, "Environment", is_filter=True, tracker_ids=frozenset(trackers))
    put(made.custom_fields, environment)
    for number, (name, kind, options) in enumerate(LAB_FIELDS, start=ENVIRONMENT + 1):
        field = CustomField(number, name, kind, options, is_filter=True, multiple=name == "Browsers")
        field.tracker_ids, field.project_ids = frozenset(trackers), frozenset({LAB})
        put(made.custom_fields, field)


def _issues(made: Data) -> None:
    now = datetime.now(UTC).replace(microsecond=0)

    def issue(project_id: int, author_id: int, subject: str) -> Issue:
        tracker, status, priority = defaults.FEATURE, defaults.NEW, defaults.NORMAL
        number = len(made.issues) + 1
        return put(
            made.issues,
            Issue(
                number,
                project_id,
                tracker,
                status,
                priority,
                author_id,
                subject,
                created_on=now,
                updated_on=now,
            ),
        )

    parent = issue(SHOP, ANA, "Checkout fails with 100% discount")
    parent.tracker_id, parent.description, parent.assigned_to_id = defaults.BUG, "Steps:\n\n1. Pay", ANA
    parent.category_id, parent.version_id, parent.estimated_hours = 1, 1, 2.5
    parent.custom = {SEVERITY: "major", ENVIRONMENT: "staging"}
    child = issue(SHOP, BEN, "Write down the rounding rule")
    child.parent_id = parent.id
    closed = issue(SHOP, BEN, "Basket forgets its items")
    closed.status_id, closed.tracker_id, closed.closed_on = defaults.CLOSED, defaults.SUPPORT, now
    issue(SHOP, ANA, "Private: refund of a customer").is_private = True
    issue(VAULT, ANA, "Rotate the signing certificate")
    search = issue(SEARCH, BEN, "Search ignores umlauts")
    search.priority_id = defaults.HIGH
    search.start_date, search.due_date = date(2024, 5, 1), date(2024, 5, 31)
    issue(MUSEUM, ANA, "An issue of long ago")
    issue(ATTIC, ANA, "An issue in an archived project")
    issue(LAB, ANA, "The oscilloscope drifts")
    issue(LAB, OLGA, "My sample is late")
    put(made.relations, Relation(1, parent.id, child.id))
    for number in range(1, BULK + 1):
        row = issue(SHOP, BEN, f"Question {number:03} from a customer")
        row.tracker_id, row.created_on = defaults.SUPPORT, now - timedelta(hours=number)
        row.updated_on = row.created_on
