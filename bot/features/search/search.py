"""Searches issues: resolves names to IDs and describes the query it ran."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Literal

from bot.errors import UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.name_matching import pick
from bot.features.projects.catalog import Catalog, Catalogs
from bot.features.projects.projects import Projects
from bot.features.users.people import People, Who
from bot.service.client import Client
from bot.service.filters import DateRange, IssueFilters, Sort, TimeRange, searchable
from bot.service.models import Issue, Page, Project, Ref
from bot.store.channels import Channel
from bot.store.owner import Owner

PAGE = 10


@dataclass(frozen=True, kw_only=True)
class Query:
    """A search with names as the user typed them. None or empty means no filter."""

    text: str = ""
    project: str | None = None
    subproject: tuple[str, ...] | Literal["none"] = ()
    tracker: tuple[str, ...] = ()
    status: Literal["open", "closed", "any"] | tuple[str, ...] | None = None
    to: tuple[Who, ...] | Literal["nobody", "anybody"] = ()
    author: tuple[Who, ...] = ()
    priority: tuple[str, ...] = ()
    category: tuple[str, ...] | Literal["none", "any"] = ()
    version: tuple[str, ...] | Literal["none", "any"] = ()
    parent: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    created: TimeRange | None = None
    updated: TimeRange | None = None
    closed: TimeRange | None = None
    start: DateRange | None = None
    due: DateRange | None = None
    query: int | None = None
    sort: tuple[Sort, ...] = ()
    custom_fields: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Results:
    """One page of results, its offset, and the query in words."""

    page: Page[Issue]
    offset: int
    understood: tuple[str, ...]

    @property
    def total(self) -> int:
        return self.page.total_count


class Search:
    """Finds issues with the caller's key."""

    def __init__(
        self, client: Client, accounts: Accounts, projects: Projects, catalogs: Catalogs, people: People
    ) -> None:
        self._client = client
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs
        self._people = people

    async def find(self, owner: Owner, query: Query, channel: Channel | None, offset: int = 0) -> Results:
        """A page of issues from `offset`.

        Without a project it searches the channel's project, or all projects if the channel has none. Raises
        UserError, NotLinked, ServiceError.
        """
        if query.query is not None and replace(query, project=None, query=None, sort=()) != Query():
            raise UserError(
                "A saved query takes only `project:` and `sort:` beside it: leave out the other filters."
            )
        async with self._accounts.reading(owner) as session:
            filters, understood = await self._resolve(session, query, channel)
            page = await self._client.list_issues(session.key, filters, offset=offset, limit=PAGE)
            return Results(page, offset, understood)

    async def _resolve(
        self, session: Session, query: Query, channel: Channel | None
    ) -> tuple[IssueFilters, tuple[str, ...]]:
        if query.project == "any" or (query.ids and not query.project):
            project = None
        elif query.project:
            project = await self._projects.find(session, query.project)
        else:
            project = await self._projects.default_in(session, channel)
        names = (
            _Names(await self._catalogs.of(session, project.id if project else None))
            if _needs_catalog(query)
            else None
        )
        found: dict[str, Any] = {}
        description: list[str] = []

        def listed(label: str, field: str, kind: str, wanted: Sequence[str] | str) -> None:
            if isinstance(wanted, str):
                found[field] = wanted
                description.append(f"{label}: {wanted}")
            elif wanted and names is not None:
                refs = names.pick(kind, wanted)
                found[field] = tuple(ref.id for ref in refs)
                description.append(f"{label}: {_or(ref.name for ref in refs)}")

        if project is None and query.category:
            raise UserError("A category belongs to a project: add `project:` with its name.")
        if project is None and query.subproject:
            raise UserError("Say whose subprojects you mean: add `project:` with its name.")
        listed("Tracker", "tracker_ids", "tracker", query.tracker)
        if isinstance(query.status, tuple):
            listed("Status", "status", "status", query.status)
        else:
            found["status"] = query.status or ("any" if query.ids else "open")
            description.append(f"Status: {found['status']}")
        listed("Priority", "priority_ids", "priority", query.priority)
        listed("Category", "category_ids", "category", query.category)
        listed("Target version", "fixed_version_ids", "version", query.version)
        await self._resolve_people(session, query, names, found, description)
        if project is not None:
            found["project_id"] = project.id
            description.insert(0, f"Project: {project.name}")
            if query.subproject == "none":
                found["subprojects"] = "none"
                description.append("without subprojects")
            elif query.subproject:
                subprojects = [await self._subproject(session, project, name) for name in query.subproject]
                found["subprojects"] = tuple(p.id for p in subprojects)
                description.append(f"Subproject: {_or(p.name for p in subprojects)}")
        else:
            description.insert(0, "All projects")
        _custom_fields(query, names, found, description)
        return _filters(query, found, description), tuple(description)

    async def _subproject(self, session: Session, project: Project, wanted: str) -> Project:
        """The subproject of `project` with that name. Raises UserError for a project elsewhere."""
        found = await self._projects.find(session, wanted)
        ancestor = found.parent
        while ancestor and ancestor.id != project.id:
            ancestor = (await self._projects.by_id(session, ancestor.id)).parent
        if ancestor is None:
            raise UserError(f"{found.name} isn't a subproject of {project.name}: search there by `project:`.")
        return found

    async def _resolve_people(
        self,
        session: Session,
        query: Query,
        names: "_Names | None",
        found: dict[str, Any],
        description: list[str],
    ) -> None:
        for label, field, wanted in (
            ("Assignee", "assigned_to", query.to),
            ("Author", "author", query.author),
        ):
            if isinstance(wanted, str):
                found[field] = wanted
                description.append(f"{label}: {wanted}")
            elif wanted and names is not None:
                # the service resolves "me", which includes the user's groups when it is the assignee
                refs = [
                    ("me", "me")
                    if who == "me"
                    else _pair(await self._people.find(session, who, names.catalog))
                    for who in wanted
                ]
                found[field] = tuple(number for number, _ in refs)
                description.append(f"{label}: {_or(name for _, name in refs)}")


