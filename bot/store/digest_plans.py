"""What a digest is set to, and its columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sqlalchemy import Row

from bot.store.choice import Choice

Group = Literal["tracker", "priority", "category", "assignee"]
GROUPS: tuple[Group, ...] = get_args(Group)
Kind = Literal["new", "due", "stale", "closed", "personal"]
"""What a digest lists. A personal one lists its owner's issues to them alone."""
KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}
STALE_DAYS = 14
FilterKind = Literal["tracker", "priority", "category", "author", "to", "version"]
STORED_FILTERS: Mapping[FilterKind, str] = {
    "tracker": "trackers",
    "priority": "priorities",
    "category": "categories",
    "author": "authors",
    "to": "assignees",
    "version": "versions",
}
"""The filters' names in the database."""
FILTER_KINDS: tuple[FilterKind, ...] = get_args(FilterKind)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A digest's settings. `schedule` is the canonical text of a schedule, `zone` a time zone's name.

    `filters` and `excluded` have no kind without choices. `stale_days` counts for kind `stale` only. A
    personal digest has no project: its `project_id` is 0, and `project` is the digest's name.
    """

    project_id: int = 0
    project: str = ""
    schedule: str = "weekdays 09:00"
    zone: str = ""
    kind: Kind = "new"
    stale_days: int = STALE_DAYS
    filters: Mapping[FilterKind, tuple[Choice, ...]] = field(default_factory=dict)
    excluded: Mapping[FilterKind, tuple[Choice, ...]] = field(default_factory=dict)
    group: Group = "tracker"
    empty: bool = False


def plan_of(row: Row[Any]) -> Plan:
    return Plan(
        project_id=row.project_id,
        project=row.project,
        schedule=row.schedule,
        zone=row.zone,
        group=next(group for group in GROUPS if group == row.grouped_by),
        empty=row.empty,
        kind=KINDS[row.kind],
        stale_days=row.stale_days or STALE_DAYS,
        filters=_choices_of(row.filters),
        excluded=_choices_of(row.filters.get("excluded") or {}),
    )


def plan_columns(plan: Plan) -> dict[str, Any]:
    return {
        "project_id": plan.project_id,
        "project": plan.project,
        "schedule": plan.schedule,
        "zone": plan.zone,
        "kind": plan.kind,
        "stale_days": plan.stale_days,
        "filters": {**_choices_kept(plan.filters), "excluded": _choices_kept(plan.excluded)},
        "grouped_by": plan.group,
        "empty": plan.empty,
    }


def _choices_kept(filters: Mapping[FilterKind, tuple[Choice, ...]]) -> dict[str, Any]:
    return {STORED_FILTERS[kind]: [[one.id, one.name] for one in chosen] for kind, chosen in filters.items()}


def _choices_of(stored: Mapping[str, Any]) -> dict[FilterKind, tuple[Choice, ...]]:
    named = ((kind, stored.get(name)) for kind, name in STORED_FILTERS.items())
    return {kind: tuple(Choice(*one) for one in chosen) for kind, chosen in named if chosen}
