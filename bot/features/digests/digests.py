"""Adds, lists, changes, pauses, resumes, takes over, removes and restores digests."""

import hashlib
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.errors import Forbidden, NotFound, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.digests import kinds
from bot.features.digests.errors import (
    DigestNotNamed,
    DuplicateDigest,
    NeverDue,
    NotAgreed,
    OwnerLostAccess,
    ProjectClosed,
    ProjectHidden,
    TimeZoneRemoved,
    TooManyDigests,
    TooOften,
    UnknownDigest,
)
from bot.features.digests.plans import DigestSettings, Plans
from bot.features.digests.reading import MINE
from bot.features.digests.schedules import Schedule, due_times, next_times, parse, shortest_gap
from bot.features.digests.starts import history_of, start_of
from bot.features.issues.publicity import may_show
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import KnownProject, Projects
from bot.features.users.people import People
from bot.service.client import Client
from bot.service.conventions import ProjectStatus
from bot.service.filters import TimeRange
from bot.service.models import Issue, Project, Ref
from bot.store.channels import Channel
from bot.store.digest_plans import FilterKind, Plan
from bot.store.digests import Digest, Pause, Start
from bot.store.owner import Owner
from bot.store.store import Store

SHOWN_TIMES = 3
PREVIEWED = timedelta(days=7)
SHORTEST_GAP = timedelta(minutes=15)
MOST_IN_A_CHANNEL, MOST_OF_A_PERSON = 20, 50
PERSONAL = "My issues"
"""The name of a personal digest, in place of a project's."""


@dataclass(frozen=True)
class Preview:
    """What a digest would show now, or would have shown in the last PREVIEWED: the first issues, and in how
    many posts, for new and closed issues.

    `more`: there are more issues than were read, so that `posts` is too low.
    """

    plan: Plan
    issues: tuple[Issue, ...]
    posts: int
    more: bool
    now: datetime


