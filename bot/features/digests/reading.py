"""Reads what an owner's digests list: the new issues for all of them together, so that the number of requests
depends on the new issues, and the other kinds one by one. Live feeds of a project share one list.

Each read of new or closed issues overlaps the last one by OVERLAP and skips issues already covered, by their
numbers. So an issue that becomes visible late is still found, and none is posted twice. `covered_to` is in
the service's own time, which may differ from every other clock.
"""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from typing import NamedTuple

from bot.access.access import Access
from bot.access.accounts import Session
from bot.errors import Forbidden, NotFound, Refused
from bot.features.digests import plans, schedules
from bot.features.digests.plans import MAX_PAGES, NEVER, OVERLAP, rows_in_query, since
from bot.features.following.following import told_changes
from bot.features.issues.issues import HISTORY, IssueNotFound, Issues, Names, merged, names_of
from bot.features.issues.publicity import is_public, visible_project
from bot.service.client import Client
from bot.service.conventions import PAGE_SIZE, ProjectStatus
from bot.service.filters import DateRange, IssueFilters, TimeRange
from bot.service.models import Change, Issue, Page, Project
from bot.spelling import fingerprint
from bot.store.digests import Coverage, Digest, Pause, Start
from bot.store.plans import Plan

SECOND, NOTHING = timedelta(seconds=1), timedelta(0)
PAGES_AT_ONCE = 10
MAX_ROWS = 300
"""After so many rows that it lists, or MAX_PAGES, a digest reads no more: it shows about a hundred."""
MINE = IssueFilters(assigned_to=("me",), status="open", sort=plans.LATEST["changed"])
FEW = 5  # up to this many projects are read one by one; for more, the list of all projects is read
MAX_COUNTED = 2000  # if the history needs more issues than this, it starts empty
AHEAD = timedelta(days=1)
"""How far ahead the service's clock may be. The bound leaves out closed issues without a time."""


class ReportedChanges(NamedTuple):
    """What changed in an issue, and the names of the values."""

    changes: tuple[Change, ...]
    names: Names


