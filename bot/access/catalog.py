"""The choices in a project: trackers, categories, statuses, priorities, versions, people, custom fields.

The interface lists only some of them, in a project's includes. The rest come from optional endpoints, or from
the values on the project's latest issues if the service lacks those endpoints. Each is read when it is named.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Literal, get_args

from pydantic import SecretStr

from bot.access.accounts import Session
from bot.access.projects import MAX_CACHED, Projects
from bot.errors import Refused, ServiceError
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.models import CustomFieldValue, Issue, Ref, Version
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.spelling import option_value
from bot.store.channels import Channel
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

Part = Literal[
    "trackers",
    "statuses",
    "priorities",
    "categories",
    "versions",
    "every_version",
    "people",
    "assignees",
    "custom_fields",
]
"""The parts of a catalog: `every_version` includes closed ones, for searches, and `people` everyone the user
knows, while issues can be assigned only to `assignees`.
"""
PARTS: tuple[Part, ...] = get_args(Part)
ME = " (me)"
LATEST_ISSUES = 50
"""How many issues to read for values that the service doesn't list. Each comes with its description."""
ISSUES_LEARNED = 100
MAX_LEARNED = 5  # how many custom fields' values are learned at once, one request each
LATEST_FIRST = (Sort("id", descending=True),)
Required = Mapping[int | None, frozenset[int]]
"""IDs of required custom fields by tracker ID, with None for no tracker."""
REQUIRED_TTL = 24 * 3600.0
CHOICE_LENGTH = 255  # the longest value of a custom field
MIN_AVERAGE_USES = 2


@dataclass(frozen=True)
class CustomField:
    id: int
    name: str
    values: tuple[str, ...] = ()
    multiple: bool = False
    is_list: bool = False
    """Whether the values look like list choices. The interface doesn't give a field's type."""

    def known(self, typed: str) -> str:
        """The known value that matches `typed` ignoring case, or whose option carries it; or else `typed`."""
        if typed in self.values:
            return typed
        matches = [
            value
            for value in self.values
            if value.casefold() == typed.casefold() or option_value(value) == typed
        ]
        return matches[0] if len(matches) == 1 else typed


@dataclass(frozen=True)
class Catalog:
    """The parts that were asked for, of a project or of all when `project_id` is None; `me` is the user."""

    project_id: int | None
    me: int
    lists: Mapping[Part, tuple[Ref, ...]]
    custom_fields: tuple[CustomField, ...] = ()

    def custom_field(self, number: int) -> CustomField:
        """The custom field with that ID, or a placeholder if the catalog doesn't have it."""
        known = (field for field in self.custom_fields if field.id == number)
        return next(known, CustomField(number, f"cf_{number}"))


def with_me(people: Iterable[Ref], me: int) -> tuple[Ref, ...]:
    """Return people for a select: first the user, whom typing `me` finds, too."""
    named = (Ref(id=me, name=person.name + ME) if person.id == me else person for person in people)
    return tuple(sorted(named, key=lambda person: person.id != me))


class GroupRef(Ref):
    """A group that is a member of a project."""


@dataclass(frozen=True)
class _Seen:
    """The values on a project's latest issues; `people` are their authors."""

    lists: Mapping[Part, tuple[Ref, ...]]
    custom_fields: tuple[CustomField, ...]

    @property
    def weight(self) -> int:
        values = sum(1 + len(field.values) for field in self.custom_fields)
        return 1 + sum(map(len, self.lists.values())) + values