class _Names:
    """Resolves names to refs within one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def pick(self, kind: str, wanted: Sequence[str]) -> list[Ref]:
        known = {
            "tracker": self.catalog.trackers,
            "status": self.catalog.statuses,
            "priority": self.catalog.priorities,
            "category": self.catalog.categories,
            "version": self.catalog.every_version,
        }[kind]
        return [pick(kind, name, known) for name in wanted]


def _needs_catalog(query: Query) -> bool:
    """Whether the query has names to resolve."""
    names = (
        *(query.tracker, query.priority, query.category, query.version, query.to, query.author),
        query.custom_fields,
    )
    return any(names) or isinstance(query.status, tuple)


def _custom_fields(query: Query, names: _Names | None, found: dict[str, Any], description: list[str]) -> None:
    """Add custom field filters with the values' exact case, since the service is case-sensitive."""
    if names is None or not query.custom_fields:
        return
    known = [(names.catalog.custom_field(number), typed) for number, typed in query.custom_fields]
    found["custom_fields"] = tuple((field.id, field.known(typed)) for field, typed in known)
    description += [f"{field.name}: {field.known(typed)}" for field, typed in known]


def _filters(query: Query, found: dict[str, Any], description: list[str]) -> IssueFilters:
    for label, field, numbers in (
        ("Parent issue", "parent_ids", query.parent),
        ("Issue", "issue_ids", query.ids),
    ):
        if numbers:
            found[field] = numbers
            description.append(f"{label}: {_or(f'#{n}' for n in numbers)}")
    for label, field, span in (
        ("Created", "created_on", query.created),
        ("Updated", "updated_on", query.updated),
        ("Closed", "closed_on", query.closed),
        ("Start date", "start_date", query.start),
        ("Due date", "due_date", query.due),
    ):
        if span is not None:
            found[field] = span
            description.append(f"{label}: {_span(span)}")
    if query.closed is not None and query.status is None:
        found["status"] = "closed"
        description[:] = ["Status: closed" if s == "Status: open" else s for s in description]
    if query.text:
        found["subject"] = searchable(query.text) or query.text
        description.append(f"Subject contains “{found['subject']}”")
    if query.query is not None:
        description[:] = [s for s in description if s.startswith(("Project", "All"))] + [
            f"saved query {query.query}"
        ]
        kept = {"project_id": found["project_id"]} if "project_id" in found else {}
        found = {**kept, "query_id": query.query}
    sort = query.sort or (() if query.query is not None else (Sort("updated_on", descending=True),))
    if query.sort:
        words = (
            f"{s.field.removesuffix('_on').replace('_', ' ')}{' ↓' if s.descending else ' ↑'}" for s in sort
        )
        description.append(f"sorted by {', '.join(words)}")
    elif sort:
        description.append("latest changed first")
    try:
        return IssueFilters(**found, sort=sort)
    except ValueError as error:
        raise UserError(f"That search can't be made: {error}.") from None


def _pair(ref: Ref) -> tuple[int, str]:
    return ref.id, ref.name


def _or(names: Iterable[str]) -> str:
    return " or ".join(names)


def _span(span: TimeRange | DateRange) -> str:
    since, until = (_day(end) for end in (span.since, span.until))
    if since and until:
        return since if since == until else f"{since} to {until}"
    return f"from {since} on" if since else f"until {until}"


def _day(end: date | datetime | None) -> str:
    return "" if end is None else (end.date() if isinstance(end, datetime) else end).isoformat()
