"""Reads what an owner's digests list: the new issues for all of them together, so that the number of requests
depends on the new issues, and the other kinds one by one.

Each read of new or closed issues overlaps the last one by OVERLAP and skips issues already covered, by their
numbers. So an issue that becomes visible late is still found, and none is posted twice. `covered_to` is in
the service's own time, which may differ from every other clock.
"""

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from bot.features.accounts.accounts import Session
from bot.features.digests import kinds
from bot.features.issues.publicity import may_show, visible_project
from bot.service.client import Client
from bot.service.conventions import PAGE, ProjectStatus
from bot.service.filters import DateRange, IssueFilters, Sort, TimeRange
from bot.service.models import Issue, Project
from bot.store.digests import Covered, Digest, Pause

OVERLAP = timedelta(hours=3)
"""How late an issue may become visible, and how far the service's clock may be set back."""
SECOND, NOTHING = timedelta(seconds=1), timedelta(0)
NEVER = datetime.min.replace(tzinfo=UTC)
MOST_ROWS, MOST_PAGES = 300, 10
"""After so many rows that it lists, or so many pages, a digest reads no more: it shows about a hundred."""
MINE = IssueFilters(
    assigned_to=("me",),
    status="open",
    sort=(Sort("updated_on", descending=True), Sort("id", descending=True)),
)
FEW = 5
"""Up to this many projects are read one by one; for more, the list of all projects is read."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a digest lists, in order, and its project's current name.

    `more`: there may be more issues. `covered_to` and `covered` are how far the issues go, and those not to
    be listed again. `seen` has the owner's issues, in a personal digest, as `updates` does. `read_at` is the
    monotonic time when it was read.
    """

    project: str
    issues: tuple[Issue, ...] = ()
    more: bool = False
    covered_to: datetime | None = None
    covered: tuple[Covered, ...] = ()
    seen: Mapping[int, datetime] | None = None
    read_at: float = math.inf


async def read(
    client: Client,
    session: Session,
    digests: Sequence[Digest],
    *,
    covered: Mapping[int, Mapping[int, datetime]],
    hidden: Collection[int],
    now: datetime,
) -> Mapping[int, Content | Pause]:
    """Read the content of one owner's digests, by digest ID, or why a project can't be read anymore.

    Issues in `hidden` are left out of channels. Raises ServiceError.
    """
    found: dict[int, Content | Pause] = {}
    listing: list[Digest] = []
    read_at = time.monotonic()
    states = await _projects(client, session, digests)
    for digest in digests:
        state = states.get(digest.plan.project_id, Pause.PROJECT)
        if digest.personal:
            found[digest.id] = await _personal(client, session, digest, now)
        elif isinstance(state, Pause):
            found[digest.id] = state
        elif not (digest.direct or may_show(state, digest.agreed_project)):
            found[digest.id] = Pause.NOT_PUBLIC
        else:
            listing.append(replace(digest, plan=replace(digest.plan, project=state.name)))
    opened = [digest for digest in listing if digest.plan.kind == "new"]
    new_rows, newest = await _rows(client, session, opened) if opened else ([], None)
    for digest in listing:
        kind, rows, reached, more = digest.plan.kind, new_rows, newest, False

        def is_listed(row: Issue, digest: Digest = digest) -> bool:
            return row.id not in hidden and _is_listed(row, digest, covered[digest.id])

        if kind != "new":
            filters = kinds.filters_of(digest.plan, now, since(digest.covered_to))
            filters = replace(filters, sort=kinds.LATEST[kind])
            rows, more = await _first_rows(client, session, filters, is_listed)
            reached = max((at for row in rows if (at := kinds.happened(kind, row))), default=None)
        listed = [row for row in rows if is_listed(row)]
        listed.sort(key=lambda row: (kinds.ORDER[kind](row), row.id))
        times = ((row.id, kinds.happened(kind, row)) for row in listed)
        found[digest.id] = Content(
            project=digest.plan.project,
            issues=tuple(listed),
            more=more,
            # Not past now: an issue dated in the future would make all others until then look old.
            # What wasn't read is covered as well, although the next read overlaps this one.
            covered_to=min(reached, now) + (OVERLAP + SECOND if more else NOTHING) if reached else None,
            covered=tuple(Covered(number, at) for number, at in times if at),
            read_at=math.inf if digest.direct else read_at,
        )
    return found


