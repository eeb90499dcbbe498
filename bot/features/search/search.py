"""The results of a search: resolves names to IDs, and looks for changes that find more."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import Catalog, Part
from bot.access.name_matching import NameIndex
from bot.access.people import Who
from bot.access.projects import KnownProject
from bot.errors import ServiceError, UserError
from bot.features.issues.fields import FILTERS_BY_NAME
from bot.features.search.query import Change, LeaveOut, Query, Respell, SearchField, changed, signed
from bot.service.filters import Except, IssueFilters, Sort, searchable
from bot.service.models import Issue, IssueStatus, Page, Ref
from bot.spelling import slip
from bot.store.channels import Channel
from bot.store.owner import Owner

SUBJECTS_READ = 100
NAME_FILTERS: Mapping[str, tuple[str, Part]] = {
    one.name: (option, one.part) for option, one in FILTERS_BY_NAME.items() if one.part != "people"
}
"""The filters with names of the catalog: what `Query` calls them, and their choices in `Catalog`."""
ME: tuple[int | str, str] = ("me", "me")  # the service resolves it, for assignees with the user's groups
PERSON: tuple[str, Part] = ("person", "people")
PEOPLE = tuple(one.name for one in FILTERS_BY_NAME.values() if one.part == "people")
COMPLETE = ("tracker_ids", "status", "priority_ids")  # what every issue has
LEFT_OUT = "!"  # before a name that is left out
LATEST_FIRST = (Sort("updated_on", descending=True),)
LEAST_MISSPELLED = 5  # how many letters a word has that may be misspelled
MAX_DROPS = 3  # how many phrases, and how many words, are tried to be left out
REFERENCE = re.compile("(?=.*[0-9]).{2,15}")  # shorter than an API key
MAX_FIELDS, MAX_PROJECTS = 3, 10  # how many custom fields, and projects with a category, are tried


class SeveralProjects(UserError):
    """The projects were named by these phrases, if any."""

    says = "I can search one project, or all of them with `project:any`."
    projects: tuple[str, ...]
    phrases: tuple[str, ...]


class CategoryWithoutProject(UserError):
    """A category was named, but none of the `projects` that have it."""

    says = "Every project has its own categories. Add `project:` with the project's name."
    projects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resolved:
    """A query with its names resolved: its filters, and the names of their values, by filter.

    `me` is the ID of the user that `me` stands for.
    """

    query: Query
    project: KnownProject | None
    filters: IssueFilters
    me: int
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    custom_fields: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Results:
    """One page of results, its offset, what was searched for by whom, and changes that would find more."""

    page: Page[Issue]
    offset: int
    searched: Resolved
    me: int
    offers: tuple[Change, ...] = ()


class Search:
    def __init__(self, access: Access) -> None:
        self.client, self.accounts = access.client, access.accounts
        self.projects, self.catalogs, self.people = access.projects, access.catalogs, access.people

    async def find(self, owner: Owner, query: Query, channel: Channel | None, offset: int = 0) -> Results:
        """A page of issues; by default of the channel's project, or of all projects if it has none."""
        if query.query is not None and replace(query, project=None, query=None, sort=()) != Query():
            raise UserError(
                "A saved query can only be combined with `project:` and `sort:`. Remove the other filters."
            )
        async with self.accounts.reading(owner) as session:
            try:
                searched = await self._resolve(session, query, channel)
            except CategoryWithoutProject:
                raise CategoryWithoutProject(await self._having(session, query.category)) from None
            page = await self.client.list_issues(
                session.key, searched.filters, offset=offset, limit=query.most
            )
            wider = () if page.items or offset else await self._wider(session, searched, channel)
            reported: tuple[Change, ...] = ("reported",) if query.alone and not offset else ()
            words: tuple[Change, ...] = ("words",) if query.phrases and not offset else ()
            return Results(page, offset, searched, session.user_id, (*wider, *reported, *words))

    async def _wider(
        self, session: Session, searched: Resolved, channel: Channel | None
    ) -> tuple[Change, ...]:
        """The changes after which the search finds something, asked beside each other."""
        filters = searched.filters
        if filters.query_id is not None:
            return ()
        changes: list[Change] = [LeaveOut(phrase) for phrase, _ in searched.query.phrases[:MAX_DROPS]]
        typed, others = searched.query.text.split(), replace(searched.query, text="") != Query()
        if typed[1:] or others or searched.query.text != searched.query.everything:
            changes += map(LeaveOut, typed[:MAX_DROPS])
        changes += await self._fields(session, filters, typed)
        if filters.status == "open":
            changes.append("closed")
        changes += ["projects", "filters"]

        async def filters_of(change: Change) -> IssueFilters | None:
            with suppress(ServiceError, UserError):  # other projects may lack a name
                return (await self._resolve(session, changed(searched.query, change), channel)).filters
            return None

        async def finds(wider: IssueFilters | None) -> bool:
            with suppress(ServiceError):
                if wider and wider != filters:
                    return bool((await self.client.list_issues(session.key, wider, limit=1)).items)
            return False

        # All are resolved before any is sent, so that one check of the key covers them.
        wider = await asyncio.gather(*map(filters_of, changes))
        looking = self._nearest(session, filters, typed)
        near, matches = await asyncio.gather(looking, asyncio.gather(*map(finds, wider)))
        return (*near, *(change for change, some in zip(changes, matches, strict=True) if some))

    async def _fields(
        self, session: Session, filters: IssueFilters, typed: Sequence[str]
    ) -> list[SearchField]:
        """Changes that look for a text like `K-20417` in the custom fields that may have it."""
        if len(typed) != 1 or not REFERENCE.fullmatch(typed[0]):
            return []
        with suppress(ServiceError):
            catalog = await self.catalogs.of(session, filters.project_id, ["custom_fields"])
            fields = [one for one in catalog.custom_fields if not one.is_list]
            return [SearchField(one.id, one.name, typed[0]) for one in fields[:MAX_FIELDS]]
        return []

    async def _nearest(self, session: Session, filters: IssueFilters, typed: Sequence[str]) -> list[Respell]:
        """Changes from misspelled words to those that the latest issues have in their subjects."""
        if not typed:
            return []
        here = IssueFilters(project_id=filters.project_id, status="any", sort=LATEST_FIRST)
        with suppress(ServiceError):
            latest = (await self.client.list_issues(session.key, here, limit=SUBJECTS_READ)).items
            known = set(re.findall(r"\w{5,}", "\n".join(issue.subject for issue in latest).casefold()))
            near = (
                (word, slip(word.casefold(), known))
                for word in typed[:MAX_DROPS]
                if len(word) >= LEAST_MISSPELLED
            )
            return [Respell(word, meant) for word, meant in near if meant]
        return []

    async def _resolve(self, session: Session, query: Query, channel: Channel | None) -> Resolved:
        status = "any" if query.ids else "open"
        requested: dict[str, Sequence[Who] | str] = {
            **{name: getattr(query, option) for name, (option, _) in NAME_FILTERS.items()},
            "status": query.status or ("closed" if query.closed else status),
            "assigned_to": query.to,
            "author": query.author,
            "subprojects": query.subproject,
        }

        named = [
            part for name, (_, part) in NAME_FILTERS.items() if not isinstance(requested[name] or "", str)
        ]
        beside = [self.catalogs.prefetch(session, named)] if named else []
        project, *_ = await asyncio.gather(self._project(session, query, channel), *beside)

        if query.query is not None:
            filters = _filters(project, query_id=query.query, sort=query.sort)
            return Resolved(query, project, filters, session.user_id)
        if project is None and (query.category or query.subproject):
            if query.category:
                raise CategoryWithoutProject
            raise UserError("Add `project:` with the parent project's name.")

        keywords = {name: typed for name, typed in requested.items() if isinstance(typed, str) and typed}
        project_id = project.id if project else None
        lists = {name: typed for name, typed in requested.items() if typed and not isinstance(typed, str)}
        parts = {
            NAME_FILTERS.get(name, PERSON)[1] for name, typed in lists.items() if _looked_up(name, typed)
        }
        catalog = await self.catalogs.of(session, project_id, parts)
        choices = {name: await self._chosen(session, project, catalog, name, lists[name]) for name in lists}
        custom_fields = await self.catalogs.field_values(session, project_id, query.custom_fields)

        filters = _filters(
            project,
            **keywords,
            **{name: choice for name, (choice, _) in choices.items()},
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

        names: dict[str, tuple[str, ...]] = {name: (typed,) for name, typed in keywords.items()}
        names |= {name: called for name, (_, called) in choices.items()}
        custom = [(one.name, value) for one, value in custom_fields]
        return Resolved(query, project, filters, session.user_id, names, custom)

    async def _project(self, session: Session, query: Query, channel: Channel | None) -> KnownProject | None:
        if query.project == "any" or (query.ids and not query.project):
            return None
        if query.project:
            return await self.projects.find(session, query.project)
        return await self.projects.default_in(session, channel)

    async def _having(self, session: Session, category: Sequence[str]) -> tuple[str, ...]:
        """The first few projects that have one of these categories."""
        typed = [] if isinstance(category, str) else [one.lstrip(LEFT_OUT).casefold() for one in category]

        async def has(project: KnownProject) -> bool:
            with suppress(ServiceError):  # the question which project matters more
                catalog = await self.catalogs.of(session, project.id, ["categories"])
                names = "\n".join(ref.name.casefold() for ref in catalog.lists["categories"])
                return any(one in names for one in typed)
            return False

        projects = (await self.projects.visible(session))[:MAX_PROJECTS] if typed else ()
        having = await asyncio.gather(*map(has, projects))
        return tuple(project.name for project, some in zip(projects, having, strict=True) if some)

    async def _chosen(
        self,
        session: Session,
        project: KnownProject | None,
        catalog: Catalog,
        name: str,
        typed: Sequence[Who],
    ) -> tuple[tuple[int | str, ...] | Except, tuple[str, ...]]:
        """Return the values of the filter `name` without those that begin with `!`, and their names.

        Of what every issue has, the other values stand for those left out; of statuses, the open ones.
        """
        out = [str(one)[1:] for one in typed if str(one).startswith(LEFT_OUT)]
        kept = await self._found(
            session, project, catalog, name, [one for one in typed if not str(one).startswith(LEFT_OUT)]
        )
        left_out = await self._found(session, project, catalog, name, out) if out else []
        if left_out and not kept and name not in COMPLETE:
            return Except(tuple(number for number, _ in left_out)), (
                f"not {' or '.join(called for _, called in left_out)}",
            )

        if left_out and not kept:
            others = catalog.lists[NAME_FILTERS[name][1]]
            kept = [
                (ref.id, ref.name) for ref in others if not (isinstance(ref, IssueStatus) and ref.is_closed)
            ]
        kept = [one for one in kept if one not in left_out]
        if not kept:
            raise UserError("That excludes everything. Remove one of the values you excluded.")
        return tuple(number for number, _ in kept), tuple(called for _, called in kept)

    async def _found(
        self,
        session: Session,
        project: KnownProject | None,
        catalog: Catalog,
        name: str,
        typed: Sequence[Who],
    ) -> list[tuple[int | str, str]]:
        """Return the values of the filter `name`: the ID and the name of each."""
        if name == "subprojects" and project:
            within = [await self._subproject(session, project, str(one)) for one in typed]
            return [(subproject.id, subproject.name) for subproject in within]
        if not _looked_up(name, typed):
            return [ME]

        people, (kind, part) = name in PEOPLE, NAME_FILTERS.get(name, PERSON)
        known, choices = NameIndex(kind, catalog.lists[part]), list[tuple[int | str, str]]()
        for one in typed:
            if people and one == "me":
                choices.append(ME)
            elif people:
                choices.append(_value(await self.people.find(session, one, known)))
            elif kind == "priority":
                choices += map(_value, _compared(str(one), known, catalog.lists[part]))
            else:
                choices.append(_value(known.pick(str(one))))
        return choices

    async def _subproject(self, session: Session, project: KnownProject, name: str) -> KnownProject:
        """The subproject of `project` with that name. Raises UserError for a project elsewhere."""
        await asyncio.sleep(0)  # finding one of many projects takes a while, and there may be many to find
        subproject = await self.projects.find(session, name)
        ancestor = subproject.parent
        while ancestor and ancestor.id != project.id:
            ancestor = (await self.projects.by_id(session, ancestor.id)).parent
        if ancestor is None:
            raise UserError(
                '{name} isn\'t a subproject of {project}. To search it, use `project:"{name}"`.',
                name=subproject.name,
                project=project.name,
            )
        return subproject


def _value(ref: Ref) -> tuple[int | str, str]:
    return ref.id, ref.name


def _compared(typed: str, known: NameIndex, ordered: Sequence[Ref]) -> list[Ref]:
    """The priorities that `>=high` stands for, in the service's order, from the lowest to the highest."""
    sign, called = signed(typed)
    ref = known.pick(called)
    at = next((n for n, one in enumerate(ordered) if one.id == ref.id), len(ordered))
    sides = {"<": ordered[:at], ">": ordered[at + 1 :]}
    return [ref] * (sign in ("", ">=", "<=")) + [*sides.get(sign[:1], ())]


def _looked_up(name: str, typed: Sequence[Who]) -> bool:
    """Whether values of the filter `name` are in a catalog: the service resolves `me`."""
    return name in NAME_FILTERS or (name in PEOPLE and set(typed) != {"me"})


def _filters(project: KnownProject | None, **values: Any) -> IssueFilters:  # noqa: ANN401 - IssueFilters checks them
    try:
        return IssueFilters(project_id=project.id if project else None, **values)
    except ValueError as error:
        raise UserError("I can't search for that: {reason}.", reason=error) from None
