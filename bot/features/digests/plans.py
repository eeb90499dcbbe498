"""Resolves the names in a digest's settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.features.accounts.accounts import Session
from bot.features.digests.schedules import Schedule
from bot.features.name_matching import pick
from bot.features.projects.catalog import Catalog, Catalogs
from bot.features.users.people import People, Who
from bot.service.models import Project, Ref
from bot.store.choice import Choice
from bot.store.digest_plans import STALE_DAYS, FilterKind, Group, Kind, Plan

Typed = Mapping[FilterKind, tuple[Who, ...]]
Resolved = dict[FilterKind, tuple[Choice, ...]]


@dataclass(frozen=True, kw_only=True)
class DigestSettings:
    """A digest's settings as requested: names as typed, empty if not given."""

    project: str | None
    schedule: Schedule
    zone: str
    kind: Kind = "new"
    stale_days: int = STALE_DAYS
    filters: Typed = field(default_factory=dict)
    excluded: Typed = field(default_factory=dict)
    group: Group = "tracker"
    empty: bool = False


class Plans:
    """Resolves settings with the caller's key."""

    def __init__(self, catalogs: Catalogs, people: People) -> None:
        self._catalogs = catalogs
        self._people = people

    async def of(self, session: Session, project: Project, wanted: DigestSettings) -> Plan:
        """The plan for these settings. Raises UserError, ServiceError."""
        filters, excluded = [
            {
                kind: tuple([await self.choice(session, project.id, kind, one) for one in names])
                for kind, names in typed.items()
            }
            for typed in (wanted.filters, wanted.excluded)
        ]
        return Plan(
            project_id=project.id,
            project=project.name,
            schedule=wanted.schedule.text,
            zone=wanted.zone,
            kind=wanted.kind,
            stale_days=wanted.stale_days,
            filters=filters,
            excluded=excluded,
            group=wanted.group,
            empty=wanted.empty,
        )

    async def choice(self, session: Session, project_id: int | None, kind: FilterKind, typed: Who) -> Choice:
        """The value that a user named. Raises UserError, ServiceError."""
        catalog = await self._catalogs.of(session, project_id)
        if kind in ("author", "to"):
            ref = await self._people.find(session, typed, catalog)
        else:
            ref = pick(kind, str(typed), choices_of(catalog)[kind])
        return Choice(ref.id, ref.name)

    async def choices(self, session: Session, project_id: int) -> Mapping[FilterKind, Sequence[Ref]]:
        """What a project's digests can be filtered by. Raises ServiceError."""
        return choices_of(await self._catalogs.of(session, project_id))


def choices_of(catalog: Catalog) -> Mapping[FilterKind, Sequence[Ref]]:
    return {
        "tracker": catalog.trackers,
        "priority": catalog.priorities,
        "category": catalog.categories,
        "author": catalog.people,
        "to": catalog.people,
        "version": catalog.every_version,
    }
