"""What can be chosen in a project: trackers, categories, statuses, priorities, versions, people.

The interface itself lists only part of it (a project's includes). Endpoints beyond it are asked where a
service has them; where it doesn't, the names seen on the project's latest issues stand in.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import SecretStr

from bot.service.client import Client
from bot.service.conventions import ProjectInclude
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Membership, Project, Ref, Version
from bot.store.owner import Owner
from bot.usecases.accounts import Session
from bot.usecases.recent import Recent

INCLUDED: tuple[ProjectInclude, ...] = ("trackers", "issue_categories", "issue_custom_fields")

EXAMPLES = 4
LATEST = 50
"""Issues whose names stand in for what the service doesn't list; their descriptions come with them."""


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
    """With those that are closed: no issue can be put into one, but many are in them."""
    people: tuple[Ref, ...]
    custom_fields: tuple[Ref, ...]
    custom_values: dict[int, tuple[str, ...]]
    """Values that the latest issues have in custom fields, by field id: what kind of thing belongs there."""


class Catalogs:
    """Reads catalogs with the key of whoever asks, and remembers them for that person for a minute."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._recent: Recent[tuple[Owner, SecretStr, int | None], Catalog] = Recent(seconds=60)

    async def of(self, session: Session, project_id: int | None) -> Catalog:
        """The choices in a project (or everywhere). Raises ServiceError."""
        kept_for = (session.owner, session.key, project_id)
        return await self._recent.get(kept_for, lambda: self._read(session, project_id))

    async def _read(self, session: Session, project_id: int | None) -> Catalog:
        key, beyond = session.key, self._client.beyond
        latest = IssueFilters(project_id=project_id, status="any", sort=(Sort("id", descending=True),))
        page, statuses, priorities = await asyncio.gather(
            self._client.list_issues(key, latest, limit=LATEST),
            beyond.issue_statuses(key),
            beyond.issue_priorities(key),
        )
        seen = page.items
        if project_id is None:
            project, memberships, versions = None, None, None
            trackers = await beyond.trackers(key)
        else:
            project, memberships, versions = await asyncio.gather(
                self._client.get_project(key, project_id, INCLUDED),
                beyond.memberships(key, project_id),
                beyond.versions(key, project_id),
            )
            trackers = list(project.trackers)
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
            custom_fields=_seen([*(project.issue_custom_fields if project else ()), *_custom(seen)]),
            custom_values=_custom_values(seen),
        )


def _custom(seen: Iterable[Issue]) -> Iterable[Ref]:
    """Redmine leaves the fields that are for all projects out of a project's list; its issues have them."""
    return (Ref(id=field.id, name=field.name) for issue in seen for field in issue.custom_fields)


def _custom_values(seen: Iterable[Issue]) -> dict[int, tuple[str, ...]]:
    found: dict[int, dict[str, None]] = {}
    for custom in (custom for issue in seen for custom in issue.custom_fields):
        values = custom.value if isinstance(custom.value, tuple) else (custom.value,)
        found.setdefault(custom.id, {}).update((value, None) for value in values if value)
    return {number: tuple(values)[:EXAMPLES] for number, values in found.items()}


def _open(versions: Iterable[Version]) -> tuple[Ref, ...]:
    return tuple(version for version in versions if version.status in (None, "open"))


def _members(memberships: Iterable[Membership] | None) -> list[Ref | None]:
    return [membership.user for membership in memberships or ()]


def _seen(refs: Iterable[Ref | None]) -> tuple[Ref, ...]:
    """Each once, by id: the order in which services number their trackers, statuses and priorities."""
    return tuple(sorted({ref.id: ref for ref in refs if ref}.values(), key=lambda ref: ref.id))


def _by_name(refs: Iterable[Ref | None]) -> tuple[Ref, ...]:
    return tuple(
        sorted({ref.id: ref for ref in refs if ref and ref.name}.values(), key=lambda r: r.name.casefold())
    )
