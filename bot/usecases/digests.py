"""Digests as people handle them: added, listed, changed, paused, resumed, taken over, removed."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.errors import Forbidden, NotFound, UserError
from bot.service.client import Client
from bot.service.conventions import ProjectStatus
from bot.service.filters import IssueFilters, Sort, TimeRange
from bot.service.models import Project, Ref
from bot.store.digests import Choice, Covered, Digest, Group, Pause, Plan
from bot.store.owner import Owner
from bot.store.store import Store
from bot.usecases.accounts import Accounts, Session
from bot.usecases.catalog import Catalog, Catalogs
from bot.usecases.digest_periods import counted, ends_around
from bot.usecases.digest_reading import filters_of, since
from bot.usecases.naming import pick
from bot.usecases.projects import Channel, Projects
from bot.usecases.schedules import Schedule, next_times, parse, shortest_gap

SHOWN_TIMES = 3
AT_ONCE = timedelta(seconds=10)
"""How long adding a digest keeps others from adding the same one."""
SHORTEST_GAP = timedelta(minutes=15)
MOST_IN_A_CHANNEL, MOST_OF_A_PERSON = 20, 50
MOST_COUNTED = 2000
"""A chart that would need more issues than this to be read begins empty."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A digest as a person asks for it: names as typed, empty where they said nothing."""

    project: str | None
    schedule: Schedule
    zone: str
    tracker: tuple[str, ...] = ()
    priority: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    group: Group = "tracker"
    empty: bool = False


@dataclass(frozen=True)
class Planned:
    """A digest, when it comes next, and whether its project is public."""

    digest: Digest
    times: tuple[datetime, ...]
    public: bool