class Rows(NamedTuple):
    """Rows of a list, and up `to` when they happened; `more` if there may be others."""

    issues: list[Issue]
    to: datetime | None
    more: bool = False


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a digest lists, in order, and its project's current name.

    `more`: there may be more issues. `updated` are the issues in a live feed's project that changed lately,
    `changes` what changed in the issues, in a digest of changes. `read_at` is the monotonic time when it was
    read. `me` is whose issues a personal digest lists.
    """

    project: str
    issues: tuple[Issue, ...] = ()
    more: bool = False
    coverage: Coverage = field(default_factory=Coverage)
    updated: tuple[Issue, ...] = ()
    changes: Mapping[int, ReportedChanges] = field(default_factory=dict)
    read_at: float = math.inf
    me: int = 0

    @property
    def too_large(self) -> bool:
        """Whether nothing is listed only because there was more than could be read."""
        return self.more and not self.issues


@dataclass(frozen=True)
class DigestReader:
    """Reads the issues that digests list with one user's key, at the time `now`.

    Issues in `privacy_refused` are left out of channels. `left_out` has those of `DigestProgress` by the
    digest's ID.
    """

    client: Client
    session: Session
    now: datetime
    privacy_refused: Collection[int] = ()
    left_out: Mapping[int, Mapping[int, str]] = field(default_factory=dict)

    async def read(
        self, digests: Sequence[Digest], covered: Mapping[int, Mapping[int, datetime]]
    ) -> dict[int, Content | Pause]:
        """Read the content of one owner's digests, by digest ID, or why a project can't be read anymore."""
        contents: dict[int, Content | Pause] = {}
        listing: list[Digest] = []
        read_at = time.monotonic()
        projects = await self._projects({digest.plan.project_id for digest in digests if not digest.personal})
        for digest in digests:
            if digest.personal:
                contents[digest.id] = await self._personal(digest)
                continue
            project = _postable(digest, projects[digest.plan.project_id])
            if isinstance(project, Pause):
                contents[digest.id] = project
            else:
                listing.append(replace(digest, plan=replace(digest.plan, project=project.name)))

        shared = await self._shared_rows(listing)
        for digest in listing:
            content = await self._content(digest, covered[digest.id], shared.get(digest.id))
            if isinstance(content, Content) and not digest.direct:
                content = replace(content, read_at=read_at)
            contents[digest.id] = content
        return contents

    async def _personal(self, digest: Digest) -> Content:
        mine, more = await self._first_rows(MINE)
        rows, more_listed = {issue.id: issue for issue in mine}, False
        if more:  # those that are due may not have changed for long
            until = DateRange(until=plans.today(digest.plan, self.now))
            filters = replace(MINE, due_date=until, sort=plans.LATEST["due"])
            due, more_due = await self._first_rows(filters)
            rows |= {issue.id: issue for issue in due}
            more_listed = more_due or plans.section(digest, mine[-1], self.now) is not None
        listed = [issue for issue in rows.values() if plans.section(digest, issue, self.now)]
        listed.sort(key=lambda issue: (issue.due_date or date.max, issue.id))
        return Content(
            project=digest.plan.project,
            issues=tuple(listed),
            more=more_listed,
            coverage=Coverage(known_updates=plans.updates(mine, more=more)),
            me=self.session.user_id,
        )

    async def _shared_rows(self, digests: Sequence[Digest]) -> Mapping[int, Rows]:
        """What is read for several digests together, by the digest's ID."""
        shared: dict[int, Rows] = {}
        feeds: dict[int, list[Digest]] = defaultdict(list)
        opened = []
        for digest in digests:
            if digest.plan.live:
                feeds[digest.plan.project_id].append(digest)
            elif digest.plan.kind == "new" and not (digest.plan.custom_fields or digest.plan.subprojects):
                opened.append(digest)

        for together in feeds.values():
            shared |= dict.fromkeys((feed.id for feed in together), await self._changed_rows(together))
        if opened:
            shared |= dict.fromkeys((digest.id for digest in opened), await self._new_rows(opened))
        return shared

    async def _changed_rows(self, feeds: Sequence[Digest]) -> Rows:
        """The issues of these feeds' project that changed lately, and when the last one did."""
        new = plans.filters_together(feeds[0].plan.project_id, feeds)
        subprojects = None if any(feed.plan.subprojects for feed in feeds) else new.subprojects
        filters = replace(new, created_on=None, updated_on=new.created_on, subprojects=subprojects)
        rows = [row async for row in self._every(filters)]
        return Rows(rows, max((row.updated_on for row in rows if row.updated_on), default=None))

    async def _new_rows(self, digests: Sequence[Digest]) -> Rows:
        """The issues that may be new, and when the newest one was opened."""
        projects = sorted({digest.plan.project_id for digest in digests})
        together = plans.filters_together(projects[0] if len(projects) == 1 else None, digests)
        page = await self.client.list_issues(self.session.key, together)
        newest = max((row.created_on for row in page.items if row.created_on), default=None)
        if page.total_count <= len(page.items):
            return Rows([*page.items], newest)

        lists = [together]
        if 1 < len(projects) < math.ceil(page.total_count / PAGE_SIZE):  # most are in other projects
            lists = [
                plans.filters_together(number, [one for one in digests if one.plan.project_id == number])
                for number in projects
            ]
        rows: list[Issue] = []
        for filters in lists:
            rows += [row async for row in self._every(filters)]
        return Rows(rows, newest)

    async def _content(
        self, digest: Digest, covered: Mapping[int, datetime], shared: Rows | None
    ) -> Content | Pause:
        """What one digest lists, of the `shared` rows or else of its own, or why its filters don't work."""
        plan, is_listed = digest.plan, partial(self._is_listed, digest, covered)
        filters = plans.filters_of(plan, self.now, since(digest.covered_to))
        try:
            read = shared or await self._own_rows(plan, filters, is_listed)
            passing = await self._may_show(digest, [row for row in read.issues if is_listed(row)])
            listed = passing
            if shared and plan.custom_fields and passing:
                having = {row.id async for row in self._every(filters)}
                listed = [row for row in passing if row.id in having]
        except Refused:
            if not plan.custom_fields:
                raise
            return Pause.FILTER

        more = read.more
        if plan.query and (listed or not plan.live):
            in_query = await self._in_query(plan, listed)
            if in_query is None:
                return Pause.QUERY
            listed, more = in_query[0], more or in_query[1]

        # What custom fields or a saved query leave out, now or before; see `DigestProgress`.
        dropped = set() if more else {row.id for row in passing} - {row.id for row in listed}
        left_out = [row for row in read.issues if row.id in dropped or self._was_left_out(digest, row)]
        return Content(
            project=plan.project,
            issues=tuple(sorted(listed, key=lambda row: (plans.ORDER[plan.kind](row), row.id))),
            more=more,
            # Not past now: an issue dated in the future would make all others until then look old.
            # Unread issues are covered as well, although the next read overlaps this one.
            coverage=Coverage(
                covered_to=read.to and min(read.to, self.now) + (OVERLAP + SECOND if more else NOTHING),
                covered=plans.times_of(plan.kind, listed),
                left_out={row.id: _version(row) for row in left_out},
            ),
            updated=tuple(read.issues) if plan.live else (),
        )

    async def _own_rows(self, plan: Plan, filters: IssueFilters, is_listed: Callable[[Issue], bool]) -> Rows:
        rows, more = await self._first_rows(replace(filters, sort=plans.LATEST[plan.kind]), is_listed)
        return Rows(rows, max(plans.times_of(plan.kind, rows).values(), default=None), more)

    async def _in_query(self, plan: Plan, rows: Sequence[Issue]) -> tuple[list[Issue], bool] | None:
        """As `rows_in_query`; None if the saved query can't be read."""
        for _ in range(2):  # one of several servers may refuse everything for a while
            with suppress(Forbidden, NotFound):
                return await rows_in_query(self.client, self.session, plan, rows)
        return None

    def _is_listed(self, digest: Digest, covered: Mapping[int, datetime], row: Issue) -> bool:
        """Whether a digest lists an issue, as far as its row tells."""
        kind, covered_to = digest.plan.kind, digest.covered_to
        if self._was_left_out(digest, row) or not self._passes(digest, row):
            return False
        if kind not in plans.HAPPENED:
            return plans.ORDER[kind](row) is not None
        at = plans.happened(kind, row)
        if at is None or (covered_to and at < covered_to - OVERLAP):
            return False
        return at > covered.get(row.id, NEVER)

    def _passes(self, digest: Digest, row: Issue) -> bool:
        return row.id not in self.privacy_refused and plans.passes(digest.plan, row)

    def _was_left_out(self, digest: Digest, row: Issue) -> bool:
        """Whether the digest left the issue out before, and it hasn't changed since."""
        left_out = self.left_out.get(digest.id, {})
        return row.id in left_out and left_out[row.id] == _version(row)

    async def as_public(self, digest: Digest, content: Content) -> Content | Pause:
        """Return the part of a digest's content that is still public, or why there is none."""
        numbers = [issue.id for issue in content.issues]
        lists = [
            replace(
                plans.filters_of(digest.plan, self.now), issue_ids=tuple(numbers[start : start + PAGE_SIZE])
            )
            for start in range(0, len(numbers), PAGE_SIZE)
        ]
        few = asyncio.Semaphore(PAGES_AT_ONCE)  # people's own requests need connections, too

        async def page(filters: IssueFilters) -> Page[Issue]:
            async with few:
                return await self.client.list_issues(self.session.key, filters)

        projects, pages = await asyncio.gather(
            self._projects({digest.plan.project_id}), asyncio.gather(*map(page, lists))
        )
        project = _postable(digest, projects[digest.plan.project_id])
        if isinstance(project, Pause):
            return project

        rows = map(_without_description, chain.from_iterable(page.items for page in pages))
        passing = [row for row in rows if self._passes(digest, row)]
        public = {row.id: row for row in await self._may_show(digest, passing)}
        covered = {number: at for number, at in content.coverage.covered.items() if number in public}
        return replace(
            content,
            issues=tuple(public[number] for number in numbers if number in public),
            coverage=content.coverage.model_copy(update={"covered": covered}),
        )

    async def start_of(self, plan: Plan) -> Start:
        """Where a digest that is added now starts, in the service's time."""
        if plan.kind == "personal":
            mine, more = await self._first_rows(MINE)
            return Start(known_updates=plans.updates(mine, more=more))
        if plan.kind not in plans.HAPPENED:
            return Start()
        history = await self.history_of(plan)
        anything = replace(plan, filters={}, custom_fields=())
        with_time = TimeRange(until=self.now + AHEAD) if plan.kind == "closed" else None
        known = plans.filters_of(anything, self.now, with_time)
        latest = replace(known, project_id=None, subprojects=None, sort=plans.LATEST[plan.kind])

        page = await self.client.list_issues(self.session.key, latest, limit=1)
        newest = max(plans.times_of(plan.kind, page.items).values(), default=None)
        if newest is None:
            return Start(history=history)
        covered_to = min(newest, self.now)
        before = plans.filters_of(anything, self.now, since(covered_to))
        covered = plans.times_of(plan.kind, [row async for row in self._every(before)])
        return Start(covered_to=covered_to, covered=covered, history=history)

    async def missed(self, digest: Digest) -> Mapping[int, datetime]:
        """The issues that a live feed leaves out because they were opened while it was paused."""
        if not (digest.plan.live and digest.paused):
            return {}
        anything = plans.filters_of(replace(digest.plan, filters={}, custom_fields=()), self.now)
        opened = self._every(replace(anything, created_on=since(digest.covered_to)))
        return {row.id: row.created_on async for row in opened if row.created_on}

    async def history_of(self, plan: Plan) -> list[tuple[datetime, int]]:
        """How many issues were opened or closed in each of the last periods.

        Starts empty for custom fields and a saved query: the user who edits the digest may not see them.
        """
        if not plans.charted(plan):
            return []
        ends = schedules.ends_around(schedules.parse(plan.schedule), plan.zone, self.now)
        if not ends[:-1] or plan.custom_fields or plan.query:
            return []
        filters = plans.filters_of(plan, self.now, TimeRange(since=ends[0]))
        if (await self.client.list_issues(self.session.key, filters, limit=1)).total_count > MAX_COUNTED:
            return []
        rows = [row async for row in self._every(filters) if plans.passes(plan, row)]
        return schedules.counted(ends, (), plans.times_of(plan.kind, rows).values(), since=ends[0])

    async def _first_rows(
        self, filters: IssueFilters, passes: Callable[[Issue], bool] = lambda _: True
    ) -> tuple[list[Issue], bool]:
        """The first rows of a list, without descriptions, and whether there may be more."""
        rows: dict[int, Issue] = {}
        at = 0
        for _ in range(MAX_PAGES):
            page = await self.client.list_issues(self.session.key, filters, offset=at)
            if len(page.items) < page.total_count <= MAX_ROWS:  # none is skipped while the list changes
                return [row async for row in self._every(filters)], False
            rows |= {row.id: _without_description(row) for row in page.items}
            at += len(page.items)
            if not page.items or at >= page.total_count:
                return [*rows.values()], False
            if sum(map(passes, rows.values())) >= MAX_ROWS:
                break
        return [*rows.values()], True

    async def _every(self, filters: IssueFilters) -> AsyncIterator[Issue]:
        """All rows of a list, without descriptions, in the order of their IDs."""
        async for row in self.client.iter_issues(self.session.key, filters):
            yield _without_description(row)

    async def _may_show(self, digest: Digest, rows: list[Issue]) -> list[Issue]:
        """The rows without those of subprojects that aren't public."""
        if digest.direct or not digest.plan.subprojects:
            return rows
        own = digest.plan.project_id
        others = await self._projects({row.project.id for row in rows if row.project} - {own})
        public = {number for number, it in others.items() if isinstance(_postable(digest, it), Project)}
        return [row for row in rows if row.project and row.project.id in public | {own}]

    async def _projects(self, numbers: Collection[int]) -> dict[int, Project | Pause]:
        """Each project by its number, or why it can't be read anymore."""
        listed = {}
        if len(numbers) > FEW:
            listed = {project.id: project async for project in self.client.iter_projects(self.session.key)}
        projects: dict[int, Project | Pause] = {}
        for number in numbers:
            project = listed.get(number)
            if project is None or project.is_public is None:
                project = await visible_project(self.client, self.session, number)
            if project is None:
                projects[number] = Pause.PROJECT
            else:
                projects[number] = Pause.CLOSED if project.status == ProjectStatus.CLOSED else project
        return projects


