"""Searching issues: names become ids, and the query is said back as it was understood."""

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
    """A search as a person asks for it: names as typed, None or empty where they said nothing."""

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
    """One page of a search: the issues, where they stand in the whole, and the query in words."""

    page: Page[Issue]
    offset: int
    understood: tuple[str, ...]

    @property
    def total(self) -> int:
        """How many issues the whole search found."""
        return self.page.total_count


class Search:
    """Finds issues with the key of whoever asks."""

    def __init__(
        self, client: Client, accounts: Accounts, projects: Projects, catalogs: Catalogs, people: People
    ) -> None:
        self._client = client
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs
        self._people = people

    async def find(self, owner: Owner, query: Query, channel: Channel | None, offset: int = 0) -> Results:
        """Ten issues from `offset` on. Without a project the search is over all that the person sees, or over
        the channel's project if it has one. Raises UserError, NotLinked, ServiceError.
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
            if _named(query)
            else None
        )
        found: dict[str, Any] = {}
        said: list[str] = []

        def listed(label: str, field: str, kind: str, wanted: Sequence[str] | str) -> None:
            if isinstance(wanted, str):
                found[field] = wanted
                said.append(f"{label}: {wanted}")
            elif wanted and names is not None:
                refs = names.pick(kind, wanted)
                found[field] = tuple(ref.id for ref in refs)
                said.append(f"{label}: {_or(ref.name for ref in refs)}")

        if project is None and query.category:
            raise UserError("A category belongs to a project: add `project:` with its name.")
        if project is None and query.subproject:
            raise UserError("Say whose subprojects you mean: add `project:` with its name.")
        listed("Tracker", "tracker_ids", "tracker", query.tracker)
        if isinstance(query.status, tuple):
            listed("Status", "status", "status", query.status)
        else:
            found["status"] = query.status or ("any" if query.ids else "open")
            said.append(f"Status: {found['status']}")
        listed("Priority", "priority_ids", "priority", query.priority)
        listed("Category", "category_ids", "category", query.category)
        listed("Target version", "fixed_version_ids", "version", query.version)
        await self._people_of(session, query, names, found, said)
        if project is not None:
            found["project_id"] = project.id
            said.insert(0, f"Project: {project.name}")
            if query.subproject == "none":
                found["subprojects"] = "none"
                said.append("without subprojects")
            elif query.subproject:
                subprojects = [await self._subproject(session, project, name) for name in query.subproject]
                found["subprojects"] = tuple(p.id for p in subprojects)
                said.append(f"Subproject: {_or(p.name for p in subprojects)}")
        else:
            said.insert(0, "All projects")
        _custom_fields(query, names, found, said)
        return _filters(query, found, said), tuple(said)

    async def _subproject(self, session: Session, project: Project, wanted: str) -> Project:
        """The project of that name below `project`: another one's issues would be missed or mixed in."""
        found = await self._projects.find(session, wanted)
        above = found.parent
        while above and above.id != project.id:
            above = (await self._projects.by_id(session, above.id)).parent
        if above is None:
            raise UserError(f"{found.name} isn't a subproject of {project.name}: search there by `project:`.")
        return found

    async def _people_of(
        self, session: Session, query: Query, names: "_Names | None", found: dict[str, Any], said: list[str]
    ) -> None:
        for label, field, wanted in (
            ("Assignee", "assigned_to", query.to),
            ("Author", "author", query.author),
        ):
            if isinstance(wanted, str):
                found[field] = wanted
                said.append(f"{label}: {wanted}")
            elif wanted and names is not None:
                # "me" is left to the service: as an assignee it means the person's groups too
                refs = [
                    ("me", "me")
                    if who == "me"
                    else _pair(await self._people.find(session, who, names.catalog))
                    for who in wanted
                ]
                found[field] = tuple(number for number, _ in refs)
                said.append(f"{label}: {_or(name for _, name in refs)}")


class _Names:
    """Names of one project, or of all, turned into refs."""

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


def _named(query: Query) -> bool:
    """Whether anything has to be looked up at all."""
    looked_up = (
        *(query.tracker, query.priority, query.category, query.version, query.to, query.author),
        query.custom_fields,
    )
    return any(looked_up) or isinstance(query.status, tuple)


def _custom_fields(query: Query, names: _Names | None, found: dict[str, Any], said: list[str]) -> None:
    """Values as the service has them: it tells upper case from lower."""
    if names is None or not query.custom_fields:
        return
    known = [(names.catalog.custom_field(number), typed) for number, typed in query.custom_fields]
    found["custom_fields"] = tuple((field.id, field.known(typed)) for field, typed in known)
    said += [f"{field.name}: {field.known(typed)}" for field, typed in known]


def _filters(query: Query, found: dict[str, Any], said: list[str]) -> IssueFilters:
    for label, field, numbers in (
        ("Parent issue", "parent_ids", query.parent),
        ("Issue", "issue_ids", query.ids),
    ):
        if numbers:
            found[field] = numbers
            said.append(f"{label}: {_or(f'#{n}' for n in numbers)}")
    for label, field, span in (
        ("Created", "created_on", query.created),
        ("Updated", "updated_on", query.updated),
        ("Closed", "closed_on", query.closed),
        ("Start date", "start_date", query.start),
        ("Due date", "due_date", query.due),
    ):
        if span is not None:
            found[field] = span
            said.append(f"{label}: {_span(span)}")
    if query.closed is not None and query.status is None:
        found["status"] = "closed"
        said[:] = ["Status: closed" if s == "Status: open" else s for s in said]
    if query.text:
        found["subject"] = searchable(query.text) or query.text
        said.append(f"Subject contains “{found['subject']}”")
    if query.query is not None:
        said[:] = [s for s in said if s.startswith(("Project", "All"))] + [f"saved query {query.query}"]
        kept = {"project_id": found["project_id"]} if "project_id" in found else {}
        found = {**kept, "query_id": query.query}
    sort = query.sort or (() if query.query is not None else (Sort("updated_on", descending=True),))
    if query.sort:
        words = (
            f"{s.field.removesuffix('_on').replace('_', ' ')}{' ↓' if s.descending else ' ↑'}" for s in sort
        )
        said.append(f"sorted by {', '.join(words)}")
    elif sort:
        said.append("latest changed first")
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
