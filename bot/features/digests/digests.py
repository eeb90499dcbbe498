"""Adds, lists, changes, pauses, resumes, takes over, removes and restores digests."""

import hashlib
from bisect import bisect_left
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.projects import KnownProject
from bot.errors import FilterIgnored, Forbidden, NotFound, Offer, UserError, WrongField
from bot.features.digests import plans
from bot.features.digests.plans import PlanDraft, Plans, rows_in_query
from bot.features.digests.reading import MINE, Content, DigestReader, with_changes
from bot.features.digests.schedules import ScheduleError, due_times, needed, next_times, parse, shortest_gap
from bot.features.issues.publicity import is_public
from bot.service.conventions import ProjectStatus
from bot.service.filters import TimeRange
from bot.service.models import Project, Ref
from bot.spelling import series
from bot.store.channels import Channel
from bot.store.digests import Digest, Start
from bot.store.owner import Owner
from bot.store.plans import FilterKind, Plan

SHOWN_TIMES = 3
PREVIEW_PERIOD = timedelta(days=7)
SHORTEST_GAP = timedelta(minutes=15)
MAX_IN_A_CHANNEL, MAX_OF_A_PERSON = 20, 50
PERSONAL = "My issues"  # the name of a personal digest, in place of a project's


class NotAgreed(UserError):
    """The digest's project isn't public, and the user, its owner, hasn't agreed to show it."""

    digest: int
    project: str
    says = "{project} isn't public. To show its issues in the channel: `{/digest} resume {digest}`."


def being_added() -> UserError:
    return UserError("That digest is already being added. Type `{/digest}` to see it.")


def project_closed(project: str) -> UserError:
    return UserError(
        "{project} is closed, so it gets no new issues. Choose another project.", project=project
    )


def owner_lost_access(digest: Digest) -> UserError:
    """The error for someone else's digest whose owner can't read it anymore, maybe because of their key."""
    return UserError(
        "{owner}, who owns this digest, can't see {project} anymore. To take ownership: "
        "`{/digest} take over {digest}`.",
        owner=digest.owner_name,
        project=digest.plan.project,
        digest=digest.id,
    )


@dataclass(frozen=True)
class Preview:
    """What a digest would show now, or would have shown in the last PREVIEW_PERIOD, in how many posts."""

    plan: Plan
    content: Content
    posts: int
    now: datetime


@dataclass(frozen=True)
class Planned:
    digest: Digest
    times: tuple[datetime, ...]


