"""The choices in a project: trackers, categories, statuses, priorities, versions, people, custom fields.

The interface lists only some of them, in a project's includes. The rest come from optional endpoints, or from
the values on the project's latest issues if the service lacks those endpoints.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from bot.features.accounts.accounts import Session
from bot.option_keys import carried
from bot.service.client import Client
from bot.service.conventions import ProjectInclude
from bot.service.filters import IssueFilters, Sort
from bot.service.models import CustomFieldValue, Issue, Membership, Project, Ref, Version
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

INCLUDED: tuple[ProjectInclude, ...] = ("trackers", "issue_categories", "issue_custom_fields")

LATEST = 50
"""How many issues to read for values that the service doesn't list. Each comes with its description."""
Required = Mapping[int | None, frozenset[int]]
"""IDs of required custom fields by tracker ID, with None for no tracker."""
REQUIRED_TTL = 24 * 3600.0
CHOICES, CHOICE = 100, 255
"""The most values of a custom field, by the limit of Slack's selects, and the longest one."""
MIN_AVERAGE_USES = 2
"""Average uses per value from which a field counts as a list field."""


@dataclass(frozen=True)
class CustomField:
    """A custom field and its values on the latest issues."""

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
            value for value in self.values if value.casefold() == typed.casefold() or carried(value) == typed
        ]
        return matches[0] if len(matches) == 1 else typed


@dataclass(frozen=True)
class Catalog:
    """The choices in one project, or over all projects when `project` is None."""

    project: Project | None
    trackers: tuple[Ref, ...]
    statuses: tuple[Ref, ...]
    priorities: tuple[Ref, ...]
    categories: tuple[Ref, ...]
    versions: tuple[Ref, ...]
    every_version: tuple[Ref, ...]
    """Includes closed versions, for search. New issues can't use them."""
    people: tuple[Ref, ...]
    custom_fields: tuple[CustomField, ...]

    def custom_field(self, number: int) -> CustomField:
        """The custom field with that ID, or a placeholder if the catalog doesn't have it."""
        known = (field for field in self.custom_fields if field.id == number)
        return next(known, CustomField(number, f"cf_{number}"))


class Catalogs:
    """Reads catalogs with the caller's key and caches them per user for a minute."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._recent: TtlCache[tuple[Owner, SecretStr, int | None], Catalog] = TtlCache(seconds=60)
        self._required: TtlCache[tuple[Owner, int], Required] = TtlCache(seconds=REQUIRED_TTL)

    async def of(self, session: Session, project_id: int | None) -> Catalog:
        """The catalog of a project, or of all projects for None."""
        cache_key = (session.owner, session.key, project_id)
        return await self._recent.get(cache_key, lambda: self._read(session, project_id))

    def required(self, owner: Owner, project_id: int) -> Required:
        """The custom fields that the service has required of this user in a project."""
        return self._required.peek((owner, project_id)) or {}

    def note_required(
        self, owner: Owner, project_id: int, tracker_id: int | None, fields: Iterable[int]
    ) -> None:
        """Record custom fields that the service required for an issue with that tracker."""
        known = self.required(owner, project_id)
        fields = known.get(tracker_id, frozenset()).union(fields)
        self._required.put((owner, project_id), {**known, tracker_id: fields})

    async def _read(self, session: Session, project_id: int | None) -> Catalog:
        key, beyond = session.key, self._client.optional
        latest = IssueFilters(project_id=project_id, status="any", sort=(Sort("id", descending=True),))
        page, statuses, priorities, (project, trackers, memberships, versions) = await asyncio.gather(
            self._client.list_issues(key, latest, limit=LATEST),
            beyond.issue_statuses(key),
            beyond.issue_priorities(key),
            self._read_project(key, project_id),
        )
        seen = page.items
        every_version = _by_name(i.fixed_version for i in seen) if versions is None else tuple(versions)
        me = Ref(id=session.user_id, name=session.name)
        return Catalog(
            project=project,
            trackers=tuple(trackers) if trackers else _seen(i.tracker for i in seen),
            statuses=tuple(statuses) if statuses else _seen(i.status for i in seen),
            priorities=tuple(priorities) if priorities else _seen(i.priority for i in seen),
            categories=project.issue_categories if project else _by_name(i.category for i in seen),
            versions=every_version if versions is None else _open(versions),
            every_version=every_version,
            people=_by_name(
                [me, *_members(memberships), *(p for i in seen for p in (i.assigned_to, i.author))]
            ),
            custom_fields=_custom_fields(project.issue_custom_fields if project else (), seen),
        )

    async def _read_project(
        self, key: SecretStr, project_id: int | None
    ) -> tuple[Project | None, Sequence[Ref] | None, list[Membership] | None, list[Version] | None]:
        """The project, its trackers, memberships and versions; for None the trackers of all projects."""
        beyond = self._client.optional
        if project_id is None:
            return None, await beyond.trackers(key), None, None
        project, memberships, versions = await asyncio.gather(
            self._client.get_project(key, project_id, INCLUDED),
            beyond.memberships(key, project_id),
            beyond.versions(key, project_id),
        )
        return project, project.trackers, memberships, versions


def _custom_fields(listed: Iterable[Ref], seen: Iterable[Issue]) -> tuple[CustomField, ...]:
    """Custom fields from the project and its issues: Redmine's project omits fields for all projects."""
    names, values = {ref.id: ref.name for ref in listed}, defaultdict[int, list[CustomFieldValue]](list)
    for field in (field for issue in seen for field in issue.custom_fields):
        names[field.id] = field.name
        values[field.id].append(field)
    return tuple(_custom_field(number, names[number], values[number]) for number in sorted(names))


def _custom_field(number: int, name: str, values: Sequence[CustomFieldValue]) -> CustomField:
    used = Counter(value for field in values for value in _texts(field.value) if 0 < len(value) <= CHOICE)
    multiple = any(field.multiple for field in values)
    repeated = len(used) > 1 and used.total() >= MIN_AVERAGE_USES * len(used)
    # Numeric values belong to number fields, or are IDs of users, versions and so on.
    is_list = bool(used) and (multiple or repeated) and not all(value.isdecimal() for value in used)
    return CustomField(number, name, tuple(used)[:CHOICES], multiple, is_list)


def _texts(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value or ()


def _open(versions: Iterable[Version]) -> tuple[Ref, ...]:
    return tuple(version for version in versions if version.status in (None, "open"))


def _members(memberships: Iterable[Membership] | None) -> list[Ref | None]:
    return [membership.user for membership in memberships or ()]


def _seen(refs: Iterable[Ref | None]) -> tuple[Ref, ...]:
    """Distinct refs by ID, which is usually the service's own order."""
    return tuple(sorted({ref.id: ref for ref in refs if ref}.values(), key=lambda ref: ref.id))


def _by_name(refs: Iterable[Ref | None]) -> tuple[Ref, ...]:
    return tuple(
        sorted({ref.id: ref for ref in refs if ref and ref.name}.values(), key=lambda r: r.name.casefold())
    )
