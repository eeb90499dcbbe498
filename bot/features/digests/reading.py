"""Reads the new issues for an owner's digests together: the number of requests depends on the new issues.

Each read overlaps the last one by OVERLAP and skips issues already covered, by their numbers. So an issue
that becomes visible late is still found, and none is posted twice. `covered_to` is in the service's own time,
which may differ from every other clock.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.errors import Forbidden, NotFound
from bot.features.accounts.accounts import Session
from bot.service.client import Client
from bot.service.conventions import PAGE, ProjectStatus
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.service.models import Issue
from bot.store.digests import Digest, FilterKind, Pause, Plan

OVERLAP = timedelta(hours=3)
"""How late an issue may become visible, and how far the service's clock may be set back."""
FEW = 5
"""Up to this many projects are read one by one; for more, the list of all projects is read."""


@dataclass(frozen=True)
class Opened:
    """Each digest's new issues by its number, oldest first, and how far they go.

    `stopped` has the digests whose project can't be read anymore, and why; `names` has the others' current
    project names.
    """

    issues: Mapping[int, tuple[Issue, ...]]
    covered_to: datetime | None
    stopped: Mapping[int, Pause]
    names: Mapping[int, str]

    def without(self, numbers: Collection[int]) -> "Opened":
        """The same without the issues with these numbers."""
        kept = {digest: tuple(i for i in rows if i.id not in numbers) for digest, rows in self.issues.items()}
        return replace(self, issues=kept)


async def read(
    client: Client,
    session: Session,
    digests: Sequence[Digest],
    *,
    covered: Mapping[int, Collection[int]],
    now: datetime,
) -> Opened:
    """Read the new issues for one owner's digests. Raises ServiceError."""
    states = await _projects(client, session, digests)
    found = {digest.id: states[digest.plan.project_id] for digest in digests}
    stopped = {number: why for number, why in found.items() if isinstance(why, Pause)}
    names = {number: name for number, name in found.items() if number not in stopped}
    active = [digest for digest in digests if digest.id not in stopped]
    if not active:
        return Opened({}, None, stopped, names)
    rows, newest = await _rows(client, session, active)
    issues = {
        digest.id: tuple(
            sorted(
                (row for row in rows if row.id not in covered[digest.id] and _is_new(row, digest)),
                key=lambda row: (row.created_on, row.id),
            )
        )
        for digest in active
    }
    # Not past now: an issue dated in the future would make all others until then look old.
    return Opened(issues, min(newest, now) if newest else None, stopped, names)


def since(covered_to: datetime | None) -> TimeRange | None:
    """When the next read starts, after one that went up to `covered_to`."""
    return TimeRange(since=covered_to - OVERLAP) if covered_to else None


def filters_of(plan: Plan, created_on: TimeRange | None) -> IssueFilters:
    """Filters for a digest's issues opened in this time."""

    def ids(kind: FilterKind) -> tuple[int, ...]:
        return tuple(choice.id for choice in plan.filters.get(kind, ()))

    return IssueFilters(
        project_id=plan.project_id,
        subprojects="none",
        status="any",
        created_on=created_on,
        tracker_ids=ids("tracker"),
        priority_ids=ids("priority"),
        category_ids=ids("category"),
    )


def _passes_filters(plan: Plan, issue: Issue) -> bool:
    refs = {"tracker": issue.tracker, "priority": issue.priority, "category": issue.category}
    return all(
        (ref := refs[kind]) is not None and ref.id in {choice.id for choice in chosen}
        for kind, chosen in plan.filters.items()
    )


def _is_new(issue: Issue, digest: Digest) -> bool:
    window = since(digest.covered_to)
    return (
        not issue.is_private
        and issue.project is not None
        and issue.project.id == digest.plan.project_id
        and issue.created_on is not None
        and (window is None or window.since is None or issue.created_on >= window.since)
        and _passes_filters(digest.plan, issue)
    )


async def _projects(client: Client, session: Session, digests: Sequence[Digest]) -> dict[int, str | Pause]:
    """Each project's name by its number, or why it can't be read anymore."""
    numbers = {digest.plan.project_id for digest in digests}
    listed = {}
    if len(numbers) > FEW:
        listed = {project.id: project async for project in client.iter_projects(session.key)}
    found: dict[int, str | Pause] = {}
    for number in numbers:
        try:
            project = listed.get(number) or await client.get_project(session.key, number)
        except (Forbidden, NotFound):
            found[number] = Pause.PROJECT
        else:
            found[number] = Pause.CLOSED if project.status == ProjectStatus.CLOSED else project.name
    return found


async def _rows(
    client: Client, session: Session, digests: Sequence[Digest]
) -> tuple[list[Issue], datetime | None]:
    """The issues that may be new, and when the newest one was opened."""
    numbers = sorted({digest.plan.project_id for digest in digests})
    together = _filters(numbers[0] if len(numbers) == 1 else None, digests)
    page = await client.list_issues(session.key, together)
    rows = list(page.items)
    newest = max((row.created_on for row in rows if row.created_on), default=None)
    if page.total_count > len(rows):
        pages = math.ceil(page.total_count / PAGE)
        lists = [together]
        if 1 < len(numbers) < pages:  # most new issues are in other projects
            lists = [_filters(n, [d for d in digests if d.plan.project_id == n]) for n in numbers]
        rows = [row for filters in lists async for row in client.iter_issues(session.key, filters)]
    return rows, newest


def _filters(project_id: int | None, digests: Sequence[Digest]) -> IssueFilters:
    reached = [digest.covered_to for digest in digests]
    known = [moment for moment in reached if moment]
    return IssueFilters(
        project_id=project_id,
        subprojects="none" if project_id else None,
        status="any",
        created_on=since(min(known)) if len(known) == len(reached) else None,
        sort=(Sort("created_on", descending=True), Sort("id", descending=True)),
    )
