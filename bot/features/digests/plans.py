"""A digest's settings: the names in them resolved, and which issues they list, in which order.

A digest of new or closed issues lists each issue once. The others list the state at their due time.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from bot.access.accounts import Session
from bot.access.catalog import Catalogs, with_me
from bot.access.name_matching import MAX_WRONG_NAMES, NameIndex
from bot.access.people import People, Who
from bot.access.projects import KnownProject
from bot.errors import UserError
from bot.features.issues import fields as issue_fields
from bot.features.issues.fields import Filter
from bot.service.client import Client
from bot.service.conventions import NOT, OR, PAGE_SIZE
from bot.service.filters import DateRange, IssueFilters, Sort, TimeRange
from bot.service.models import Issue, Ref
from bot.store.digests import Digest
from bot.store.plans import FILTER_KINDS, DigestKind, FieldValue, FilterKind, FilterValue, Plan

Typed = Mapping[FilterKind, tuple[Who, ...]]
Choices = Mapping[FilterKind, tuple[FilterValue, ...]]
FILTERS: Mapping[FilterKind, Filter] = {kind: issue_fields.FILTERS_BY_NAME[kind] for kind in FILTER_KINDS}
SOON_DAYS = 7  # how many days ahead a digest of due issues looks
Section = Literal["overdue", "today", "assigned", "changed"]  # a personal digest's sections, in their order
HAPPENED: Mapping[DigestKind, Callable[[Issue], datetime | None]] = {
    "new": lambda issue: issue.created_on,
    "closed": lambda issue: issue.closed_on,
    "changed": lambda issue: issue.updated_on,
}
"""When the issues were opened, closed, or changed, for the kinds that list each one once."""
ORDER: Mapping[DigestKind, Callable[[Issue], date | None]] = {
    **HAPPENED,
    "due": lambda issue: issue.due_date,
    "stale": lambda issue: issue.updated_on,
}
LATEST: Mapping[DigestKind, tuple[Sort, ...]] = {
    "new": (Sort("created_on", descending=True), Sort("id", descending=True)),
    "closed": (Sort("closed_on", descending=True), Sort("id", descending=True)),
    "changed": (Sort("updated_on", descending=True), Sort("id", descending=True)),
    "due": (Sort("due_date"), Sort("id")),
    "stale": (Sort("updated_on"), Sort("id")),
}
"""The order that has a kind's most important issues first."""
STATUSES: Mapping[DigestKind, Literal["any", "closed"]] = {"new": "any", "changed": "any", "closed": "closed"}
"""Which issues a kind lists, if not the open ones."""
MAX_PAGES = 10
OVERLAP = timedelta(hours=3)
"""How late an issue may become visible, and how far the service's clock may be set back."""
NEVER = datetime.min.replace(tzinfo=UTC)
OTHERS = 0
"""In place of an issue's number, in `Digest.known_updates`: all issues that were too many to read."""


@dataclass(frozen=True, kw_only=True)
class PlanDraft:
    """A plan as typed: `plan`, with typed names instead of its project and choices.

    An ID is typed as `#5`; a kind that is typed without names has no choices.
    """

    plan: Plan = field(default_factory=Plan)
    project: str | None = None
    filters: Typed = field(default_factory=dict)
    excluded: Typed = field(default_factory=dict)


@contextmanager
def collected(problems: list[UserError]) -> Iterator[None]:
    """Append a UserError to `problems` instead of raising it."""
    try:
        yield
    except UserError as error:
        problems.append(error)


