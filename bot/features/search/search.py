"""Searches issues: resolves the names of a query to IDs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bot.errors import UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.name_matching import pick
from bot.features.projects.catalog import Catalog, Catalogs, CustomField
from bot.features.projects.projects import Projects
from bot.features.users.people import People, Who
from bot.service.client import Client
from bot.service.filters import DateRange, IssueFilters, Sort, TimeRange, searchable
from bot.service.models import Issue, Page, Project
from bot.store.channels import Channel
from bot.store.owner import Owner

PAGE = 10
LATEST_FIRST = (Sort("updated_on", descending=True),)
Found = str | Sequence[tuple[int | str, str]]
"""What a filter takes: a keyword, or IDs (or `me`) with their names."""


class SavedQueryNotAlone(UserError):
    """A saved query was combined with filters, which the service would ignore."""


class ProjectNeeded(UserError):
    """A category or a subproject was named without a project."""

    option: Literal["category", "subproject"]


class NotASubproject(UserError):
    """The project that `subproject:` names lies elsewhere."""

    name: str
    project: str


class InvalidFilters(UserError):
    """The service can't apply these filters together."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Query:
    """A search with names as the user typed them. None or empty means no filter."""

    text: str = ""
    project: str | None = None
    subproject: tuple[str, ...] | Literal["none"] = ()
    tracker: tuple[str, ...] = ()
    status: tuple[str, ...] | Literal["open", "closed", "any"] | None = None
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
    custom_fields: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Resolved:
    """A query with its names resolved: its filters, and what their values are called, by filter."""

    query: Query
    project: Project | None
    filters: IssueFilters
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    custom_fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Results:
    """One page of results, its offset, and what was searched for."""

    page: Page[Issue]
    offset: int
    searched: Resolved

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
            raise SavedQueryNotAlone
        async with self._accounts.reading(owner) as session:
            searched = await self._resolve(session, query, channel)
            page = await self._client.list_issues(session.key, searched.filters, offset=offset, limit=PAGE)
            return Results(page, offset, searched)

    async def _resolve(self, session: Session, query: Query, channel: Channel | None) -> Resolved:
        project = await self._project(session, query, channel)
        if query.query is not None:
            return Resolved(query, project, _filters(project, query_id=query.query, sort=query.sort))
        if project is None and query.category:
            raise ProjectNeeded("category")
        if project is None and query.subproject:
            raise ProjectNeeded("subproject")
        found = _keywords(query)
        custom_fields: list[tuple[CustomField, str]] = []
        if _names_choices(query):
            catalog = await self._catalogs.of(session, project.id if project else None)
            found |= _choices(query, catalog)
            for name, people in (("assigned_to", query.to), ("author", query.author)):
                if isinstance(people, tuple) and people:
                    found[name] = [await self._person(session, who, catalog) for who in people]
            for number, typed in query.custom_fields.items():
                field = catalog.custom_field(number)
                custom_fields.append((field, field.known(typed)))  # the service is case-sensitive
        if project and isinstance(query.subproject, tuple) and query.subproject:
            named = [await self._subproject(session, project, name) for name in query.subproject]
            found["subprojects"] = [(one.id, one.name) for one in named]
        filters = _filters(
            project,
            **{name: wanted if isinstance(wanted, str) else _first(wanted) for name, wanted in found.items()},
            issue_ids=query.ids,
            parent_ids=query.parent,
            subject=searchable(query.text) or query.text,
            created_on=query.created,
            updated_on=query.updated,
            closed_on=query.closed,
            start_date=query.start,
            due_date=query.due,
            custom_fields=tuple((field.id, value) for field, value in custom_fields),
            sort=query.sort or LATEST_FIRST,
        )
        names = {
            name: (wanted,) if isinstance(wanted, str) else tuple(called for _, called in wanted)
            for name, wanted in found.items()
        }
        return Resolved(
            query, project, filters, names, tuple((field.name, value) for field, value in custom_fields)
        )

    async def _project(self, session: Session, query: Query, channel: Channel | None) -> Project | None:
        if query.project == "any" or (query.ids and not query.project):
            return None
        if query.project:
            return await self._projects.find(session, query.project)
        return await self._projects.default_in(session, channel)

    async def _person(self, session: Session, who: Who, catalog: Catalog) -> tuple[int | str, str]:
        if who == "me":  # the service resolves it, which includes the user's groups when it is the assignee
            return "me", "me"
        found = await self._people.find(session, who, catalog)
        return found.id, found.name

    async def _subproject(self, session: Session, project: Project, wanted: str) -> Project:
        """The subproject of `project` with that name. Raises NotASubproject for a project elsewhere."""
        found = await self._projects.find(session, wanted)
        ancestor = found.parent
        while ancestor and ancestor.id != project.id:
            ancestor = (await self._projects.by_id(session, ancestor.id)).parent
        if ancestor is None:
            raise NotASubproject(found.name, project.name)
        return found


def _keywords(query: Query) -> dict[str, Found]:
    """The filters whose value is a keyword, such as `open` or `nobody`."""
    default = "closed" if query.closed else "any" if query.ids else "open"
    wanted = {
        "status": query.status or default,
        "category_ids": query.category,
        "fixed_version_ids": query.version,
        "assigned_to": query.to,
        "subprojects": query.subproject,
    }
    return {name: keyword for name, keyword in wanted.items() if isinstance(keyword, str)}


def _names_choices(query: Query) -> bool:
    """Whether the query has names that only a project's catalog can resolve."""
    wanted = (
        *(query.tracker, query.status, query.priority, query.category, query.version),
        *(query.to, query.author),
    )
    return bool(query.custom_fields) or any(isinstance(names, tuple) and names for names in wanted)


def _choices(query: Query, catalog: Catalog) -> dict[str, Found]:
    """The filters whose values are choices of the project. Raises UnknownName, AmbiguousName."""
    wanted = (
        ("tracker_ids", "tracker", query.tracker, catalog.trackers),
        ("status", "status", query.status, catalog.statuses),
        ("priority_ids", "priority", query.priority, catalog.priorities),
        ("category_ids", "category", query.category, catalog.categories),
        ("fixed_version_ids", "version", query.version, catalog.every_version),
    )
    return {
        name: [(ref.id, ref.name) for ref in (pick(kind, one, known) for one in typed)]
        for name, kind, typed, known in wanted
        if isinstance(typed, tuple) and typed
    }


def _filters(project: Project | None, **values: Any) -> IssueFilters:  # noqa: ANN401 - IssueFilters checks them
    try:
        return IssueFilters(project_id=project.id if project else None, **values)
    except ValueError as error:
        raise InvalidFilters(str(error)) from None


def _first(pairs: Sequence[tuple[int | str, str]]) -> tuple[int | str, ...]:
    return tuple(first for first, _ in pairs)