class Digests:
    """Channels' digests. Each runs with its owner's key."""

    def __init__(self, access: Access) -> None:
        self._access, self._client, self._store = access, access.client, access.store
        self._accounts, self._projects = access.accounts, access.projects
        self.plans = Plans(access.catalogs, access.people)

    async def add(self, owner: Owner, channel: Channel, draft: PlanDraft) -> Planned:
        """Add a digest; one of new or closed issues lists those from now on. Naming a project that isn't
        public agrees to show it, and the reply says so.

        Raises UserError, also if the channel has the same digest, NotLinked and ServiceError.
        """
        self._require_schedule(draft.plan)
        if len(await self._store.digests.in_channel(channel)) >= MAX_IN_A_CHANNEL:
            raise UserError(
                "This channel already has {most} digests, the maximum. Remove one with `{/digest}`.",
                most=MAX_IN_A_CHANNEL,
            )
        await self._require_room(owner)
        now = await self._store.processes.now()
        async with self._accounts.reading(owner) as session:
            chosen = await self._projects.chosen(session, draft.project, channel)
            read = await self._client.get_project(session.key, chosen.id)
            project, agreed_project = KnownProject.of(read), None if is_public(read) else read.id
            if project.status == ProjectStatus.CLOSED:
                raise project_closed(project.name)
            plan = await self._resolved(session, project, draft)
            await self._check(session, plan)
            start = await DigestReader(self._client, session, now).start_of(plan)
        async with self._adding(channel, plan):
            planned = await self._stored(session, channel, plan, start, agreed_project=agreed_project)
        if planned is None:
            raise being_added()
        return planned

    async def _stored(
        self, session: Session, channel: Channel, plan: Plan, start: Start, agreed_project: int | None = None
    ) -> Planned | None:
        """The stored digest; None if it is personal and the owner has one."""
        now = await self._store.processes.now()
        times = _times(plan, now)
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
        return next((digest for digest in await self._store.digests.of_owner(owner) if digest.personal), None)

    async def set_up_personal(self, owner: Owner, channel: Channel, plan: Plan) -> Planned:
        """Add the user's personal digest, in their direct messages, or change its schedule to that of `plan`.

        Raises UserError, NotLinked and ServiceError.
        """
        plan = Plan(kind="personal", project=PERSONAL, schedule=plan.schedule, zone=plan.zone)
        if (digest := await self.personal(owner)) is not None:
            return await self.change(owner, digest, PlanDraft(plan=plan))
        self._require_schedule(plan)
        await self._require_room(owner)
        now = await self._store.processes.now()
        async with self._accounts.reading(owner) as session:
            start = await DigestReader(self._client, session, now).start_of(plan)
        planned = await self._stored(session, channel, plan, start)
        if planned is None:  # another request set it up in the meantime; the later schedule counts
            return await self.set_up_personal(owner, channel, plan)
        return planned

    async def change(self, user: Owner, digest: Digest, draft: PlanDraft) -> Planned:
        """Change a digest's settings; a change of its kind, to live or from it, starts it over.

        A personal digest keeps everything but its schedule. Raises UserError, NotLinked, ServiceError.
        """
        self._require_schedule(draft.plan)
        now = await self._store.processes.now()
        times = _times(draft.plan, now)
        if digest.personal:
            plan = replace(digest.plan, schedule=draft.plan.schedule, zone=draft.plan.zone)
            await self._store.digests.change(digest, plan, times[0], ())
            return Planned(await self._reloaded(digest), times)
        async with self._accounts.reading(user) as session:
            project = await self._projects.by_id(session, digest.plan.project_id)
            plan = await self._resolved(session, project, draft)
            reader = DigestReader(self._client, session, now)
            restarts = (plan.kind, plan.live) != (digest.plan.kind, digest.plan.live)
            if (plan.custom_fields, plan.query) != (digest.plan.custom_fields, digest.plan.query):
                await self._check(session, plan)
            start = await reader.start_of(plan) if restarts else None
            history = start.history if start else await reader.history_of(plan)
        async with (
            self._adding(digest.channel, plan) if plan.live and not digest.plan.live else nullcontext()
        ):
            await self._store.digests.change(digest, plan, times[0], history, start=start, now=now)
        return Planned(await self._reloaded(digest), times)

    async def preview(self, user: Owner, draft: PlanDraft, channel: Channel | None) -> Preview:
        """What a digest with this plan would have shown. Raises UserError, NotLinked, ServiceError."""
        now = await self._store.processes.now()
        async with self._accounts.reading(user) as session:
            project = await self._projects.chosen(session, draft.project, channel)
            plan = await self._resolved(session, project, draft)
            await self._check(session, plan)

            filters = plans.filters_of(plan, now, TimeRange(since=now - PREVIEW_PERIOD))
            latest = replace(filters, sort=plans.LATEST[plan.kind])
            page = await self._client.list_issues(session.key, latest)
            passing = [issue for issue in page.items if plans.passes(plan, issue)]
            rows, cut = await rows_in_query(self._client, session, plan, passing)
            more = cut or page.total_count > len(page.items)
            content = Content(project=plan.project, issues=tuple(rows), more=more)
            if plan.kind == "changed":
                content = await with_changes(self._access, session, content, {}, now - PREVIEW_PERIOD)
        if plan.kind not in plans.HAPPENED or plan.live:
            return Preview(plan, content, 0, now)
        due = due_times(parse(plan.schedule), plan.zone, now - PREVIEW_PERIOD, now)
        posts = {bisect_left(due, at) for row in content.issues if (at := plans.happened(plan.kind, row))}
        return Preview(plan, content, len(due) if plan.empty else len(posts), now)

    async def _resolved(self, session: Session, project: KnownProject, draft: PlanDraft) -> Plan:
        """The draft's plan. Raises UserError for a name that can't be resolved, and ServiceError."""
        plan, problems = await self.plans.of(session, project, draft)
        if problems:
            raise problems[0]
        return plan

    async def one(self, user: Owner, channel: Channel | None, digest_id: int) -> Digest:
        """A digest that the user may act on: their own from anywhere, someone else's from its channel if
        they see its project.

        Raises UserError if there is none or they may not act on it, NotLinked, ServiceError.
        """
        digest = await self._store.digests.get(user.team_id, digest_id)
        missing = UserError(
            "There's no digest {digest} here. Type `{/digest}` to see this channel's digests.",
            digest=digest_id,
            offers=[Offer("Show digests", "list")],
        )
        return await self._allowed(user, channel, digest, missing)

    async def _allowed(
        self, user: Owner, channel: Channel | None, digest: Digest | None, otherwise: UserError
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
        await self._store.digests.pause(digest)
        return await self._reloaded(digest)

    async def resume(self, user: Owner, digest: Digest, agreed_project: int | None = None) -> Planned:
        """Resume a digest; its next message has what was opened meanwhile, except in a live feed.

        `agreed_project` is the project that isn't public which the user agrees to show. Raises NotAgreed,
        UserError if its owner can't read the project, and ServiceError.
        """
        before = agreed = digest.agreed_project
        project, missed = await self._readable(digest, user)
        if project is not None:
            mine = user == digest.owner
            known = {before, agreed_project} if mine else {before}
            agreed = _agreement(digest, project, known, None if mine else digest.owner_name) or before
        times = _times(digest.plan, await self._store.processes.now())
        if digest.paused or agreed != before:
            await self._store.digests.resume(digest, times[0], agreed, missed)
        return Planned(await self._reloaded(digest), times)

    async def take_ownership(self, user: Owner, digest: Digest, agreed_project: int | None = None) -> Planned:
        """Make the user the owner; the digest runs with their key from now on.

        `agreed_project` as in `resume`. Raises NotAgreed, the other UserErrors, ServiceError.
        """
        if digest.personal:
            raise UserError("Digest {digest} is already yours.", digest=digest.id)
        if digest.owner != user:
            await self._require_room(user)
        async with self._accounts.reading(user) as session:
            project, missed = await self._read(session, digest)
        agreed = _agreement(digest, project, {agreed_project})
        times = _times(digest.plan, await self._store.processes.now())
        await self._store.digests.take_ownership(
            digest, user, session.name, times[0], agreed_project=agreed, missed=missed
        )
        return Planned(await self._reloaded(digest), times)

    async def removed(self, user: Owner, channel: Channel | None, digest_id: int) -> Digest:
        """A digest removed within the last day, if the user may act on it. Raises the errors of `one`."""
        digest = await self._store.digests.removed(user.team_id, digest_id)
        unknown = UserError(
            "Digest {digest} can't be restored anymore. Type `{/digest}` to see this channel's digests.",
            digest=digest_id,
        )
        return await self._allowed(user, channel, digest, unknown)

    async def restore(self, digest: Digest) -> Digest:
        """Restore a removed digest. Raises UserError."""
        next_due = None if digest.paused else _times(digest.plan, await self._store.processes.now())[0]
        async with self._adding(digest.channel, digest.plan):
            if not await self._store.digests.restore(digest, next_due):
                raise being_added()
        return await self._reloaded(digest)

    async def choices(self, user: Owner, project_id: int) -> Mapping[FilterKind, Sequence[Ref]]:
        """What a project's digests can be filtered by."""
        async with self._accounts.reading(user) as session:
            return await self.plans.choices(session, project_id)

    @staticmethod
    def _require_schedule(plan: Plan) -> None:
        """Raises ScheduleError if a digest of that kind can't post on the plan's schedule."""
        if plan.live and plan.kind == "personal":
            raise needed()
        if plan.live and (plan.kind != "new" or plan.empty):
            raise ScheduleError(
                "A live feed posts new issues only. For other issues, or empty digests, choose another "
                "schedule, like `daily 9`."
            )
        if not plan.live and shortest_gap(parse(plan.schedule)) < SHORTEST_GAP:
            raise ScheduleError(
                "A digest can post at most once every {minutes} minutes. "
                "Choose a less frequent schedule, like `hourly`.",
                minutes=SHORTEST_GAP // timedelta(minutes=1),
            )

    async def _require_room(self, owner: Owner) -> None:
        if len(await self._store.digests.of_owner(owner)) >= MAX_OF_A_PERSON:
            raise UserError(
                "You already own {most} digests, the maximum. Remove one with `{/digest}` in its channel.",
                most=MAX_OF_A_PERSON,
            )

    @asynccontextmanager
    async def _adding(self, channel: Channel, plan: Plan) -> AsyncIterator[None]:
        """Hold a digest's place in its channel for the block that adds it. Raises UserError if it's taken."""
        what = (channel, plan.project_id if plan.live else plan)
        adding = f"digest:add:{hashlib.sha256(repr(what).encode()).hexdigest()}"
        async with self._store.claims.hold(adding, repeats_after=timedelta(0)) as claim:
            if not claim.won:
                raise being_added()
            for other in await self._store.digests.in_channel(channel):
                if other.plan == plan or (other.personal and plan.kind == "personal"):
                    raise UserError(
                        "This channel already has that digest. It's number {digest} in `{/digest}`.",
                        digest=other.id,
                    )
                if other.plan.live and plan.live and other.plan.project_id == plan.project_id:
                    raise UserError(
                        "This channel already has a live feed of {project}. To change its filters: "
                        "`{/digest} change {digest}`.",
                        project=other.plan.project,
                        digest=other.id,
                    )
            yield

    async def _reloaded(self, digest: Digest) -> Digest:
        return await self._store.digests.get(digest.owner.team_id, digest.id) or digest

    async def _visible_project(self, session: Session, digest: Digest) -> Project:
        try:
            return await self._client.get_project(session.key, digest.plan.project_id)
        except (Forbidden, NotFound):
            if session.owner == digest.owner:
                raise UserError(
                    "You can't see {project} in {service}. Ask a project manager for access.",
                    project=digest.plan.project,
                ) from None
            raise UserError(
                "You can't see {project} in {service}. Ask {owner}, who owns digest {digest}.",
                project=digest.plan.project,
                owner=digest.owner_name,
                digest=digest.id,
            ) from None

    async def _check(self, session: Session, plan: Plan, who: str = "You") -> None:
        """Raises WrongField unless the service filters by the plan's custom fields and saved query."""
        try:
            if plan.custom_fields:
                await self._client.list_issues(session.key, plans.with_custom_fields(plan))
            if plan.query:
                await self._client.list_issues(session.key, plans.in_query(plan), limit=1)
        except ValueError as why:
            error = UserError("I can't filter by that: {reason}.", reason=why)
        except FilterIgnored:
            names = series([one.name for one in plan.custom_fields])
            error = UserError("{service} can't filter by {names}. Remove that filter.", names=names)
        except (Forbidden, NotFound):
            error = UserError(
                "{who} can't see saved query {query} in {project}. Use another one or remove it.",
                who=who,
                query=plan.query,
                project=plan.project,
            )
        else:
            return
        raise WrongField("more", error)

    async def _read(
        self, session: Session, digest: Digest, who: str = "You"
    ) -> tuple[Project, Mapping[int, datetime]]:
        """The digest's project, and what a live feed has missed. Raises UserError if `who` can't read what it
        lists.
        """
        project = await self._visible_project(session, digest)
        await self._check(session, digest.plan, who)
        now = await self._store.processes.now()
        return project, await DigestReader(self._client, session, now).missed(digest)

    async def _readable(self, digest: Digest, user: Owner) -> tuple[Project | None, Mapping[int, datetime]]:
        """The digest's project, if it has one, and what a live feed has missed. Raises UserError if the owner
        can't read what it lists.
        """
        who = "You" if user == digest.owner else digest.owner_name
        try:
            async with self._accounts.reading(digest.owner) as session:
                if digest.personal:
                    await self._client.list_issues(session.key, MINE, limit=1)
                    return None, {}
                project, missed = await self._read(session, digest, who)
        except UserError as error:
            if user == digest.owner or isinstance(error, WrongField):
                raise
            raise owner_lost_access(digest) from error
        if project.status == ProjectStatus.CLOSED:
            raise project_closed(project.name)
        return project, missed


def _agreement(
    digest: Digest, project: Project, agreed_projects: Collection[int | None], owner: str | None = None
) -> int | None:
    """The project that has to be agreed to, if it has, and is.

    Raises NotAgreed, or UserError if only someone else can agree: the digest's `owner`.
    """
    if digest.direct or is_public(project):
        return None
    if project.id not in agreed_projects:
        if owner is None:
            raise NotAgreed(digest.id, project.name)
        raise UserError(
            "{project} isn't public, and only {owner} can agree to show it here. To take ownership: "
            "`{/digest} take over {digest}`.",
            project=project.name,
            owner=owner,
            digest=digest.id,
        )
    return project.id


def _times(plan: Plan, after: datetime) -> tuple[datetime, ...]:
    times = next_times(parse(plan.schedule), plan.zone, after, SHOWN_TIMES)
    if not times:
        raise ScheduleError("That schedule never runs in {zone}. Choose another time.", zone=plan.zone)
    return times