@dataclass(frozen=True)
class Plans:
    """Resolves settings with the caller's key."""

    catalogs: Catalogs
    people: People

    async def of(
        self, session: Session, project: KnownProject | None, draft: PlanDraft
    ) -> tuple[Plan, list[UserError]]:
        """Return the draft's plan for a project, without names that can't be resolved, and the errors about
        those. Choices that the plan has already stay, even if the project lacks them by now. Raises
        ServiceError, and UserError for custom fields.
        """
        project_id = project.id if project else 0
        new = {one.id: one.value for one in draft.plan.custom_fields if not one.name}
        named = await self.catalogs.field_values(session, project_id or None, new)
        fields = {field.id: FieldValue(field.id, value, field.name) for field, value in named}

        filters, problems = await self._choices(session, project_id, draft.filters, draft.plan.filters)
        excluded, more = await self._choices(session, project_id, draft.excluded, draft.plan.excluded)
        plan = replace(
            draft.plan,
            project_id=project_id,
            project=project.name if project else "",
            filters=filters,
            excluded=excluded,
            custom_fields=tuple(fields.get(one.id, one) for one in draft.plan.custom_fields),
        )
        return plan, [*problems, *more]

    async def _choices(
        self, session: Session, project_id: int, typed: Typed, before: Choices
    ) -> tuple[Choices, list[UserError]]:
        """The typed choices; a kind that isn't typed has those from `before`."""
        choices = {kind: chosen for kind, chosen in before.items() if kind not in typed}
        problems: list[UserError] = []
        for kind, names in typed.items():
            current = {f"#{one.id}": one for one in before.get(kind, ())}
            kept = [current[str(name)] for name in names if str(name) in current]
            new = [name for name in names if str(name) not in current]
            found, wrong = await self._found(session, project_id, kind, new) if new else ([], [])
            problems += wrong
            if kept or found:
                choices[kind] = (*kept, *found)
        return choices, problems

    async def _found(
        self, session: Session, project_id: int, kind: FilterKind, names: Sequence[Who]
    ) -> tuple[list[FilterValue], list[UserError]]:
        """The project's choices with these names, and the errors about the first ones that it lacks."""
        part = FILTERS[kind].part
        are_people = part == "people"
        refs = (await self.catalogs.of(session, project_id or None, [part])).lists[part]
        known = NameIndex("person" if are_people else kind, refs)

        found, wrong = list[FilterValue](), list[UserError]()
        for name in names:
            with collected(wrong):
                ref = await self.people.find(session, name, known) if are_people else known.pick(str(name))
                found.append(FilterValue(ref.id, ref.name))
        return found, wrong[:MAX_WRONG_NAMES]

    async def choices(self, session: Session, project_id: int) -> Mapping[FilterKind, Sequence[Ref]]:
        """What a project's digests can be filtered by."""
        lists = (await self.catalogs.of(session, project_id, {it.part for it in FILTERS.values()})).lists
        people = with_me(lists["people"], session.user_id)
        return {kind: people if it.part == "people" else lists[it.part] for kind, it in FILTERS.items()}


def charted(plan: Plan) -> bool:
    """Whether a digest says how many issues there were in each of its periods."""
    return plan.kind in ("new", "closed") and not plan.live


def happened(kind: DigestKind, issue: Issue) -> datetime | None:
    """When the issue was opened, closed, or changed, if the kind lists each issue once."""
    return HAPPENED[kind](issue) if kind in HAPPENED else None


def times_of(kind: DigestKind, issues: Iterable[Issue]) -> dict[int, datetime]:
    """When that happened, by issue ID, without the issues that don't tell."""
    return {issue.id: at for issue in issues if (at := happened(kind, issue))}


def since(covered_to: datetime | None) -> TimeRange | None:
    """When the next read starts, after one that went up to `covered_to`."""
    return TimeRange(since=covered_to - OVERLAP) if covered_to else None


def filters_of(plan: Plan, now: datetime, span: TimeRange | None = None) -> IssueFilters:
    """Filters for the issues that a digest lists at `now`, apart from what it excludes.

    `span` is when they were opened, closed, or changed, for the kinds that list each issue once.
    """
    chosen: dict[str, Any] = {
        FILTERS[kind].name: tuple(choice.id for choice in choices) for kind, choices in plan.filters.items()
    }
    soon = DateRange(until=today(plan, now) + timedelta(days=SOON_DAYS)) if plan.kind == "due" else None
    old = TimeRange(until=now - timedelta(days=plan.stale_days)) if plan.kind == "stale" else None
    return IssueFilters(
        project_id=plan.project_id,
        subprojects=None if plan.subprojects else "none",
        status=STATUSES.get(plan.kind, "open"),
        created_on=span if plan.kind == "new" else None,
        closed_on=span if plan.kind == "closed" else None,
        due_date=soon,
        updated_on=span if plan.kind == "changed" else old,
        custom_fields=_field_values(plan),
        **chosen,
    )


def filters_together(project_id: int | None, digests: Sequence[Digest]) -> IssueFilters:
    """Filters for the issues that several digests of new issues may list; without a project, those of all."""
    reached = [digest.covered_to for digest in digests if digest.covered_to]
    return IssueFilters(
        project_id=project_id,
        subprojects="none" if project_id else None,
        status="any",
        created_on=since(min(reached)) if len(reached) == len(digests) else None,
        sort=LATEST["new"],
    )


def with_custom_fields(plan: Plan) -> IssueFilters:
    """Filters for all issues in the project with the plan's custom fields."""
    return IssueFilters(project_id=plan.project_id, status="any", custom_fields=_field_values(plan))