@dataclass(frozen=True)
class Planned:
    """A digest and its next due times."""

    digest: Digest
    times: tuple[datetime, ...]


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
        self.plans = Plans(catalogs, People(store, catalogs))
        self._shortest_gap = shortest_gap

    async def add(self, owner: Owner, channel: Channel, wanted: DigestSettings) -> Planned:
        """Add a digest; one of new or closed issues lists those from now on. Naming a project that isn't
        public agrees to show it, and the answer says so.

        Raises UserError, also if the channel has the same digest, NotLinked and ServiceError.
        """
        self._require_gap(wanted.schedule)
        if len(await self.listed(channel)) >= MOST_IN_A_CHANNEL:
            raise TooManyDigests("channel", MOST_IN_A_CHANNEL)
        await self._require_room(owner)
        now = await self._store.digest_runs.now()
        async with self._accounts.reading(owner) as session:
            chosen = await self._projects.chosen(session, wanted.project, channel)
            read = await self._client.get_project(session.key, chosen.id)
            project, agreed = KnownProject.of(read), None if may_show(read, None) else read.id
            if project.status == ProjectStatus.CLOSED:
                raise ProjectClosed(project.name)
            plan = await self.plans.of(session, project, wanted)
            start = await start_of(self._client, session, plan, now)
        adding = f"digest:add:{hashlib.sha256(repr((channel, plan)).encode()).hexdigest()}"
        async with self._store.claims.hold(adding, kept=timedelta(0)) as claim:
            if not claim.won:
                raise DuplicateDigest(None)
            await self._require_new(channel, plan)
            planned = await self._stored(session, channel, plan, start, agreed_project=agreed)
        if planned is None:
            raise DuplicateDigest(None)
        return planned

    async def _stored(
        self,
        session: Session,
        channel: Channel,
        plan: Plan,
        start: Start,
        agreed_project: int | None = None,
    ) -> Planned | None:
        """The stored digest; None if it is personal and the owner has one."""
        now = await self._store.digest_runs.now()
        times = _times(parse(plan.schedule), plan.zone, now)
        digest = await self._store.digests.add(
            session.owner,
            session.name,
            channel.channel_id,
            plan,
            next_due=times[0],
            start=start,
            now=now,
            agreed_project=agreed_project,
        )
        return Planned(digest, times) if digest else None

    async def personal(self, owner: Owner) -> Digest | None:
        """The user's personal digest, if they have one."""
        return next((digest for digest in await self._store.digests.of_owner(owner) if digest.personal), None)

    async def set_up_personal(self, owner: Owner, channel: Channel, schedule: Schedule, zone: str) -> Planned:
        """Add the user's personal digest, in their direct messages, or change its schedule.

        Raises UserError, NotLinked and ServiceError.
        """
        wanted = DigestSettings(project=None, schedule=schedule, zone=zone)
        if (digest := await self.personal(owner)) is not None:
            return await self.change(owner, digest, wanted)
        self._require_gap(schedule)
        await self._require_room(owner)
        plan = Plan(kind="personal", project_id=0, project=PERSONAL, schedule=schedule.text, zone=zone)
        now = await self._store.digest_runs.now()
        async with self._accounts.reading(owner) as session:
            start = await start_of(self._client, session, plan, now)
        planned = await self._stored(session, channel, plan, start)
        if planned is None:  # another request set it up in the meantime; the later schedule counts
            return await self.set_up_personal(owner, channel, schedule, zone)
        return planned

    async def change(self, user: Owner, digest: Digest, wanted: DigestSettings) -> Planned:
        """Change a digest's settings; of another kind, it begins anew.

        A personal digest keeps everything but its schedule. Raises UserError, NotLinked, ServiceError.
        """
        self._require_gap(wanted.schedule)
        now = await self._store.digest_runs.now()
        times = _times(wanted.schedule, wanted.zone, now)
        if digest.personal:
            plan = replace(digest.plan, schedule=wanted.schedule.text, zone=wanted.zone)
            await self._store.digests.change(digest, plan, times[0], ())
            return Planned(await self._reloaded(digest), times)
        async with self._accounts.reading(user) as session:
            project = await self._projects.by_id(session, digest.plan.project_id)
            plan = await self.plans.of(session, project, wanted, before=digest.plan)
            start = None
            if plan.kind != digest.plan.kind:
                start = await start_of(self._client, session, plan, now)
            history = start.history if start else await history_of(self._client, session, plan, now)
        await self._store.digests.change(digest, plan, times[0], history, start=start, now=now)
        return Planned(await self._reloaded(digest), times)

    async def preview(
        self, user: Owner, wanted: DigestSettings, channel: Channel | None, before: Plan | None = None
    ) -> Preview:
        """What a digest with these settings would have shown; `before` are its settings now, if it exists.

        Raises UserError, NotLinked, ServiceError.
        """
        async with self._accounts.reading(user) as session:
            project = await self._projects.chosen(session, wanted.project, channel)
            return await self._preview(session, await self.plans.of(session, project, wanted, before=before))

    async def preview_of(self, user: Owner, digest: Digest) -> Preview:
        """What a digest would have shown of the issues that `user` can see. Raises as `preview` does."""
        async with self._accounts.reading(user) as session:
            return await self._preview(session, digest.plan)

    async def _preview(self, session: Session, plan: Plan) -> Preview:
        now = await self._store.digest_runs.now()
        filters = kinds.filters_of(plan, now, TimeRange(since=now - PREVIEWED))
        page = await self._client.list_issues(session.key, replace(filters, sort=kinds.LATEST[plan.kind]))
        issues = tuple(issue for issue in page.items if kinds.passes(plan, issue))
        more = page.total_count > len(page.items)
        if plan.kind not in kinds.HAPPENED:
            return Preview(plan, issues, 0, more, now)
        due = due_times(parse(plan.schedule), plan.zone, now - PREVIEWED, now)
        posts = {bisect_left(due, at) for issue in issues if (at := kinds.happened(plan.kind, issue))}
        return Preview(plan, issues, len(due) if plan.empty else len(posts), more, now)

    async def listed(self, channel: Channel) -> tuple[Digest, ...]:
        """The channel's digests; everyone in it may see them."""
        return await self._store.digests.in_channel(channel.team_id, channel.channel_id)

    async def unlinked(self, owner: Owner) -> int:
        """Stop the digests of a user who unlinked their account; how many were active."""
        active = [digest for digest in await self._store.digests.of_owner(owner) if not digest.paused]
        await self._store.digests.stop(owner, [one.id for one in active], Pause.KEY, tell_owner=False)
        return len(active)

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
        if digest is None or not (digest.owner == user or (there and not digest.personal)):
            raise otherwise
        if digest.owner != user:
            async with self._accounts.reading(user) as session:
                await self._visible_project(session, digest)
        return digest

    async def pause(self, digest: Digest) -> Digest:
        """Pause a digest."""
        await self._store.digests.pause(digest)
        return await self._reloaded(digest)

    async def resume(self, user: Owner, digest: Digest, exposed: int | None = None) -> Planned:
        """Resume a digest; its next message includes the issues opened while it was paused.

        `exposed` is the project that isn't public which the user agrees to show. Raises NotAgreed, UserError
        if its owner can't read the project, and ServiceError.
        """
        agreed = digest.agreed_project
        if (project := await self._readable(digest, user)) is not None:
            mine = user == digest.owner
            known = {agreed, exposed} if mine else {agreed}
            agreed = _agreement(digest, project, known, None if mine else digest.owner_name) or agreed
        times = self.times(digest, await self._store.digest_runs.now())
        if digest.paused or agreed != digest.agreed_project:
            await self._store.digests.resume(digest, times[0], agreed)
        return Planned(await self._reloaded(digest), times)

    async def take_over(self, user: Owner, digest: Digest, exposed: int | None = None) -> Planned:
        """Make the user the owner; the digest runs with their key from now on.

        `exposed` as in `resume`. Raises NotAgreed, the other UserErrors, ServiceError.
        """
        if digest.owner != user:
            await self._require_room(user)
        async with self._accounts.reading(user) as session:
            project = await self._visible_project(session, digest)
        agreed = _agreement(digest, project, {exposed})
        times = self.times(digest, await self._store.digest_runs.now())
        await self._store.digests.take_over(digest, user, session.name, times[0], agreed)
        return Planned(await self._reloaded(digest), times)

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
        if not await self._store.digests.restore(digest, next_due):
            raise DuplicateDigest(None)
        return await self._reloaded(digest)

    async def choices(self, user: Owner, project_id: int) -> Mapping[FilterKind, Sequence[Ref]]:
        """What a project's digests can be filtered by. Raises NotLinked, ServiceError."""
        async with self._accounts.reading(user) as session:
            return await self.plans.choices(session, project_id)

    def times(self, digest: Digest, after: datetime) -> tuple[datetime, ...]:
        """The digest's next due times if it were active."""
        return _times(parse(digest.plan.schedule), digest.plan.zone, after)

    def _require_gap(self, schedule: Schedule) -> None:
        if shortest_gap(schedule) < self._shortest_gap:
            raise TooOften(self._shortest_gap)

    async def _require_room(self, owner: Owner) -> None:
        if len(await self._store.digests.of_owner(owner)) >= MOST_OF_A_PERSON:
            raise TooManyDigests("owner", MOST_OF_A_PERSON)

    async def _require_new(self, channel: Channel, plan: Plan) -> None:
        for other in await self.listed(channel):
            if other.plan == plan or (other.personal and plan.kind == "personal"):
                raise DuplicateDigest(other.id)

    async def _reloaded(self, digest: Digest) -> Digest:
        return await self._store.digests.get(digest.owner.team_id, digest.id) or digest

    async def _visible_project(self, session: Session, digest: Digest) -> Project:
        try:
            return await self._client.get_project(session.key, digest.plan.project_id)
        except (Forbidden, NotFound):
            owner = None if session.owner == digest.owner else digest.owner_name
            raise ProjectHidden(digest.plan.project, digest.id, owner) from None

    async def _readable(self, digest: Digest, user: Owner) -> Project | None:
        """The digest's project, if it has one. Raises UserError if the owner can't read what it lists."""
        try:
            async with self._accounts.reading(digest.owner) as session:
                if digest.personal:
                    await self._client.list_issues(session.key, MINE, limit=1)
                    return None
                project = await self._visible_project(session, digest)
        except UserError as error:
            if user == digest.owner:
                raise
            raise OwnerLostAccess(digest.id, digest.owner_name, digest.plan.project) from error
        if project.status == ProjectStatus.CLOSED:
            raise ProjectClosed(project.name)
        return project


def _agreement(
    digest: Digest, project: Project, agreed: Collection[int | None], owner: str | None = None
) -> int | None:
    """The project that has to be agreed to, if it has, and is. Raises NotAgreed; `owner` as there."""
    if digest.direct or may_show(project, None):
        return None
    if project.id not in agreed:
        raise NotAgreed(digest.id, project.name, owner)
    return project.id


def _times(schedule: Schedule, zone: str, after: datetime) -> tuple[datetime, ...]:
    try:
        times = next_times(schedule, zone, after, SHOWN_TIMES)
    except (KeyError, ValueError):  # from zoneinfo: a system update removed the zone
        raise TimeZoneRemoved(zone) from None
    if not times:
        raise NeverDue(zone)
    return times
