"""Digests: their settings and progress. A digest's next due time is a job."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.exc import IntegrityError

from bot.store.channels import Channel
from bot.store.database import Database
from bot.store.followed import AT_ONCE, feed_end, feed_read_with
from bot.store.jobs import Jobs, Statement
from bot.store.notices import Notice, PendingNotice, notify
from bot.store.owner import Owner
from bot.store.plans import DIGEST, FEED, Plan
from bot.store.tables import DigestIssueRow, DigestRow, columns_of, from_row


class Pause(StrEnum):
    PERSON = "person"  # a user paused it
    KEY = "key"  # the owner's key no longer works, or the owner unlinked it
    LEFT = "left"  # the owner's Slack account is deactivated
    PROJECT = "project"  # the owner can no longer see the project
    QUERY = "query"  # the owner can no longer see the saved query
    FILTER = "filter"  # the service no longer filters by the custom fields
    CLOSED = "closed"  # the project is closed
    NOT_PUBLIC = "not_public"  # the project isn't public, and the owner hasn't agreed to show it
    CHANNEL = "channel"  # the channel is archived or gone, or the bot was removed from it
    OUTSIDERS = "outsiders"  # the channel is shared with another company
    REFUSED = "refused"  # Slack rejects the message

    @property
    def told_to_channel(self) -> bool:
        """Whether the channel is notified as well, because its members can take over the digest."""
        return self in {Pause.KEY, Pause.LEFT, Pause.PROJECT, Pause.QUERY}


KEPT_AFTER_REMOVAL = timedelta(days=1)
NONE: Mapping[int, datetime] = MappingProxyType({})
_NOT_REMOVED = DigestRow.removed_at.is_(None)


@dataclass(frozen=True, kw_only=True)
class Digest:
    """A digest. Times are in UTC.

    `covered_to` is by the service's clock: issues opened, or closed, since then (with some overlap) that
    aren't covered are listed next. `period_from` is the time of the last digest, or when it was added.
    `history` has the number of issues opened, or closed, in each past period, by the due time at the period's
    end, oldest first. `known_updates` has the owner's issues at the last personal digest, with the times of
    their last updates.
    """

    id: int
    owner: Owner
    owner_name: str
    channel_id: str
    plan: Plan
    paused: Pause | None
    covered_to: datetime | None
    period_from: datetime
    created_at: datetime
    history: tuple[tuple[datetime, int], ...]
    known_updates: Mapping[int, datetime] = field(default_factory=dict)
    agreed_project: int | None = None  # the project that isn't public which the owner agreed to show

    @property
    def channel(self) -> Channel:
        return Channel(self.owner.team_id, self.channel_id)

    @property
    def job_key(self) -> str:
        return _job_key(self.id)

    @property
    def personal(self) -> bool:
        return self.plan.kind == "personal"

    @property
    def direct(self) -> bool:
        """Whether only its owner reads it."""
        return self.personal or self.channel_id.startswith("D")


class Coverage(BaseModel, frozen=True):
    """What a digest doesn't list again: the `covered` issues by ID, with the times when they were opened,
    closed, or changed. `covered_to` and `known_updates` are as in `Digest`, `left_out` as in
    `DigestProgress`.
    """

    covered_to: datetime | None = None
    covered: Mapping[int, datetime] = {}
    known_updates: Mapping[int, datetime] | None = None
    left_out: Mapping[int, str] = {}


class Start(Coverage, frozen=True):
    """Where a digest starts, with the history before it."""

    history: Sequence[tuple[datetime, int]] = ()


class DigestProgress(BaseModel):
    """`due` is the first due time that isn't handled, `asked` when a user asked for a post before it.
    `notified`: the owner knows that the post is delayed. `left_out` has the issues that a live feed's custom
    fields or saved query leave out, with what identifies the state in which the service was asked about them.
    """

    due: datetime
    asked: datetime | None = None
    notified: bool = False
    left_out: Mapping[int, str] = {}


class StoredDigests:
    """The stored digests."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs

    async def add(
        self,
        owner: Owner,
        owner_name: str,
        channel_id: str,
        plan: Plan,
        *,
        next_due: datetime,
        start: Start,
        now: datetime,
        agreed_project: int | None = None,
    ) -> Digest | None:
        """Add an active digest; None if it is personal and the owner has one."""
        statement = (
            self._database.insert(DigestRow)
            .values(
                owner_name=owner_name,
                channel_id=channel_id,
                paused=None,
                agreed_project=agreed_project,
                period_from=now,
                created_at=now,
                **_starting(start),
                **owner.columns,
                **columns_of(plan),
            )
            .on_conflict_do_nothing()
            .returning(DigestRow)
        )

        def work(connection: sa.Connection) -> Digest | None:
            row = connection.execute(statement).one_or_none()
            if row is None:
                return None
            for each in self._covering(row.id, start.covered):
                connection.execute(each)
            connection.execute(self._due_at(digest := digest_of(row), next_due))
            return digest

        return await self._database.write(work)

    async def get(self, team_id: str, digest_id: int) -> Digest | None:
        number = sa.literal(digest_id, sa.BigInteger)  # users can type one that no digest has
        digests = await self._found(sa.and_(DigestRow.team_id == team_id, DigestRow.id == number))
        return digests[0] if digests else None

    async def in_channel(self, channel: Channel) -> tuple[Digest, ...]:
        team_id, channel_id = channel.team_id, channel.channel_id
        return await self._found(sa.and_(DigestRow.team_id == team_id, DigestRow.channel_id == channel_id))

    async def of_owner(self, owner: Owner) -> tuple[Digest, ...]:
        """Return the digests that use the owner's key, by ID."""
        return await self._found(DigestRow.of(owner))

    async def change(
        self,
        digest: Digest,
        plan: Plan,
        next_due: datetime,
        history: Sequence[tuple[datetime, int]],
        *,
        start: Start | None = None,
        now: datetime | None = None,
    ) -> None:
        """Replace the settings, except the project, and the history by the new periods.

        `next_due` is ignored if the digest is paused. With `start` and the time `now`, it starts over.
        """
        changed = {**columns_of(plan, "project_id"), "history": history}
        if start:
            changed |= {**_starting(start), "period_from": now}
        also: list[Statement] = [] if plan.live else [feed_end(digest.id)]
        if start:
            also.append(sa.delete(DigestIssueRow).where(DigestIssueRow.digest_id == digest.id))
            also += self._covering(digest.id, start.covered)

        def work(connection: sa.Connection) -> None:
            row = connection.execute(_one(digest).values(changed).returning(DigestRow.paused)).one_or_none()
            if row and row.paused is None:
                connection.execute(self._due_at(replace(digest, plan=plan), next_due))
            for each in also:
                connection.execute(each)

        await self._database.write(work)

    async def pause(self, digest: Digest) -> None:
        """Pause the digest on a user's request, without notices."""
        paused = _one(digest).where(DigestRow.paused.is_(None)).values(paused=Pause.PERSON)
        await self._change(paused, self._jobs.canceling(digest.job_key))

    async def resume(
        self,
        digest: Digest,
        next_due: datetime,
        agreed_project: int | None,
        missed: Mapping[int, datetime] = NONE,
    ) -> None:
        """Resume the digest where it stopped, without `missed` issues; an active one keeps its due time."""
        due = [self._due_at(digest, next_due)] if digest.paused else []
        await self._activate(digest, missed, due, {"agreed_project": agreed_project})

    async def take_ownership(
        self,
        digest: Digest,
        owner: Owner,
        owner_name: str,
        next_due: datetime,
        *,
        agreed_project: int | None,
        missed: Mapping[int, datetime] = NONE,
    ) -> None:
        """Change the owner, and resume the digest without `missed` issues."""
        # A run in flight would post with the former owner's key.
        again = (self._jobs.canceling(digest.job_key), self._due_at(digest, next_due))
        reads = {"agreed_project": agreed_project, **owner.columns}
        await self._activate(digest, missed, again, reads, owner_name=owner_name)

    async def remove(self, digest: Digest) -> None:
        """Remove the digest. It can be restored for KEPT_AFTER_REMOVAL."""
        removal = {"removed_at": datetime.now(UTC), "removed_paused": DigestRow.paused}
        removed = _one(digest).values(**removal, paused=Pause.PERSON)
        await self._change(removed, self._jobs.canceling(digest.job_key))

    async def removed(self, team_id: str, digest_id: int) -> Digest | None:
        """Return a removed digest that can be restored, in its state before the removal, or None."""
        recently = DigestRow.removed_at > datetime.now(UTC) - KEPT_AFTER_REMOVAL
        which = sa.and_(DigestRow.team_id == team_id, DigestRow.id == digest_id, recently)
        row = await self._database.one(sa.select(DigestRow).where(which))
        if row is None:
            return None
        return replace(digest_of(row), paused=Pause(row.removed_paused) if row.removed_paused else None)

    async def restore(self, digest: Digest, next_due: datetime | None) -> bool:
        """Undo a removal; False if the owner has another personal digest by now.

        A digest that was paused before stays paused.
        """
        removed = sa.update(DigestRow).where(DigestRow.id == digest.id, DigestRow.removed_at.is_not(None))
        restored = removed.values(removed_at=None, removed_paused=None, paused=digest.paused)
        try:
            await self._change(restored, *([self._due_at(digest, next_due)] if next_due else []))
        except IntegrityError:
            return False
        return True

    async def prune(self) -> None:
        """Delete digests that can no longer be restored, with their runs and covered issues."""
        too_old = datetime.now(UTC) - KEPT_AFTER_REMOVAL
        await self._database.delete_in_batches(DigestRow, DigestRow.removed_at <= too_old)

    async def stop(
        self, owner: Owner, digests: Collection[int] | None, why: Pause, *, tell_owner: bool = True
    ) -> int:
        """Pause active digests of the owner, or all, with a notice for the owner, and return how many.

        Some reasons leave a notice for the channel, too.
        """
        which = sa.true() if digests is None else DigestRow.id.in_(digests)
        statement = (
            sa.update(DigestRow)
            .where(which, DigestRow.of(owner), DigestRow.paused.is_(None))
            .values(paused=why)
            .returning(DigestRow.id, DigestRow.channel_id, DigestRow.kind)
        )

        def work(connection: sa.Connection) -> int:
            stopped = connection.execute(statement).all()
            connection.execute(self._jobs.canceling(*(_job_key(row.id) for row in stopped)))
            if tell_owner:
                notify(self._jobs, connection, PendingNotice(owner=owner), [row.id for row in stopped])
            channels: dict[str, list[int]] = defaultdict(list)
            for row in stopped:
                if why.told_to_channel and row.kind != "personal":
                    channels[row.channel_id].append(row.id)
            for channel, its in sorted(channels.items()):
                notify(self._jobs, connection, PendingNotice(owner=owner, channel=channel), its)
            return len(stopped)

        count = await self._database.write(work)
        self._jobs.wake()
        return count

    async def notify(self, digest: Digest, notice: Notice) -> None:
        """Leave a notice for the owner."""
        to = PendingNotice(owner=digest.owner, notice=notice)
        await self._database.write(lambda connection: notify(self._jobs, connection, to, [digest.id]))
        self._jobs.wake()

    async def of_notice(self, notice: PendingNotice) -> tuple[Digest, ...]:
        return await self._found(DigestRow.id.in_(notice.digests))

    async def rename(self, digest: Digest, project: str) -> None:
        await self._database.execute(_one(digest).values(project=project))

    async def of_jobs(self, keys: Collection[str]) -> Mapping[str, Digest]:
        """Return the digests of jobs, paused and removed ones too, by the job's key."""
        ids = [int(key.removeprefix(f"{DIGEST}:")) for key in keys]
        rows = await self._database.rows(sa.select(DigestRow).where(DigestRow.id.in_(ids)))
        return {_job_key(row.id): digest_of(row) for row in rows}

    async def covered(self, digests: Collection[int]) -> Mapping[int, Mapping[int, datetime]]:
        """Return the issues covered by these digests, and when each was opened or closed, by digest ID."""
        statement = sa.select(DigestIssueRow).where(DigestIssueRow.digest_id.in_(digests))
        issues: dict[int, dict[int, datetime]] = {digest: {} for digest in digests}
        for row in await self._database.rows(statement):
            issues[row.digest_id][row.issue_id] = row.happened_at
        return issues

    def advancing(
        self,
        digest: Digest,
        coverage: Coverage,
        *,
        forget_before: datetime | None,
        period_from: datetime,
        history: Sequence[tuple[datetime, int]],
    ) -> Sequence[Statement]:
        """The statements that move a digest on over what was posted; issues that were covered before
        `forget_before` can't appear again.
        """
        one, plan = sa.update(DigestRow).where(DigestRow.id == digest.id), digest.plan
        forward: dict[str, Any] = {"covered_to": coverage.covered_to, "period_from": period_from}
        if coverage.known_updates is not None:
            forward["known_updates"] = coverage.known_updates
        # If the schedule was changed in the meantime, its periods differ.
        as_planned = sa.and_(DigestRow.schedule == plan.schedule, DigestRow.zone == plan.zone)
        statements: list[Statement] = [
            one.values(**forward),
            one.where(as_planned).values(history=history),
        ]
        statements += self._covering(digest.id, coverage.covered)
        if forget_before is not None:
            its = sa.delete(DigestIssueRow).where(DigestIssueRow.digest_id == digest.id)
            statements.append(its.where(DigestIssueRow.happened_at < forget_before))
        return statements

    def _due_at(self, digest: Digest, at: datetime) -> Statement:
        """The statement that lets the digest be posted from that time on."""
        progress = DigestProgress(due=at).model_dump(mode="json")
        return self._jobs.putting(FEED if digest.plan.live else DIGEST, digest.job_key, progress, at=at)

    async def _activate(
        self,
        digest: Digest,
        missed: Mapping[int, datetime],
        due: Sequence[Statement],
        reads: Mapping[str, object],
        **more: object,
    ) -> None:
        active = _one(digest).values(paused=None, **reads, **more)
        feed = feed_read_with(digest.id, paused=bool(digest.paused), **reads)
        await self._change(active, *self._covering(digest.id, missed), *feed, *due)

    def _covering(self, digest_id: int, covered: Mapping[int, datetime]) -> list[Statement]:
        """The statements that add issues to those that a digest has covered."""
        statements: list[Statement] = []
        issues = [*covered.items()]
        for start in range(0, len(issues), AT_ONCE):  # one that was closed again replaces its earlier row
            some = issues[start : start + AT_ONCE]
            rows = [{"digest_id": digest_id, "issue_id": number, "happened_at": at} for number, at in some]
            new = self._database.insert(DigestIssueRow).values(rows)
            again = {"happened_at": new.excluded.happened_at}
            statements.append(new.on_conflict_do_update(index_elements=["digest_id", "issue_id"], set_=again))
        return statements

    async def _change(self, change: sa.Update, *also: Statement) -> None:
        """Change a digest, and execute the other statements if it was there to be changed."""
        await self._database.changes(change.returning(DigestRow.id), *also)

    async def _found(self, which: sa.ColumnElement[bool]) -> tuple[Digest, ...]:
        statement = sa.select(DigestRow).where(which, _NOT_REMOVED).order_by(DigestRow.id)
        return tuple(map(digest_of, await self._database.rows(statement)))


def digest_of(row: sa.Row[Any]) -> Digest:
    return from_row(
        Digest,
        row,
        owner=Owner.of(row),
        plan=from_row(Plan, row),
        paused=Pause(row.paused) if row.paused else None,
        known_updates=row.known_updates or {},
    )


def _job_key(digest_id: int) -> str:
    return f"{DIGEST}:{digest_id}"


def _one(digest: Digest) -> sa.Update:
    return sa.update(DigestRow).where(DigestRow.id == digest.id, _NOT_REMOVED)


def _starting(start: Start) -> dict[str, object]:
    """The columns of a digest that starts there."""
    return {name: getattr(start, name) for name in ("covered_to", "known_updates", "history")}
