"""Resolves the names in a digest's settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.errors import UserError
from bot.features.accounts.accounts import Session
from bot.features.digests.errors import collected
from bot.features.digests.schedules import Schedule, parse
from bot.features.name_matching import TOLD, Names
from bot.features.projects.catalog import Catalogs, Part
from bot.features.projects.projects import KnownProject
from bot.features.users.people import People, Who
from bot.service.models import Ref
from bot.store.choice import Choice
from bot.store.digest_plans import STALE_DAYS, FilterKind, Group, Kind, Plan

Typed = Mapping[FilterKind, tuple[Who, ...]]
Choices = Mapping[FilterKind, tuple[Choice, ...]]
PARTS: Mapping[FilterKind, Part] = {
    "tracker": "trackers",
    "priority": "priorities",
    "category": "categories",
    "author": "people",
    "to": "people",
    "version": "every_version",
}
DEFAULT_SCHEDULE = parse("weekdays 09:00")


@dataclass(frozen=True, kw_only=True)
class DigestSettings:
    """A digest's settings as requested: names as typed, empty if not given."""

    project: str | None = None
    schedule: Schedule = DEFAULT_SCHEDULE
    zone: str = ""
    kind: Kind = "new"
    stale_days: int = STALE_DAYS
    filters: Typed = field(default_factory=dict)
    excluded: Typed = field(default_factory=dict)
    group: Group = "tracker"
    empty: bool = False


@dataclass(frozen=True)
class Plans:
    """Resolves settings with the caller's key."""

    catalogs: Catalogs
    people: People

    async def of(
        self,
        session: Session,
        project: KnownProject | None,
        wanted: DigestSettings,
        problems: list[UserError] | None = None,
        before: Plan | None = None,
    ) -> Plan:
        """The plan for these settings. With `problems`, names that can't be resolved are left out, and why is
        appended there. Choices that the plan had `before` stay as they are, even if the project lacks them by
        now. Raises UserError, ServiceError.
        """
        project_id = project.id if project else 0

        async def resolved(typed: Typed, had: Choices) -> dict[FilterKind, tuple[Choice, ...]]:
            found: dict[FilterKind, tuple[Choice, ...]] = {}
            for kind, every in typed.items():
                held = {f"#{one.id}": one for one in had.get(kind, ())}
                if kept := tuple(held[str(name)] for name in every if str(name) in held):
                    found[kind] = kept
                if not (names := [name for name in every if str(name) not in held]):
                    continue
                part = PARTS[kind]
                refs = (await self.catalogs.of(session, project_id or None, [part])).lists[part]
                known = Names("person" if part == "people" else kind, refs)
                wrong: list[UserError] | None = None if problems is None else []
                for name in names:
                    with collected(wrong):
                        ref = await self._ref(session, kind, name, known)
                        found[kind] = (*found.get(kind, ()), Choice(ref.id, ref.name))
                if problems is not None and wrong:
                    problems.extend(wrong[:TOLD])
            return found

        return Plan(
            project_id=project_id,
            project=project.name if project else "",
            schedule=wanted.schedule.text,
            zone=wanted.zone,
            kind=wanted.kind,
            stale_days=wanted.stale_days,
            filters=await resolved(wanted.filters, before.filters if before else {}),
            excluded=await resolved(wanted.excluded, before.excluded if before else {}),
            group=wanted.group,
            empty=wanted.empty,
        )

    async def _ref(self, session: Session, kind: FilterKind, typed: Who, known: Names) -> Ref:
        if PARTS[kind] == "people":
            return await self.people.find(session, typed, known)
        return known.pick(str(typed))

    async def choices(self, session: Session, project_id: int) -> Mapping[FilterKind, Sequence[Ref]]:
        """What a project's digests can be filtered by. Raises ServiceError."""
        lists = (await self.catalogs.of(session, project_id, set(PARTS.values()))).lists
        return {kind: lists[part] for kind, part in PARTS.items()}
