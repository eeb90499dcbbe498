"""Adds, lists, changes, pauses, resumes, takes over, removes and restores digests."""

import hashlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.errors import Forbidden, NotFound, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.digests.errors import (
    DigestNotNamed,
    DuplicateDigest,
    NeverDue,
    OwnerLostAccess,
    ProjectClosed,
    ProjectHidden,
    TimeZoneRemoved,
    TooManyDigests,
    TooOften,
    UnknownDigest,
)
from bot.features.digests.periods import counted, ends_around
from bot.features.digests.reading import filters_of, since
from bot.features.digests.schedules import Schedule, due_times, next_times, parse, shortest_gap
from bot.features.name_matching import pick
from bot.features.projects.catalog import Catalog, Catalogs
from bot.features.projects.projects import Projects
from bot.service.client import Client
from bot.service.conventions import ProjectStatus
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.service.models import Issue, Project, Ref
from bot.store.channels import Channel
from bot.store.digests import Choice, Covered, Digest, FilterKind, Group, Pause, Plan
from bot.store.owner import Owner
from bot.store.store import Store

SHOWN_TIMES = 3
PREVIEWED = timedelta(days=7)
ADD_CLAIM = timedelta(seconds=10)
"""How long a claim to add a digest keeps others from adding the same one."""
SHORTEST_GAP = timedelta(minutes=15)
MOST_IN_A_CHANNEL, MOST_OF_A_PERSON = 20, 50
MOST_COUNTED = 2000
"""If the history needs more issues than this, it starts empty."""


@dataclass(frozen=True, kw_only=True)
class DigestSettings:
    """A digest's settings as requested: names as typed, empty if not given."""

    project: str | None
    schedule: Schedule
    zone: str
    filters: Mapping[FilterKind, tuple[str, ...]] = field(default_factory=dict)
    group: Group = "tracker"
    empty: bool = False


@dataclass(frozen=True)
class Preview:
    """What a digest would have shown in the last PREVIEWED: the newest issues, and in how many posts.

    `more`: there are more issues than were read, so that `posts` is too low.
    """

    plan: Plan
    issues: tuple[Issue, ...]
    posts: int
    more: bool


@dataclass(frozen=True)
class Planned:
    """A digest, its next due times, and whether its project is public."""

    digest: Digest
    times: tuple[datetime, ...]
    public: bool


