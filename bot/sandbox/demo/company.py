"""Harbor's users, projects and settings."""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.sandbox.people import ANA, BEN, CHRIS, DANA, EMIL, FARAH, PEOPLE, Person
from bot.sandbox.tracker.data import (
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
from bot.sandbox.tracker.defaults import (
    BUG,
    DEVELOPER,
    FEATURE,
    MANAGER,
    REPORTER,
    SUPPORT,
    TASK,
    fresh,
)

WEBSHOP, MOBILE, INFRASTRUCTURE, SECURITY, OLD_SHOP = 1, 2, 3, 4, 5
SEVERITY, CUSTOMER, BROWSERS = 1, 2, 3
SEVERITIES = ("Cosmetic", "Minor", "Major", "Critical")
BROWSER_NAMES = ("Chrome", "Firefox", "Safari", "Edge")

_PROJECTS = (
    Project(
        WEBSHOP,
        "Web Shop",
        identifier="webshop",
        description="The shop that our customers see: catalogue, search, cart and checkout.",
        homepage="https://shop.harbor.example",
        tracker_ids=(BUG, FEATURE, SUPPORT, TASK),
    ),
    Project(
        MOBILE,
        "Mobile App",
        identifier="mobile",
        description="The shop as an app for phones and tablets.",
        tracker_ids=(BUG, FEATURE, SUPPORT, TASK),
    ),
    Project(
        INFRASTRUCTURE,
        "Infrastructure",
        identifier="infrastructure",
        description="Servers, deployments, monitoring and backups.",
        tracker_ids=(BUG, TASK),
    ),
    Project(
        SECURITY,
        "Security",
        identifier="security",
        description="Findings and their repair. Visible to its members only.",
        tracker_ids=(BUG, TASK),
        parent_id=INFRASTRUCTURE,
        is_public=False,
    ),
    Project(
        OLD_SHOP,
        "Old Shop",
        identifier="old-shop",
        description="The shop that the Web Shop replaced; closed, kept for reading.",
        tracker_ids=(BUG, SUPPORT),
        status=CLOSED_PROJECT,
    ),
)
_CATEGORIES = {
    WEBSHOP: ("Checkout", "Catalogue", "Search", "Accounts", "Payments"),
    MOBILE: ("Sign-in", "Browsing", "Notifications", "Offline"),
    INFRASTRUCTURE: ("Deployment", "Monitoring", "Database", "Network"),
    SECURITY: ("Findings", "Hardening"),
    OLD_SHOP: ("Orders", "Templates"),
}
_VERSIONS = {  # name, and days from now until it is due
    WEBSHOP: (("2.8", -95), ("2.9", -30), ("3.0", 24), ("3.1", 88)),
    MOBILE: (("5.1", -60), ("5.2", -4), ("5.3", 45)),
    INFRASTRUCTURE: (("Autumn move", -40), ("Winter move", 60)),
}
_MEMBERS: dict[int, tuple[tuple[Person, int], ...]] = {
    WEBSHOP: ((DANA, MANAGER), (ANA, DEVELOPER), (FARAH, DEVELOPER), (BEN, REPORTER), (EMIL, REPORTER)),
    MOBILE: ((DANA, MANAGER), (EMIL, DEVELOPER), (ANA, DEVELOPER), (FARAH, DEVELOPER)),
    INFRASTRUCTURE: ((CHRIS, MANAGER), (ANA, DEVELOPER), (EMIL, REPORTER)),
    SECURITY: ((CHRIS, MANAGER), (ANA, DEVELOPER)),
    OLD_SHOP: ((DANA, MANAGER), (ANA, DEVELOPER), (BEN, REPORTER)),
}
_GROUP_ID = 20


def company(now: datetime) -> Data:
    """Return users with API keys, projects with members and versions, custom fields and saved queries."""
    data = fresh()
    for number, person in enumerate(PEOPLE, 1):
        put(data.users, _user(number, person, now))
    put(data.groups, Group(_GROUP_ID, "Support team", {user_of(data, BEN).id, user_of(data, FARAH).id}))
    for number, project in enumerate(_PROJECTS):
        created = now - timedelta(days=400 - 20 * number)
        row = put(data.projects, replace(project, created_on=created, updated_on=created))
        _parts(data, row, now)
        for person, role in _MEMBERS[row.id]:
            data.join(row, user_of(data, person), role)
    _custom_fields(data)
    put(data.queries, SavedQuery(1, "Urgent and open", {"priority_id": "4|5", "sort": "priority:desc"}))
    put(
        data.queries,
        SavedQuery(2, "Waiting for an answer", {"status_id": "4", "sort": "updated_on"}, WEBSHOP),
    )
    return data


def user_of(data: Data, person: Person) -> User:
    """Return the person's account."""
    return next(u for u in data.users.values() if u.login == person.login)


def _user(number: int, person: Person, now: datetime) -> User:
    return User(
        id=number,
        login=person.login,
        firstname=person.firstname,
        lastname=person.lastname,
        mail=person.mail,
        api_key=person.api_key,
        admin=person.admin,
        tz=person.tz,
        created_on=now - timedelta(days=420 - number),
        updated_on=now - timedelta(days=30 + number),
        last_login_on=now - timedelta(hours=3 * number),
        passwd_changed_on=now - timedelta(days=200 - number),
    )


def _parts(data: Data, project: Project, now: datetime) -> None:
    for name in _CATEGORIES[project.id]:
        put(data.categories, Category(free_id(data.categories), name, project.id))
    for name, days in _VERSIONS.get(project.id, ()):
        due = (now + timedelta(days=days)).date()
        put(data.versions, Version(free_id(data.versions), name, project.id, due, is_open=days > 0))


def _custom_fields(data: Data) -> None:
    put(
        data.custom_fields,
        CustomField(
            SEVERITY,
            "Severity",
            format="list",
            options=SEVERITIES,
            required=True,
            is_filter=True,
            tracker_ids=frozenset({BUG}),
            project_ids=frozenset({MOBILE}),
        ),
    )
    put(
        data.custom_fields,
        CustomField(CUSTOMER, "Customer reference", is_filter=True, tracker_ids=frozenset({BUG, SUPPORT})),
    )
    put(
        data.custom_fields,
        CustomField(
            BROWSERS,
            "Browsers",
            format="list",
            options=BROWSER_NAMES,
            multiple=True,
            tracker_ids=frozenset({BUG}),
            project_ids=frozenset({WEBSHOP}),
        ),
    )