class Catalogs:
    """Reads catalogs with the caller's key and caches them per user."""

    def __init__(self, client: Client, projects: Projects, cached: float) -> None:
        """`cached` is for how many seconds the lists are cached."""
        self._client = client
        self._projects = projects
        self._lists: TtlCache[tuple[Owner, SecretStr, int | None, str], tuple[Ref, ...] | None]
        self._lists = TtlCache(cached, MAX_CACHED, lambda refs: 1 + len(refs or ()))
        self._latest: TtlCache[tuple[Owner, SecretStr, int | None], _Seen]
        self._latest = TtlCache(cached, MAX_CACHED, lambda values: values.weight)
        self._learned: TtlCache[tuple[Owner, SecretStr, int | None, int], CustomField | None]
        self._learned = TtlCache(cached, MAX_CACHED, lambda field: 1 + len(field.values if field else ()))
        self._required: TtlCache[tuple[Owner, int], Required] = TtlCache(REQUIRED_TTL)

    async def of(
        self,
        session: Session,
        project_id: int | None,
        parts: Collection[Part] = PARTS,
        fields: Collection[int] = (),
    ) -> Catalog:
        """These parts of the catalog of a project, or of all projects for None.

        The values of the custom `fields` are learned from the issues that have one.
        """
        names = [part for part in parts if part != "custom_fields"]
        every = "custom_fields" in parts or len(fields) > MAX_LEARNED
        reads = [self._custom_fields(session, project_id)] if every else []
        reads += [self._values(session, project_id, fields)] if fields else []
        custom_fields, lists = await asyncio.gather(
            asyncio.gather(*reads), asyncio.gather(*(self._part(session, project_id, part) for part in names))
        )
        known: dict[Part, tuple[Ref, ...]] = dict(zip(names, lists, strict=True))
        return Catalog(project_id, session.user_id, known, _merged(*chain(*custom_fields)))

    async def custom_fields_of(
        self, session: Session, name: str | None, channel: Channel | None
    ) -> list[Ref]:
        """The custom fields of the named project, by default the channel's; of all projects for `any`."""
        if name == "any":
            project = None
        elif name:
            project = await self._projects.find(session, name)
        else:
            project = await self._projects.default_in(session, channel)
        catalog = await self.of(session, project.id if project else None, ["custom_fields"])
        return [Ref(id=field.id, name=field.name) for field in catalog.custom_fields]

    async def field_values(
        self, session: Session, project_id: int | None, typed: Mapping[int, str]
    ) -> list[tuple[CustomField, str]]:
        """Custom fields by ID, and the values to filter by: known ones, as the service is case-sensitive."""
        if not typed:
            return []
        catalog = await self.of(session, project_id, (), typed)
        fields = ((catalog.custom_field(number), value) for number, value in typed.items())
        return [(field, field.known(value)) for field, value in fields]

    async def with_values(self, session: Session, catalog: Catalog, field_ids: Collection[int]) -> Catalog:
        """The same with values of the custom fields `field_ids` of which the latest issues have none."""
        empty = [field.id for field in catalog.custom_fields if field.id in field_ids and not field.values]
        learned = await self._values(session, catalog.project_id, empty)
        return replace(catalog, custom_fields=_merged(*catalog.custom_fields, *learned))

    async def listed(self, session: Session, project_id: int | None, part: Part) -> tuple[Ref, ...]:
        """The statuses, priorities or assignees that the service lists; empty if it doesn't list them."""
        known = self._members(session, project_id) if part == "assignees" else self._everywhere(session, part)
        return await known or ()

    async def prefetch(self, session: Session, parts: Collection[Part]) -> None:
        """Start reading what is the same in every project; errors are raised where it is needed."""
        with suppress(ServiceError):
            await asyncio.gather(*(self._everywhere(session, part) for part in parts))

    async def lists_members(self, session: Session, project_id: int | None) -> bool:
        """Whether the service lists who can be assigned issues."""
        return await self._members(session, project_id) is not None

    async def project_name(self, session: Session, project_id: int | None) -> str:
        return (await self._projects.by_id(session, project_id)).name if project_id else ""

    def required(self, owner: Owner, project_id: int) -> Required:
        return self._required.peek((owner, project_id)) or {}

    def note_required(
        self, owner: Owner, project_id: int, tracker_id: int | None, fields: Iterable[int]
    ) -> None:
        """Record custom fields that the service required for an issue with that tracker."""
        known = self.required(owner, project_id)
        fields = known.get(tracker_id, frozenset()).union(fields)
        self._required.put((owner, project_id), {**known, tracker_id: fields})

    async def _part(self, session: Session, project_id: int | None, part: Part) -> tuple[Ref, ...]:
        if part == "assignees":
            return await self._assignees(session, project_id)
        if part == "people":
            members, latest = await asyncio.gather(
                self._members(session, project_id), self._see(session, project_id)
            )
            users = (member for member in members or () if not isinstance(member, GroupRef))
            me = Ref(id=session.user_id, name=session.name)
            return _by_name((me, *users, *latest.lists["assignees"], *latest.lists["people"]))

        beyond, known = self._client.optional, await self._everywhere(session, part)
        if project_id and part in ("trackers", "categories"):
            project = await self._projects.detailed(session, project_id)
            known = project.issue_categories if part == "categories" else project.trackers or None
        if project_id and part in ("versions", "every_version"):
            versions = partial(beyond.versions, session.key, project_id)
            known = await self._list(session, project_id, "versions", versions)
        if project_id is None and part == "trackers":
            known = await self._list(session, None, part, partial(beyond.trackers, session.key)) or None

        if known is None:  # other projects' issues have the same statuses and priorities
            places = {project_id, None} if part in ("statuses", "priorities") else {project_id}
            reads = await asyncio.gather(*(self._see(session, place) for place in places))
            lists = [values.lists[part] for values in reads]
            return lists[0] if len(lists) == 1 else _by_id(chain(*lists))
        if part == "versions":
            return tuple(one for one in known if isinstance(one, Version) and one.status in (None, "open"))
        return known

    async def _everywhere(self, session: Session, part: Part) -> tuple[Ref, ...] | None:
        """What is the same in every project; None if the service doesn't list it."""
        beyond = self._client.optional
        reads = {"statuses": beyond.issue_statuses, "priorities": beyond.issue_priorities}
        if part not in reads:
            return None
        return await self._list(session, None, part, partial(reads[part], session.key)) or None

    async def _assignees(self, session: Session, project_id: int | None) -> tuple[Ref, ...]:
        """The members, with groups only if issues are assigned to any; else those who have issues."""
        members = await self._members(session, project_id)
        groups = {member.id for member in members or () if isinstance(member, GroupRef)}
        if members is not None and not groups:
            return _by_name(members)
        assigned = (await self._see(session, project_id)).lists["assignees"]
        if members is None:
            return _by_name((*assigned, *await self._own(session, project_id)))
        assigns_groups = any(ref.id in groups for ref in assigned)
        return _by_name(member for member in members if assigns_groups or member.id not in groups)

    async def _members(self, session: Session, project_id: int | None) -> tuple[Ref, ...] | None:
        if project_id is None:
            return None

        async def read() -> tuple[Ref, ...] | None:
            memberships = await self._client.optional.memberships(session.key, project_id)
            groups = ((one.group, GroupRef) for one in memberships or () if one.group)
            users = ((one.user, Ref) for one in memberships or () if one.user)
            refs = (kind(id=ref.id, name=ref.name) for ref, kind in (*users, *groups))
            return None if memberships is None else tuple(refs)

        return await self._list(session, project_id, "members", read)

    async def _own(self, session: Session, project_id: int | None) -> tuple[Ref, ...]:
        """The user, if they are a member."""

        async def read() -> tuple[Ref, ...]:
            user = await self._client.get_user(session.key, include={"memberships"})
            projects = {membership.project.id for membership in user.memberships if membership.project}
            return (Ref(id=user.id, name=session.name),) if project_id in projects else ()

        return await self._list(session, project_id, "own", read) or ()

    async def _list(
        self,
        session: Session,
        project_id: int | None,
        name: str,
        read: Callable[[], Awaitable[tuple[Ref, ...] | None]],
    ) -> tuple[Ref, ...] | None:
        return await self._lists.get((session.owner, session.key, project_id, name), read)

    async def _see(self, session: Session, project_id: int | None) -> _Seen:
        async def read() -> _Seen:
            latest = IssueFilters(project_id=project_id, status="any", sort=LATEST_FIRST)
            return _seen((await self._client.list_issues(session.key, latest, limit=LATEST_ISSUES)).items)

        return await self._latest.get((session.owner, session.key, project_id), read)

    async def _custom_fields(self, session: Session, project_id: int | None) -> tuple[CustomField, ...]:
        """Custom fields from the project and its issues: Redmine's project omits fields for all projects."""
        latest_values = self._see(session, project_id)
        if project_id is None:
            return (await latest_values).custom_fields
        project, latest = await asyncio.gather(self._projects.detailed(session, project_id), latest_values)
        named = (CustomField(ref.id, ref.name) for ref in project.issue_custom_fields)
        return (*named, *latest.custom_fields)

    async def _values(
        self, session: Session, project_id: int | None, fields: Collection[int]
    ) -> tuple[CustomField, ...]:
        """The first few of these custom fields, with the values on the issues that have one."""
        few = list(fields)[:MAX_LEARNED]
        learned = await asyncio.gather(*(self._learn(session, project_id, number) for number in few))
        return tuple(field for field in learned if field)

    async def _learn(self, session: Session, project_id: int | None, number: int) -> CustomField | None:

        async def read() -> CustomField | None:
            having = IssueFilters(project_id=project_id, status="any", having=number, sort=LATEST_FIRST)
            with suppress(Refused):
                issues = (await self._client.list_issues(session.key, having, limit=ISSUES_LEARNED)).items
                fields = chain.from_iterable(issue.custom_fields for issue in issues)
                values = [field for field in fields if field.id == number]
                return _custom_field(values) if values else None
            return None

        return await self._learned.get((session.owner, session.key, project_id, number), read)