def _postable(digest: Digest, project: Project | Pause) -> Project | Pause:
    """The project, if its issues may be posted, or why not."""
    if isinstance(project, Pause) or digest.direct:
        return project
    agreed = project.id == digest.agreed_project
    return project if agreed or is_public(project) else Pause.NOT_PUBLIC


def _without_description(row: Issue) -> Issue:
    return row.model_copy(update={"description": None})


def _version(row: Issue) -> str:
    """Differs after a change that may let the issue pass a filter, also within the same second."""
    return fingerprint(row.model_dump_json())


async def with_changes(
    access: Access,
    session: Session,
    content: Content,
    covered: Mapping[int, datetime],
    since: datetime | None = None,
) -> Content:
    """The content with only the issues whose status or assignee changed, and how, of the last
    PAGE_SIZE ones.

    `covered` is up to when changes of issues were posted, and `since` the same for the others. Issues whose
    history the service doesn't show stay.
    """
    few = asyncio.Semaphore(PAGES_AT_ONCE)  # people's own requests need connections, too

    async def changed(row: Issue) -> ReportedChanges | None:
        async with few:
            try:
                issue = await access.shared(Issues).detailed(session, row.id, HISTORY)
            except IssueNotFound:
                return None
            if issue.public_comments is None:
                return ReportedChanges((), {})
            changes = _between(issue, covered.get(row.id, since or NEVER))
            names = await names_of(access, session, issue, changes) if changes else {}
            return ReportedChanges(changes, names) if changes else None

    rows = content.issues[-PAGE_SIZE:]
    results = await asyncio.gather(*map(changed, rows))
    changes = {row.id: each for row, each in zip(rows, results, strict=True) if each}
    more = content.more or len(rows) < len(content.issues)
    listed = tuple(row for row in rows if row.id in changes)
    return replace(content, issues=listed, changes=changes, more=more)


def _between(issue: Issue, after: datetime) -> tuple[Change, ...]:
    """From what to what the status and the assignee changed after that."""
    later = [entry for entry in issue.public_history if entry.created_on and entry.created_on > after]
    return merged(chain.from_iterable(map(told_changes, later)))