def since(covered_to: datetime | None) -> TimeRange | None:
    """When the next read starts, after one that went up to `covered_to`."""
    return TimeRange(since=covered_to - OVERLAP) if covered_to else None


async def own_issues(client: Client, session: Session) -> tuple[list[Issue], bool]:
    """The open issues that are assigned to a user or their groups, the latest changed first, and whether
    there may be more. Raises ServiceError.
    """
    return await _first_rows(client, session, MINE, lambda _: True)


def updates(issues: Collection[Issue], *, more: bool) -> dict[int, datetime]:
    """The times of the issues' last updates, by issue ID; with `more`, the latest stands for the others."""
    found = {issue.id: issue.updated_on or NEVER for issue in issues}
    return found | {kinds.OTHERS: max(found.values())} if more else found


async def _personal(client: Client, session: Session, digest: Digest, now: datetime) -> Content:
    mine, more = await own_issues(client, session)
    rows, more_news = {issue.id: issue for issue in mine}, False
    if more:  # those that are due may not have changed for long
        until = DateRange(until=kinds.today(digest.plan, now))
        filters = replace(MINE, due_date=until, sort=kinds.LATEST["due"])
        due, more_due = await _first_rows(client, session, filters, lambda _: True)
        rows |= {issue.id: issue for issue in due}
        more_news = more_due or kinds.section(digest, mine[-1], now) is not None
    listed = [issue for issue in rows.values() if kinds.section(digest, issue, now)]
    listed.sort(key=lambda issue: (issue.due_date or date.max, issue.id))
    seen = updates(mine, more=more)
    return Content(project=digest.plan.project, issues=tuple(listed), more=more_news, seen=seen)


async def _first_rows(
    client: Client, session: Session, filters: IssueFilters, wanted: Callable[[Issue], bool]
) -> tuple[list[Issue], bool]:
    """The first rows of a list, without descriptions, and whether there may be more."""
    rows: dict[int, Issue] = {}
    at = 0
    for _ in range(MOST_PAGES):
        page = await client.list_issues(session.key, filters, offset=at)
        if len(page.items) < page.total_count <= MOST_ROWS:  # none is skipped while the list changes
            return [_slim(row) async for row in client.iter_issues(session.key, filters)], False
        rows |= {row.id: _slim(row) for row in page.items}
        at += len(page.items)
        if not page.items or at >= page.total_count:
            return [*rows.values()], False
        if sum(map(wanted, rows.values())) >= MOST_ROWS:
            break
    return [*rows.values()], True


def _slim(row: Issue) -> Issue:
    return row.model_copy(update={"description": None})


def _is_listed(issue: Issue, digest: Digest, covered: Mapping[int, datetime]) -> bool:
    if not kinds.passes(digest.plan, issue):
        return False
    if digest.plan.kind not in kinds.HAPPENED:
        return kinds.ORDER[digest.plan.kind](issue) is not None
    at, window = kinds.happened(digest.plan.kind, issue), since(digest.covered_to)
    if at is None or (window and window.since and at < window.since):
        return False
    return issue.id not in covered or at > covered[issue.id]


async def _projects(
    client: Client, session: Session, digests: Sequence[Digest]
) -> dict[int, Project | Pause]:
    """Each project by its number, or why it can't be read anymore."""
    numbers = {digest.plan.project_id for digest in digests if not digest.personal}
    listed = {}
    if len(numbers) > FEW:
        listed = {project.id: project async for project in client.iter_projects(session.key)}
    found: dict[int, Project | Pause] = {}
    for number in numbers:
        project = listed.get(number)
        if project is None or project.is_public is None:
            project = await visible_project(client, session, number)
        if project is None:
            found[number] = Pause.PROJECT
        else:
            found[number] = Pause.CLOSED if project.status == ProjectStatus.CLOSED else project
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
        rows = [_slim(row) for filters in lists async for row in client.iter_issues(session.key, filters)]
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