def _field_values(plan: Plan) -> tuple[tuple[int, str], ...]:
    return tuple((one.id, one.value) for one in plan.custom_fields)


def in_query(plan: Plan) -> IssueFilters:
    """Filters for the issues of the plan's saved query, the most important ones of its kind first."""
    return IssueFilters(project_id=plan.project_id, query_id=plan.query, sort=LATEST[plan.kind])


def list_params(plan: Plan, now: datetime, span: TimeRange | None = None) -> dict[str, str]:
    """Parameters for the service's own list of the same issues, or of all those in the saved query."""
    if plan.kind == "personal":
        return IssueFilters(assigned_to=("me",), status="open").to_params()
    if plan.query:
        return in_query(plan).to_params()
    excluded = {
        f"{FILTERS[kind].field}_id": NOT + OR.join(str(choice.id) for choice in choices)
        for kind, choices in plan.excluded.items()
    }
    return excluded | filters_of(plan, now, span).to_params()


def passes(plan: Plan, issue: Issue) -> bool:
    """Whether the issue isn't private and passes the digest's filters, apart from those of the service, which
    also knows a project's subprojects.
    """

    def among(kind: FilterKind, choices: tuple[FilterValue, ...]) -> bool:
        ref: Ref | None = getattr(issue, FILTERS[kind].field)
        return ref is not None and ref.id in {choice.id for choice in choices}

    return (
        not issue.is_private
        and issue.project is not None
        and (plan.subprojects or issue.project.id == plan.project_id)
        and all(among(kind, choices) for kind, choices in plan.filters.items())
        and not any(among(kind, choices) for kind, choices in plan.excluded.items())
    )


def today(plan: Plan, now: datetime) -> date:
    """The day in the digest's time zone."""
    return now.astimezone(ZoneInfo(plan.zone)).date()


def section(digest: Digest, issue: Issue, now: datetime) -> Section | None:
    """The first section of a personal digest that the issue belongs to, if any."""
    day = today(digest.plan, now)
    if issue.due_date is not None and issue.due_date <= day:
        return "today" if issue.due_date == day else "overdue"
    seen_on = digest.known_updates.get(issue.id) or digest.known_updates.get(OTHERS)
    if seen_on is None:
        return "assigned"
    return "changed" if issue.updated_on and issue.updated_on > seen_on else None


def updates(issues: Collection[Issue], *, more: bool) -> dict[int, datetime]:
    """The times of the issues' last updates, by issue ID; with `more`, the latest stands for the others."""
    times = {issue.id: issue.updated_on or NEVER for issue in issues}
    return times | {OTHERS: max(times.values())} if more else times


async def rows_in_query(
    client: Client, session: Session, plan: Plan, rows: Sequence[Issue]
) -> tuple[list[Issue], bool]:
    """Those of the rows that are in the plan's saved query, if it has one, and whether there may be more.

    The query's issues are read in the order of the plan's kind, from about where the first row would be,
    until all rows are found or passed. Raises Forbidden and NotFound for a query that the user can't see, and
    the other ServiceErrors.
    """
    if plan.query is None:
        return [*rows], False
    ids, at, cut, empty_first = set[int](), 0, True, False
    numbers, query = {row.id for row in rows}, in_query(plan)
    value, descending = ORDER[plan.kind], plan.kind in HAPPENED
    values = sorted(on for row in rows if (on := value(row)))

    def place(issue: Issue) -> int:
        """-1 for an issue that the query lists before all rows, 1 for one after them."""
        on = value(issue)
        if not values:
            return 0
        if on is None:
            return -1 if empty_first else 1
        return ((on > values[-1]) - (on < values[0])) * (-1 if descending else 1)

    async def skip(low: int, high: int) -> int:
        """Where the first issue is that isn't before all rows, or up to a page before that."""
        while high - low > PAGE_SIZE:
            middle = (low + high) // 2
            page = await client.list_issues(session.key, query, offset=middle, limit=1)
            low, high = (middle, high) if any(place(issue) < 0 for issue in page.items) else (low, middle)
        return low

    for _ in range(MAX_PAGES):
        page = await client.list_issues(session.key, query, offset=at)
        empty_first = empty_first or (at == 0 and bool(page.items) and value(page.items[0]) is None)
        ids |= numbers.intersection(row.id for row in page.items)
        at += len(page.items)
        cut = ids < numbers and 0 < at < page.total_count and place(page.items[-1]) <= 0
        if not cut:
            break
        if place(page.items[-1]) < 0:
            at = await skip(at, page.total_count)
    return [row for row in rows if row.id in ids], cut