class Digests:
    """Channels' digests. Each runs with its owner's key."""

    def __init__(
        self,
        client: Client,
        store: Store,
        accounts: Accounts,
        projects: Projects,
        catalogs: Catalogs,
        *,
        shortest_gap: timedelta = SHORTEST_GAP,
    ) -> None:
        self._client = client
        self._store = store
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs
        self._shortest_gap = shortest_gap

    async def add(self, owner: Owner, channel: Channel, wanted: DigestSettings) -> Planned:
        """Add a digest for issues opened from now on.

        Raises UserError, also if the channel has the same digest, NotLinked and ServiceError.
        """
        self._require_gap(wanted.schedule)
        if len(await self.listed(channel)) >= MOST_IN_A_CHANNEL:
            raise TooManyDigests("channel", MOST_IN_A_CHANNEL)
        await self._require_room(owner)
        now = await self._store.digest_runs.now()
        async with self._accounts.reading(owner) as session:
            project = await self._projects.chosen(session, wanted.project, channel)
            if project.status == ProjectStatus.CLOSED:
                raise ProjectClosed(project.name)
            plan = await self._plan(session, project, wanted)
            covered_to, covered = await self._already_opened(session, project, now)
            history = await self._history(session, plan, wanted.schedule, now)
        times = _times(wanted.schedule, wanted.zone, now)
        adding = f"digest:add:{hashlib.sha256(repr((channel, plan)).encode()).hexdigest()}"
        if not await self._store.deliveries.claim_for(adding, ADD_CLAIM):
            raise DuplicateDigest(None)
        try:
            await self._require_new(channel, plan)
            digest = await self._store.digests.add(
                owner,
                session.name,
                channel.channel_id,
                plan,
                next_due=times[0],
                covered_to=covered_to,
                covered=covered,
                history=history,
                now=now,
            )
        finally:
            await self._store.deliveries.release(adding)
        return Planned(digest, times, project.is_public is True)

    async def change(self, user: Owner, digest: Digest, wanted: DigestSettings) -> Planned:
        """Change a digest's schedule and filters. Raises UserError, NotLinked, ServiceError."""
        self._require_gap(wanted.schedule)
        now = await self._store.digest_runs.now()
        async with self._accounts.reading(user) as session:
            project = await self._projects.by_id(session, digest.plan.project_id)
            plan = await self._plan(session, project, wanted)
            history = await self._history(session, plan, wanted.schedule, now)
        times = _times(wanted.schedule, wanted.zone, now)
        await self._store.digests.change(digest, plan, times[0], history)
        return Planned(await self._reloaded(digest), times, project.is_public is True)

    async def preview(self, user: Owner, wanted: DigestSettings, channel: Channel | None) -> Preview:
        """What a digest with these settings would have shown. Raises UserError, NotLinked, ServiceError."""
        async with self._accounts.reading(user) as session:
            project = await self._projects.chosen(session, wanted.project, channel)
            return await self._preview(session, await self._plan(session, project, wanted))

    async def preview_of(self, user: Owner, digest: Digest) -> Preview:
        """What a digest would have shown of the issues that `user` can see. Raises as `preview` does."""
        async with self._accounts.reading(user) as session:
            return await self._preview(session, digest.plan)

    async def _preview(self, session: Session, plan: Plan) -> Preview:
        now = await self._store.digest_runs.now()
        newest = (Sort("created_on", descending=True),)
        opened = replace(filters_of(plan, TimeRange(since=now - PREVIEWED)), sort=newest)
        page = await self._client.list_issues(session.key, opened)
        issues = tuple(issue for issue in page.items if not issue.is_private)
        due = due_times(parse(plan.schedule), plan.zone, now - PREVIEWED, now)
        posts = {bisect_left(due, issue.created_on) for issue in issues if issue.created_on}
        more = page.total_count > len(page.items)
        return Preview(plan, issues, len(due) if plan.empty else len(posts), more)

    async def listed(self, channel: Channel) -> tuple[Digest, ...]:
        """The channel's digests; everyone in it may see them."""
        return await self._store.digests.in_channel(channel.team_id, channel.channel_id)

    async def unlinked(self, owner: Owner) -> int:
        """Stop the digests of a user who unlinked their account; how many were active."""
        active = [digest for digest in await self.of_owner(owner) if not digest.paused]
        await self._store.digests.stop(owner, [one.id for one in active], Pause.KEY, tell_owner=False)
        return len(active)

    async def of_owner(self, owner: Owner) -> tuple[Digest, ...]:
        """The digests that run with the user's key, in all channels."""
        return await self._store.digests.of_owner(owner)

    async def one(self, user: Owner, channel: Channel | None, digest_id: int | None) -> Digest:
        """A digest that the user may act on: their own from anywhere, someone else's from its channel if
        they see its project. Without `digest_id`, the channel's only digest.

        Raises UserError if there is none or they may not act on it, NotLinked, ServiceError.
        """
        if digest_id is None:
            here = await self.listed(channel) if channel else ()
            if len(here) != 1:
                raise DigestNotNamed({digest.id: digest.plan.project for digest in here})
            digest_id = here[0].id
        digest = await self._store.digests.get(user.team_id, digest_id)
        return await self._allowed(user, channel, digest, UnknownDigest(digest_id))

    async def _allowed(
        self, user: Owner, channel: Channel | None, digest: Digest | None, otherwise: UnknownDigest
    ) -> Digest:
        """The digest, if the user may act on it. Raises `otherwise` if it isn't here."""
        there = channel is not None and digest is not None and digest.channel_id == channel.channel_id
        if digest is None or not (there or digest.owner == user):
            raise otherwise
        if digest.owner != user:
            async with self._accounts.reading(user) as session:
                await self._visible_project(session, digest)
        return digest

    async def pause(self, digest: Digest) -> Digest:
        """Pause a digest."""
        await self._store.digests.pause(digest)
        return await self._reloaded(digest)

    async def resume(self, user: Owner, digest: Digest) -> Planned:
        """Resume a digest; its next message includes the issues opened while it was paused.

        Raises UserError if its owner can't read the project, and ServiceError.
        """
        project = await self._owners_project(digest, user)
        times = self.times(digest, await self._store.digest_runs.now())
        if digest.paused:
            await self._store.digests.resume(digest, times[0])
        return Planned(await self._reloaded(digest), times, project.is_public is True)

    async def take_over(self, user: Owner, digest: Digest) -> Planned:
        """Make the user the owner; the digest runs with their key from now on. Raises UserError,
        ServiceError.
        """
        if digest.owner != user:
            await self._require_room(user)
        async with self._accounts.reading(user) as session:
            project = await self._visible_project(session, digest)
        times = self.times(digest, await self._store.digest_runs.now())
        await self._store.digests.take_over(digest, user, session.name, times[0])
        return Planned(await self._reloaded(digest), times, project.is_public is True)

    async def remove(self, digest: Digest) -> None:
        """Remove a digest."""
        await self._store.digests.remove(digest)

    async def removed(self, user: Owner, channel: Channel | None, digest_id: int) -> Digest:
        """A digest removed within the last day, if the user may act on it. Raises as `one` does."""
        digest = await self._store.digests.removed(user.team_id, digest_id)
        return await self._allowed(user, channel, digest, UnknownDigest(digest_id, restoring=True))

    async def restore(self, digest: Digest) -> Digest:
        """Restore a removed digest. Raises DuplicateDigest."""
        await self._require_new(Channel(digest.owner.team_id, digest.channel_id), digest.plan)
        next_due = None
        if not digest.paused:
            next_due = self.times(digest, await self._store.digest_runs.now())[0]
        await self._store.digests.restore(digest, next_due)
        return await self._reloaded(digest)

    async def choices(self, user: Owner, project_id: int) -> Mapping[FilterKind, Sequence[Ref]]:
        """What a project's digests can be filtered by. Raises NotLinked, ServiceError."""
        async with self._accounts.reading(user) as session:
            return choices_of(await self._catalogs.of(session, project_id))

    def times(self, digest: Digest, after: datetime) -> tuple[datetime, ...]:
        """The digest's next due times if it were active."""
        return _times(parse(digest.plan.schedule), digest.plan.zone, after)

    def _require_gap(self, schedule: Schedule) -> None:
        if shortest_gap(schedule) < self._shortest_gap:
            raise TooOften(self._shortest_gap)

    async def _require_room(self, owner: Owner) -> None:
        if len(await self.of_owner(owner)) >= MOST_OF_A_PERSON:
            raise TooManyDigests("owner", MOST_OF_A_PERSON)

    async def _require_new(self, channel: Channel, plan: Plan) -> None:
        for other in await self.listed(channel):
            if other.plan == plan:
                raise DuplicateDigest(other.id)

    async def _reloaded(self, digest: Digest) -> Digest:
        return await self._store.digests.get(digest.owner.team_id, digest.id) or digest

    async def _visible_project(self, session: Session, digest: Digest) -> Project:
        try:
            return await self._client.get_project(session.key, digest.plan.project_id)
        except (Forbidden, NotFound):
            owner = None if session.owner == digest.owner else digest.owner_name
            raise ProjectHidden(digest.plan.project, digest.id, owner) from None

    async def _owners_project(self, digest: Digest, user: Owner) -> Project:
        try:
            async with self._accounts.reading(digest.owner) as session:
                project = await self._visible_project(session, digest)
        except UserError as error:
            if user == digest.owner:
                raise
            raise OwnerLostAccess(digest.id, digest.owner_name, digest.plan.project) from error
        if project.status == ProjectStatus.CLOSED:
            raise ProjectClosed(project.name)
        return project

    async def _plan(self, session: Session, project: Project, wanted: DigestSettings) -> Plan:
        filters: dict[FilterKind, tuple[Choice, ...]] = {}
        if wanted.filters:
            known = choices_of(await self._catalogs.of(session, project.id))
            for kind, names in wanted.filters.items():
                filters[kind] = tuple(picked(kind, name, known) for name in names)
        return Plan(
            project_id=project.id,
            project=project.name,
            schedule=wanted.schedule.text,
            zone=wanted.zone,
            group=wanted.group,
            empty=wanted.empty,
            filters=filters,
        )

    async def _already_opened(
        self, session: Session, project: Project, now: datetime
    ) -> tuple[datetime | None, list[Covered]]:
        """Where a new digest starts, in the service's time, and the older issues that it skips."""
        latest = IssueFilters(status="any", sort=(Sort("created_on", descending=True),))
        page = await self._client.list_issues(session.key, latest, limit=1)
        newest = max((row.created_on for row in page.items if row.created_on), default=None)
        covered_to = min(newest, now) if newest else None
        if covered_to is None:
            return None, []
        before = IssueFilters(
            project_id=project.id, subprojects="none", status="any", created_on=since(covered_to)
        )
        rows = [row async for row in self._client.iter_issues(session.key, before)]
        return covered_to, [Covered(row.id, row.created_on) for row in rows if row.created_on]

    async def _history(
        self, session: Session, plan: Plan, schedule: Schedule, now: datetime
    ) -> list[tuple[datetime, int]]:
        """How many issues were opened in the last periods, for the first message's chart."""
        ends = ends_around(schedule, plan.zone, now)
        if not ends[:-1]:
            return []
        filters = filters_of(plan, TimeRange(since=ends[0]))
        if (await self._client.list_issues(session.key, filters, limit=1)).total_count > MOST_COUNTED:
            return []
        rows = [row async for row in self._client.iter_issues(session.key, filters)]
        opened = [row.created_on for row in rows if row.created_on and not row.is_private]
        return counted(ends, (), opened, since=ends[0])


def _times(schedule: Schedule, zone: str, after: datetime) -> tuple[datetime, ...]:
    try:
        times = next_times(schedule, zone, after, SHOWN_TIMES)
    except (KeyError, ValueError):  # from zoneinfo: a system update removed the zone
        raise TimeZoneRemoved(zone) from None
    if not times:
        raise NeverDue(zone)
    return times


def choices_of(catalog: Catalog) -> Mapping[FilterKind, Sequence[Ref]]:
    """What a digest can be filtered by."""
    return {"tracker": catalog.trackers, "priority": catalog.priorities, "category": catalog.categories}


def picked(kind: FilterKind, name: str, known: Mapping[FilterKind, Sequence[Ref]]) -> Choice:
    """The choice that a user named. Raises UserError."""
    ref = pick(kind, name, known[kind])
    return Choice(ref.id, ref.name)