def _merged(*fields: CustomField) -> tuple[CustomField, ...]:
    """The fields in the order of their IDs; later ones replace earlier ones."""
    by_id = {field.id: field for field in fields}
    return tuple(by_id[number] for number in sorted(by_id))


def _seen(issues: Sequence[Issue]) -> _Seen:
    lists: dict[Part, tuple[Ref, ...]] = {
        "trackers": _by_id(issue.tracker for issue in issues),
        "statuses": _by_id(issue.status for issue in issues),
        "priorities": _by_id(issue.priority for issue in issues),
        "categories": _by_name(issue.category for issue in issues),
        "assignees": _by_name(issue.assigned_to for issue in issues),
    }
    lists["versions"] = lists["every_version"] = _by_name(issue.fixed_version for issue in issues)
    lists["people"] = _by_name(issue.author for issue in issues)
    values: dict[int, list[CustomFieldValue]] = {}
    for issue in issues:
        for field in issue.custom_fields:
            values.setdefault(field.id, []).append(field)
    return _Seen(lists, tuple(map(_custom_field, values.values())))


def _custom_field(values: Sequence[CustomFieldValue]) -> CustomField:
    """A custom field from its values on issues, the latest first."""
    texts = chain.from_iterable(_texts(field.value) for field in values)
    used = Counter(text for text in texts if 0 < len(text) <= CHOICE_LENGTH)
    multiple = any(field.multiple for field in values)
    repeated = len(used) > 1 and used.total() >= MIN_AVERAGE_USES * len(used)
    # Numeric values belong to number fields, or are IDs of users, versions and so on.
    is_list = bool(used) and (multiple or repeated) and not all(value.isdecimal() for value in used)
    return CustomField(values[-1].id, values[-1].name, tuple(used)[:MAX_SELECT_OPTIONS], multiple, is_list)


def _texts(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value or ()


def _by_id(refs: Iterable[Ref | None]) -> tuple[Ref, ...]:
    """Distinct refs by ID, which is usually the service's own order."""
    return tuple(sorted({ref.id: ref for ref in refs if ref}.values(), key=lambda ref: ref.id))


def _by_name(refs: Iterable[Ref | None]) -> tuple[Ref, ...]:
    return tuple(
        sorted({ref.id: ref for ref in refs if ref and ref.name}.values(), key=lambda r: r.name.casefold())
    )
