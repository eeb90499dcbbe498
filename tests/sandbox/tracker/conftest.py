"""A small data set behind real HTTP: three members, an administrator, a locked user, six projects."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import (
    CLOSED_PROJECT,
    LOCKED_USER,
    Category,
    CustomField,
    Data,
    Group,
    Issue,
    Project,
    SavedQuery,
    User,
    Version,
    put,
)
from bot.sandbox.tracker.server import Tracker

NOW = datetime(2026, 3, 10, 23, 30, tzinfo=UTC)  # already the 11th in Madrid
ANA, BEN, CHRIS, MIA, LEO, SUPPORTERS = 1, 2, 3, 4, 5, 9
SHOP, SHOP_APP, VAULT, ATTIC, WIKI = 1, 2, 3, 4, 5
EVERY_TRACKER = (defaults.BUG, defaults.FEATURE, defaults.SUPPORT)


@dataclass
class Answer:
    """An HTTP response."""

    status: int
    body: Any
    headers: dict[str, str]
    text: str

    @property
    def errors(self) -> list[str]:
        """The error messages of a 422."""
        assert self.status == 422, self.text
        return list(self.body["errors"])


@dataclass
class Api:
    """A running service; calls are made as a user by login, None for anonymous."""

    tracker: Tracker
    session: aiohttp.ClientSession
    header: str = "X-Service-API-Key"
    data: Data = field(init=False)

    def __post_init__(self) -> None:
        self.data = self.tracker.data

    async def __call__(self, method: str, path: str, who: str | None = "ana", /, **options: Any) -> Answer:
        """Send a request with the user's API key."""
        headers = dict(options.pop("headers", {}))
        if who is not None:
            headers[self.header] = f"key-of-{who}"
        url = self.tracker.url + path
        async with self.session.request(method, url, headers=headers, **options) as response:
            text = await response.text(errors="replace")
            body = await response.json() if text.startswith("{") else None
            return Answer(response.status, body, dict(response.headers), text)

    async def get(self, path: str, who: str | None = "ana", /, **params: str | int) -> Answer:
        return await self("GET", path, who, params=params)

    async def create(self, kind: str, who: str | None = "ana", /, **fields: object) -> Answer:
        """Create a resource at its kind's path."""
        paths = {"time_entry": "/time_entries.json"}
        return await self("POST", paths.get(kind, f"/{kind}s.json"), who, json={kind: fields})

    async def found(self, who: str | None = "ana", /, **params: str | int) -> list[int]:
        """Return the IDs of the listed issues, in order."""
        answer = await self.get("/issues.json", who, **params)
        assert answer.status == 200, answer.text
        return [i["id"] for i in answer.body["issues"]]

    async def upload(self, content: bytes = b"hello", who: str | None = "ana", /, **params: str) -> Answer:
        headers = {"Content-Type": "application/octet-stream"}
        return await self("POST", "/uploads.json", who, data=content, params=params, headers=headers)


Starter = Callable[..., Awaitable[Api]]


def _project(data: Data, number: int, name: str) -> Project:
    identifier = name.lower().replace(" ", "-")
    return put(data.projects, Project(number, name, identifier=identifier, tracker_ids=EVERY_TRACKER))