class Digests:
    """The digests of channels. Every one runs with its owner's key."""

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

    async def add(self, owner: Owner, channel: Channel, wanted: Wanted) -> Planned:
        """A new digest of the channel, of what is opened from now on. Raises UserError, NotLinked and
        ServiceError; UserError too for one that the channel has already.
        """
        self._check_gap(wanted.schedule)
        if len(await self.listed(channel)) >= MOST_IN_A_CHANNEL:
            raise UserError(
                f"This channel has {MOST_IN_A_CHANNEL} digests, which is the limit. "
                "Remove one first: `/digest` lists them."
            )
        await self._check_count(owner)
        now = await self._store.digest_runs.now()
        async with self._accounts.reading(owner) as session:
            project = await self._projects.chosen(session, wanted.project, channel)
            if project.status == ProjectStatus.CLOSED:
                raise UserError(f"{project.name} is closed, so nothing new is opened in it.")
            plan = await self._plan(session, project, wanted)
            covered_to, covered = await self._covered(session, project, now)
            history = await self._history(session, plan, wanted.schedule, now)
        times = _times(wanted.schedule, wanted.zone, now)
        adding = f"digest:add:{hashlib.sha256(repr((channel, plan)).encode()).hexdigest()}"
        if not await self._store.deliveries.claim_for(adding, AT_ONCE):
            raise UserError("That digest is being added at this moment: `/digest` lists this channel's.")
        try:
            for other in await self.listed(channel):
                if other.plan == plan:
                    raise UserError(f"This channel has that digest already: it is number {other.id}.")
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

    async def change(self, asker: Owner, channel: Channel, digest_id: int, wanted: Wanted) -> Planned:
        """Set a digest's schedule and filters anew; its project stays. Raises UserError, NotLinked and
        ServiceError.
        """
        self._check_gap(wanted.schedule)
        digest = await self.one(asker, channel, digest_id)
        now = await self._store.digest_runs.now()
        async with self._accounts.reading(asker) as session:
            project = await self._projects.by_id(session, digest.plan.project_id)
            plan = await self._plan(session, project, wanted)
            history = await self._history(session, plan, wanted.schedule, now)
        times = _times(wanted.schedule, wanted.zone, now)
        await self._store.digests.change(digest, plan, times[0], history)
        return Planned(await self.one(asker, channel, digest_id), times, project.is_public is True)

    async def listed(self, channel: Channel) -> tuple[Digest, ...]:
        """The channel's digests: anyone in it may see them."""
        return await self._store.digests.in_channel(channel.team_id, channel.channel_id)

    async def unlinked(self, owner: Owner) -> int:
        """Stop the digests of somebody who took their key back themselves; how many went on until then."""
        going = [digest for digest in await self.of_owner(owner) if not digest.paused]
        await self._store.digests.stop(owner, [one.id for one in going], Pause.KEY, tell_owner=False)
        return len(going)

    async def of_owner(self, owner: Owner) -> tuple[Digest, ...]:
        """Those that run with the person's key, in whatever channel."""
        return await self._store.digests.of_owner(owner)

    async def one(self, asker: Owner, channel: Channel | None, digest_id: int | None) -> Digest:
        """The digest that a person means and may act on: their own anywhere, others' in their channel if
        they see the project themselves. None is the channel's only one.

        Raises UserError for one that isn't there or not theirs to act on, NotLinked, ServiceError.
        """
        here = await self.listed(channel) if channel else ()
        if digest_id is None:
            if len(here) != 1:
                which = ", ".join(f"{d.id} ({d.plan.project})" for d in here)
                raise UserError(
                    f"Which one? Add its number: {which}."
                    if here
                    else "This channel has no digest: add one with `/digest add <project> daily 09:00`."
                )
            digest: Digest | None = here[0]
        else:
            digest = await self._store.digests.get(asker.team_id, digest_id)
        return await self._allowed(
            asker, channel, digest, f"There is no digest {digest_id} here: `/digest` lists this channel's."
        )

    async def _allowed(
        self, asker: Owner, channel: Channel | None, digest: Digest | None, otherwise: str
    ) -> Digest:
        """The digest if the person may act on it, else UserError: with that sentence where it isn't here."""
        there = channel is not None and digest is not None and digest.channel_id == channel.channel_id
        if digest is None or not (there or digest.owner == asker):
            raise UserError(otherwise)
        if digest.owner != asker:
            await self._see(asker, digest)
        return digest

    async def pause(self, asker: Owner, channel: Channel | None, digest_id: int | None) -> Digest:
        """Pause a digest. Raises what `one` raises."""
        digest = await self.one(asker, channel, digest_id)
        await self._store.digests.pause(digest)
        return await self._again(digest)

    async def resume(self, asker: Owner, channel: Channel | None, digest_id: int | None) -> Planned:
        """Make a digest active again: what was opened meanwhile is in its next message.

        Raises what `one` raises, and UserError where its owner can't read the project.
        """
        digest = await self.one(asker, channel, digest_id)
        project = await self._readable(digest, asker)
        now = await self._store.digest_runs.now()
        times = self.times(digest, now)
        if digest.paused:
            await self._store.digests.resume(digest, times[0])
        return Planned(await self._again(digest), times, project.is_public is True)

    async def take_over(self, asker: Owner, channel: Channel | None, digest_id: int | None) -> Planned:
        """Make the person the owner, whose key the digest runs with from now on. Raises what `one` raises."""
        digest = await self.one(asker, channel, digest_id)
        if digest.owner != asker:
            await self._check_count(asker)
        async with self._accounts.reading(asker) as session:
            project = await self._seen(session, digest)
        times = self.times(digest, await self._store.digest_runs.now())
        await self._store.digests.take_over(digest, asker, session.name, times[0])
        return Planned(await self._again(digest), times, project.is_public is True)

    async def remove(self, asker: Owner, channel: Channel | None, digest_id: int | None) -> Digest:
        """Remove a digest; the one that it was. Raises what `one` raises."""
        digest = await self.one(asker, channel, digest_id)
        await self._store.digests.remove(digest)
        return digest

    async def removed(self, asker: Owner, channel: Channel | None, digest_id: int) -> Digest:
        """A digest that was removed in the last day, if the person might remove it. Raises as `one` does."""
        digest = await self._store.digests.removed(asker.team_id, digest_id)
        return await self._allowed(
            asker,
            channel,
            digest,
            f"Digest {digest_id} isn't there to restore: `/digest` lists this channel's.",
        )

    async def restore(self, asker: Owner, channel: Channel | None, digest_id: int) -> Digest:
        """Take a removal back. Raises what `removed` raises, and UserError where the channel has the same
        digest by now.
        """
        digest = await self.removed(asker, channel, digest_id)
        there = await self.listed(Channel(digest.owner.team_id, digest.channel_id))
        if same := next((other for other in there if other.plan == digest.plan), None):
            raise UserError(f"This channel has that digest already: it is number {same.id}.")
        next_due = None
        if not digest.paused:
            next_due = self.times(digest, await self._store.digest_runs.now())[0]
        await self._store.digests.restore(digest, next_due)
        return await self._again(digest)

    async def catalog(self, asker: Owner, project_id: int) -> Catalog:
        """What a digest of a project can be narrowed to. Raises NotLinked, ServiceError."""
        async with self._accounts.reading(asker) as session:
            return await self._catalogs.of(session, project_id)

    def times(self, digest: Digest, after: datetime) -> tuple[datetime, ...]:
        """When a digest comes next, were it active."""
        return _times(parse(digest.plan.schedule), digest.plan.zone, after)

    def _check_gap(self, schedule: Schedule) -> None:
        if shortest_gap(schedule) < self._shortest_gap:
            minutes = self._shortest_gap // timedelta(minutes=1)
            raise UserError(
                f"A digest can be posted every {minutes} minutes at most. Choose a slower schedule, such as "
                "`hourly`."
            )

    async def _check_count(self, owner: Owner) -> None:
        if len(await self.of_owner(owner)) >= MOST_OF_A_PERSON:
            raise UserError(
                f"You own {MOST_OF_A_PERSON} digests, which is the limit. "
                "Remove one first: `/digest` lists the ones in a channel."
            )

    async def _again(self, digest: Digest) -> Digest:
        return await self._store.digests.get(digest.owner.team_id, digest.id) or digest

    async def _see(self, asker: Owner, digest: Digest) -> None:
        try:
            async with self._accounts.reading(asker) as session:
                await self._seen(session, digest)
        except UserError as error:
            if type(error) is UserError:
                raise UserError(
                    f"You don't see {digest.plan.project} in {{service}}: ask {digest.owner_name}, whose "
                    f"digest {digest.id} is."
                ) from None
            raise

    async def _seen(self, session: Session, digest: Digest) -> Project:
        try:
            return await self._client.get_project(session.key, digest.plan.project_id)
        except (Forbidden, NotFound):
            raise UserError(f"You don't see {digest.plan.project} in {{service}}.") from None

    async def _readable(self, digest: Digest, asker: Owner) -> Project:
        try:
            async with self._accounts.reading(digest.owner) as session:
                project = await self._seen(session, digest)
        except UserError as error:
            if asker == digest.owner:
                raise
            raise UserError(
                f"{digest.owner_name}, whose key it runs with, can't read {digest.plan.project} any more: "
                f"`/digest take over {digest.id}` makes it yours."
            ) from error
        if project.status == ProjectStatus.CLOSED:
            raise UserError(f"{project.name} is closed, so nothing new is opened in it.")
        return project

    async def _plan(self, session: Session, project: Project, wanted: Wanted) -> Plan:
        chosen: dict[str, tuple[Choice, ...]] = {}
        if wanted.tracker or wanted.priority or wanted.category:
            catalog = await self._catalogs.of(session, project.id)
            chosen = {
                "trackers": _choices("tracker", wanted.tracker, catalog.trackers),
                "priorities": _choices("priority", wanted.priority, catalog.priorities),
                "categories": _choices("category", wanted.category, catalog.categories),
            }
        return Plan(
            project_id=project.id,
            project=project.name,
            schedule=wanted.schedule.text,
            zone=wanted.zone,
            group=wanted.group,
            empty=wanted.empty,
            **chosen,
        )

    async def _covered(
        self, session: Session, project: Project, now: datetime
    ) -> tuple[datetime | None, list[Covered]]:
        """How far a new digest has come, in the service's time, and what was there before it."""
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
        """How many issues were opened in the last periods, for the first digest to compare with."""
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
    except (KeyError, ValueError):  # zoneinfo's: it was known once
        raise UserError(f"The time zone {zone} isn't known any more: change the digest first.") from None
    if not times:
        raise UserError(f"In the time zone {zone} that never comes: choose other times.")
    return times


def _choices(kind: str, wanted: Sequence[str], known: Sequence[Ref]) -> tuple[Choice, ...]:
    refs = [pick(kind, name, known) for name in wanted]
    return tuple(Choice(ref.id, ref.name) for ref in refs)
