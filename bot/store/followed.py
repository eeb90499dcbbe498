"""The issues that threads and direct messages follow.

One job reads all issues of a follower, and one job those of a live feed. Each new or changed issue is a job
of its own, which posts or updates it and adds lines to the thread, one after the other.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.jobs import OUTCOME_UNKNOWN, Job, Jobs, Statement
from bot.store.owner import Owner
from bot.store.plans import DIGEST
from bot.store.tables import DigestRow, FollowedIssueRow, JobRow, columns_of, from_row

FOLLOWER = "follower"
"""The kind of job that finds changes in the issues that a user follows; its content is its progress."""
FOLLOWED = "followed"
"""The kind of job that posts an issue of a live feed, or shows a change of a followed issue; no content."""
AT_ONCE = 5000  # how many issues a statement names: a database takes so many parameters only
FEED_OPEN = 200  # how many open issues of a live feed are kept up to date, the newest
FEED_CLOSED_FOR = timedelta(days=7)  # how long its closed ones are


class Stage(StrEnum):
    """How far an issue of a live feed is. What a person follows is posted."""

    FOUND = "found"  # it gets a post of its own
    LISTING = "listing"  # it gets a line in a post that lists several, which isn't kept up to date
    LISTED = "listed"
    POSTED = "posted"  # its own post is at `ts`


@dataclass(frozen=True, kw_only=True)
class Followed:
    """A followed issue; see `FollowedIssueRow`."""

    owner: Owner
    issue_id: int
    channel_id: str
    thread_ts: str
    ts: str
    posted_by: str
    created: bool
    agreed_project: int | None = None
    seen_on: datetime | None = None
    fingerprint: str = ""
    closed: bool = False
    stage: Stage = Stage.POSTED
    id: int = 0
    direct: bool = False
    quoted_to: int | None = None
    told_to: int = 0
    changed_at: datetime | None = None
    digest_id: int | None = None

    @property
    def job_key(self) -> str:
        if self.digest_id is None:
            return f"{FOLLOWED}:{self.id}"
        return f"{FOLLOWED}:{self.digest_id}/{self.issue_id}"

    @property
    def has_own_post(self) -> bool:
        """Whether it has a post of its own, or gets one."""
        return self.stage in (Stage.FOUND, Stage.POSTED)


@dataclass(frozen=True)
class StoredFollowed:
    database: Database
    jobs: Jobs

    async def add(self, followed: Followed) -> bool:
        """Follow an issue; returns False if the thread already follows it."""
        issue = self._adding(followed).returning(FollowedIssueRow.id)
        # From the start, because the new post may show an older state than the others.
        read = self.jobs.putting(FOLLOWER, f"{FOLLOWER}:{followed.owner.name}", {})

        def work(connection: sa.Connection) -> bool:
            connection.execute(read)
            return connection.scalar(issue) is not None

        return await self.database.write(work)

    async def claim(self, followed: Followed) -> tuple[Job, Followed] | None:
        """Add an issue of a live feed and hold its job, to post it now; None if the feed has it already."""
        put = self.jobs.putting_held(FOLLOWED, followed.job_key, {})
        dropped = self._dropping_unposted([followed])
        added = self._adding(followed).returning(FollowedIssueRow.id)

        def work(connection: sa.Connection) -> int | None:
            connection.execute(dropped)
            number: int | None = connection.scalar(added)
            if number is None or put(connection):  # rows before jobs, as the feed's own statements
                return number
            connection.execute(sa.delete(FollowedIssueRow).where(FollowedIssueRow.id == number))
            return None

        number = await self.database.write(work)
        return (Job(followed.job_key), replace(followed, id=number)) if number else None

    def posting(self, followed: Sequence[Followed]) -> Sequence[Statement]:
        """The statements that add issues of a live feed, and let each be posted alone, also if the feed was
        about to list it.
        """
        if not followed:
            return []
        row, issues = FollowedIssueRow, [one.issue_id for one in followed]
        its = sa.and_(row.digest_id == followed[0].digest_id, row.issue_id.in_(issues))
        alone = sa.update(row).where(its, row.stage != Stage.POSTED).values(stage=Stage.FOUND)
        added = map(self._adding, followed)
        return [self._dropping_unposted(followed), alone, *added, *self.showing_changes(followed)]

    async def claim_list(self, feed: int, followed: Sequence[Followed]) -> Collection[int]:
        """Add issues that a live feed is about to list in one post; returns those that are its own."""
        added = [self._adding(replace(one, stage=Stage.LISTING)) for one in followed]
        await self.database.execute(self._dropping_unposted(followed), *added)
        there = await self.in_feeds(followed[0].channel_id, [one.issue_id for one in followed])
        return {one.issue_id for one in there if one.digest_id == feed}

    def list_posted(self, feed: int) -> Statement:
        """The statement that records that a live feed has posted what it was about to list."""
        row = FollowedIssueRow
        its = sa.and_(row.digest_id == feed, row.stage == Stage.LISTING)
        return sa.update(row).where(its).values(stage=Stage.LISTED)

    async def in_feeds(self, channel_id: str, issues: Collection[int]) -> tuple[Followed, ...]:
        """Return what a channel's live feeds have, at least of these issues, without what a paused one has
        found and not posted.
        """
        there = sa.and_(FollowedIssueRow.channel_id == channel_id, FollowedIssueRow.digest_id.is_not(None))
        return await self._select(sa.and_(there, _among(issues), sa.not_(_UNPOSTED)))

    def dropping_old(self, digest_id: int, now: datetime) -> Statement:
        """The statement that keeps only the newest open issues of a live feed, and what was closed, or listed
        in a post with others, lately.
        """
        row, its = FollowedIssueRow, FollowedIssueRow.digest_id == digest_id
        over = row.closed | (row.stage == Stage.LISTED)
        kept = (
            sa.select(row.id)
            .where(its, sa.not_(over))
            .order_by(row.issue_id.desc())
            .limit(FEED_OPEN)
            .scalar_subquery()
        )
        lately = sa.and_(over, row.changed_at > now - FEED_CLOSED_FOR)
        return sa.delete(row).where(its, sa.not_(lately), row.id.not_in(kept))

    async def in_thread(self, channel_id: str, thread_ts: str, issue_id: int) -> Followed | None:
        row = FollowedIssueRow
        there = sa.and_(row.channel_id == channel_id, row.thread_ts == thread_ts, row.issue_id == issue_id)
        return next(iter(await self._select(there)), None)

    async def of(self, owner: Owner, issue_id: int | None = None) -> tuple[Followed, ...]:
        """Return the issues that a user follows, or only one of them."""
        about = FollowedIssueRow.issue_id == issue_id if issue_id is not None else sa.true()
        return await self._select(sa.and_(_own(owner), about))

    async def count(self, owner: Owner) -> int:
        return int(await self.database.scalar(sa.select(sa.func.count()).where(_own(owner))))

    async def include_comments(self, followed: Followed, after: int | None) -> None:
        """Quote the comments after that journal, unless some are quoted already; with None, no more."""
        changed = sa.update(FollowedIssueRow).where(FollowedIssueRow.id == followed.id)
        if after is not None:
            changed = changed.where(FollowedIssueRow.quoted_to.is_(None))
        await self.database.execute(changed.values(quoted_to=after))

    async def end(self, followed: Collection[Followed]) -> None:
        ids = [one.id for one in followed]
        if ids:
            ended = sa.delete(FollowedIssueRow).where(FollowedIssueRow.id.in_(ids))
            await self.database.execute(ended, self.jobs.canceling(*(one.job_key for one in followed)))

    async def is_still_followed(self, followed: Followed, comment: int | None) -> bool:
        """Whether the issue is still followed with the same key, and the comment that is about to be quoted,
        if any, isn't quoted yet and comments are still included.
        """
        still = sa.and_(FollowedIssueRow.id == followed.id, FollowedIssueRow.of(followed.owner), _ACTIVE)
        if comment is not None:
            still &= FollowedIssueRow.quoted_to < comment
        return await self.database.one(sa.select(FollowedIssueRow.id).where(still)) is not None

    async def of_jobs(self, keys: Collection[str]) -> Mapping[str, Followed]:
        """Return the followed issues of jobs, by the job's key. Those of paused feeds are left out, except
        where a message may have been sent.
        """
        row, ids = FollowedIssueRow, [key.removeprefix(f"{FOLLOWED}:").split("/") for key in keys]
        alone = row.id.in_([int(number) for number, *issue in ids if not issue])
        in_feeds = sa.tuple_(row.digest_id, row.issue_id).in_(
            [tuple(map(int, its)) for its in ids if its[1:]]
        )
        followed = await self._select(sa.and_(sa.or_(alone, in_feeds), sa.or_(_ACTIVE, _POST_UNKNOWN)))
        return {one.job_key: one for one in followed}

    def showing_changes(self, followed: Collection[Followed]) -> Sequence[Statement]:
        """The statements that let changes of these be shown."""
        return [self.jobs.putting(FOLLOWED, one.job_key, {}, replaces=False) for one in followed]

    def recording(self, followed: Followed, **values: object) -> Statement:
        """The statement that records what the post shows and what was added to the thread.

        `quoted_to` is recorded only where comments are still included, and never goes back.
        """
        if (to := values.get("quoted_to")) is not None:
            before = FollowedIssueRow.quoted_to
            values["quoted_to"] = sa.case((before < to, to), else_=before)
        return sa.update(FollowedIssueRow).where(FollowedIssueRow.id == followed.id).values(values)

    async def _select(self, which: sa.ColumnElement[bool]) -> tuple[Followed, ...]:
        rows = await self.database.rows(
            sa.select(FollowedIssueRow).where(which).order_by(FollowedIssueRow.id)
        )
        return tuple(from_row(Followed, row, owner=Owner.of(row), stage=Stage(row.stage)) for row in rows)

    def _dropping_unposted(self, followed: Sequence[Followed]) -> Statement:
        """The statement that drops these issues if a paused live feed of the channel hasn't posted them."""
        there = FollowedIssueRow.channel_id == followed[0].channel_id
        return sa.delete(FollowedIssueRow).where(there, _among([one.issue_id for one in followed]), _UNPOSTED)

    def _adding(self, followed: Followed) -> sa.Insert:
        """The statement that adds a followed issue, unless it is followed there."""
        columns = columns_of(followed, "id", "owner")
        columns["changed_at"] = self.jobs.processes.clock.scalar_subquery()
        added = self.database.insert(FollowedIssueRow).values(**followed.owner.columns, **columns)
        return added.on_conflict_do_nothing()