@pytest.fixture
def data() -> Data:
    made = defaults.fresh()
    for number, login in enumerate(("ana", "ben", "chris", "mia", "leo"), 1):
        put(made.users, User(number, login, login.title(), "Test", f"{login}@x.example", f"key-of-{login}"))
    made.users[ANA].tz = "Europe/Madrid"
    made.users[CHRIS].admin = True
    made.users[LEO].status = LOCKED_USER
    put(made.groups, Group(SUPPORTERS, "Supporters", {ANA, MIA}))
    shop, app = _project(made, SHOP, "Shop"), _project(made, SHOP_APP, "Shop App")
    vault, attic = _project(made, VAULT, "Vault"), _project(made, ATTIC, "Attic")
    wiki = _project(made, WIKI, "Wiki")
    app.parent_id, vault.is_public, attic.status = SHOP, False, CLOSED_PROJECT
    wiki.modules = frozenset({"issue_tracking"})
    for project in (shop, vault, attic, wiki):
        made.join(project, made.users[ANA], defaults.DEVELOPER)
    made.join(shop, made.users[BEN], defaults.REPORTER)
    made.join(shop, made.users[MIA], defaults.MANAGER)
    put(made.categories, Category(1, "Checkout", SHOP))
    put(made.categories, Category(2, "Payments", SHOP, assigned_to_id=MIA))
    put(made.versions, Version(1, "1.0", SHOP))
    put(made.versions, Version(2, "0.9", SHOP, is_open=False))
    made.custom_fields = {
        1: CustomField(
            1,
            "Severity",
            "list",
            ("Minor", "Major"),
            required=True,
            is_filter=True,
            tracker_ids=frozenset({defaults.BUG}),
            project_ids=frozenset({SHOP_APP}),
        ),
        2: CustomField(2, "Customer", is_filter=True, tracker_ids=frozenset(EVERY_TRACKER)),
        3: CustomField(3, "Room", tracker_ids=frozenset(EVERY_TRACKER)),
    }
    put(made.queries, SavedQuery(7, "Urgent", {"priority_id": "4"}))
    return made


@pytest.fixture
def issue(data: Data) -> Callable[..., Issue]:
    """Add an issue to the service: `issue("subject", project_id=…)`."""

    def add(subject: str = "Something", **fields: object) -> Issue:
        row = Issue(
            id=len(data.issues) + 1,
            project_id=SHOP,
            tracker_id=defaults.BUG,
            status_id=defaults.NEW,
            priority_id=defaults.NORMAL,
            author_id=MIA,
            subject=subject,
            created_on=NOW,
            updated_on=NOW,
        )
        for name, value in fields.items():
            setattr(row, name, value)
        return put(data.issues, row)

    return add


@pytest_asyncio.fixture
async def start(data: Data) -> AsyncIterator[Starter]:
    """Start the service with custom settings."""
    async with AsyncExitStack() as stack:

        async def run(**settings: Any) -> Api:
            tracker = Tracker(data, clock=lambda: NOW, **settings)
            await tracker.start()
            stack.push_async_callback(tracker.stop)
            session = await stack.enter_async_context(aiohttp.ClientSession())
            return Api(tracker, session, settings.get("key_header", "X-Service-API-Key"))

        yield run


@pytest_asyncio.fixture
async def api(start: Starter) -> Api:
    """The service with default settings."""
    return await start()


@pytest.fixture
def board(issue: Callable[..., Issue]) -> None:
    """Ten issues that differ in everything the list can filter or sort by."""
    long_ago = datetime(2026, 3, 5, 9, tzinfo=UTC)
    issue("Printer on fire", priority_id=defaults.URGENT, assigned_to_id=ANA, category_id=1, version_id=1)
    issue("Printer out of paper", tracker_id=defaults.FEATURE, assigned_to_id=BEN, author_id=ANA)
    issue("Cart | basket", assigned_to_id=SUPPORTERS, category_id=2, start_date=date(2026, 3, 1))
    issue("Done long ago", status_id=defaults.CLOSED, closed_on=long_ago, updated_on=long_ago)
    issue("Below the first", parent_id=1, due_date=date(2026, 3, 20), custom={2: "K-17"})
    issue("Below the fifth", parent_id=5, status_id=defaults.IN_PROGRESS)
    issue("In the app", project_id=SHOP_APP, custom={1: "Major"}, priority_id=defaults.LOW)
    issue("In the vault", project_id=VAULT)
    issue("In the attic", project_id=ATTIC)
    issue("Late on the tenth", created_on=datetime(2026, 3, 9, 23, 30, tzinfo=UTC))