def feed_end(digest_id: int) -> Statement:
    """The statement that stops following all issues of a live feed."""
    return sa.delete(FollowedIssueRow).where(FollowedIssueRow.digest_id == digest_id)


def feed_read_with(digest_id: int, *, paused: bool, **values: object) -> Sequence[Statement]:
    """The statements that update a live feed's posts with other values; one that was `paused` drops the
    issues that it hasn't posted.
    """
    its, row = FollowedIssueRow.digest_id == digest_id, FollowedIssueRow
    unposted = sa.delete(row).where(its, _NOT_YET_POSTED)
    return [*([unposted] if paused else []), sa.update(row).where(its).values(values)]


def _own(owner: Owner) -> sa.ColumnElement[bool]:
    """Match the issues that a user follows, without those of live feeds."""
    return sa.and_(FollowedIssueRow.of(owner), FollowedIssueRow.digest_id.is_(None))


_ACTIVE = sa.or_(
    FollowedIssueRow.digest_id.is_(None),
    sa.exists().where(DigestRow.id == FollowedIssueRow.digest_id, DigestRow.paused.is_(None)),
)
"""Matches issues that are followed by themselves, or by a live feed that isn't paused."""
_FEED = sa.cast(FollowedIssueRow.digest_id, sa.Text)
_POSTING_JOB = sa.case(
    (FollowedIssueRow.stage == Stage.LISTING, sa.literal(f"{DIGEST}:") + _FEED),
    else_=sa.literal(f"{FOLLOWED}:") + _FEED + "/" + sa.cast(FollowedIssueRow.issue_id, sa.Text),
)
_POST_UNKNOWN = sa.exists().where(JobRow.key == _POSTING_JOB, OUTCOME_UNKNOWN)
"""Matches issues of live feeds about which a message may have been sent: that is looked up first."""
_NOT_YET_POSTED = FollowedIssueRow.stage.in_((Stage.FOUND, Stage.LISTING))
_UNPOSTED = sa.and_(_NOT_YET_POSTED, sa.not_(_ACTIVE), sa.not_(_POST_UNKNOWN))
"""Matches issues that a live feed found and hadn't posted when it was paused."""


def _among(issues: Collection[int]) -> sa.ColumnElement[bool]:
    """Match these issues, or all if they are too many."""
    return FollowedIssueRow.issue_id.in_(issues) if len(issues) <= AT_ONCE else sa.true()
