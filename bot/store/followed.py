"""The issues that threads and direct messages follow.

What a follower follows is read together, by the job of the follower. Each issue that changed is a job of its
own, which shows that and adds lines to the thread, one after the other.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from bot.store.database import Database
from bot.store.job import Statement
from bot.store.jobs import Jobs
from bot.store.owner import Owner
from bot.store.tables import FollowedIssueRow, from_row

FOLLOWER = "follower"
"""The kind of job that finds what changed of the issues that a user follows; its content says how far."""
FOLLOWED = "followed"
"""The kind of job that shows a change of a followed issue, without content."""


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
    shown: str = ""
    closed: bool = False
    id: int = 0
    direct: bool = False
    quoted_to: int | None = None
    changed_at: datetime | None = None


@dataclass(frozen=True)
class StoredFollowed:
    database: Database
    jobs: Jobs

    async def add(self, followed: Followed) -> bool:
        """Follow an issue; returns False if the thread already follows it."""
        columns = {name: value for name, value in vars(followed).items() if name not in ("id", "owner")}
        clock = self.jobs.processes.clock.scalar_subquery()
        owner = followed.owner
        issue = (
            self.database.insert(FollowedIssueRow)
            .values(**owner.columns, **columns | {"changed_at": clock})
            .on_conflict_do_nothing()
            .returning(FollowedIssueRow.id)
        )
        # From the start, since what the new one shows may be older than what is read of the others.
        read = self.jobs.putting(FOLLOWER, f"{FOLLOWER}:{owner.name}", {})

        def work(connection: sa.Connection) -> bool:
            connection.execute(read)
            return connection.scalar(issue) is not None

        return await self.database.write(work)

    async def in_thread(self, channel_id: str, thread_ts: str, issue_id: int) -> Followed | None:
        row = FollowedIssueRow
        there = sa.and_(row.channel_id == channel_id, row.thread_ts == thread_ts, row.issue_id == issue_id)
        return next(iter(await self._found(there)), None)

    async def of(self, owner: Owner, issue_id: int | None = None) -> tuple[Followed, ...]:
        """What a user follows, or only one issue."""
        about = FollowedIssueRow.issue_id == issue_id if issue_id is not None else sa.true()
        return await self._found(sa.and_(FollowedIssueRow.of(owner), about))

    async def count(self, owner: Owner) -> int:
        statement = sa.select(sa.func.count()).where(FollowedIssueRow.of(owner))
        return await self.database.read(lambda connection: connection.execute(statement).scalar_one())

    async def include_comments(self, followed: Followed, after: int | None) -> None:
        """Quote the comments after that journal, unless some are quoted already; with None, no more."""
        changed = sa.update(FollowedIssueRow).where(FollowedIssueRow.id == followed.id)
        if after is not None:
            changed = changed.where(FollowedIssueRow.quoted_to.is_(None))
        await self.database.execute(changed.values(quoted_to=after))

    async def end(self, followed: Collection[Followed]) -> None:
        ids = [one.id for one in followed]
        canceled = self.jobs.canceling(*map(_job_key, ids))

        def work(connection: sa.Connection) -> None:
            connection.execute(sa.delete(FollowedIssueRow).where(FollowedIssueRow.id.in_(ids)))
            connection.execute(canceled)

        if ids:
            await self.database.write(work)

    async def is_quoted(self, followed: Followed, comment: int | None) -> bool:
        """Whether the issue is still followed, and a comment of it, if one is given, isn't quoted yet but to
        be quoted.
        """
        still = FollowedIssueRow.id == followed.id
        if comment is not None:
            still &= FollowedIssueRow.quoted_to < comment
        return await self.database.one(sa.select(FollowedIssueRow.id).where(still)) is not None

    async def of_jobs(self, keys: Collection[str]) -> Mapping[str, Followed]:
        """Return the followed issues of jobs, by the job's key."""
        ids = [int(key.removeprefix(f"{FOLLOWED}:")) for key in keys]
        return {_job_key(one.id): one for one in await self._found(FollowedIssueRow.id.in_(ids))}

    def changed(self, followed: Collection[Followed]) -> Sequence[Statement]:
        """The statements that let changes of these be shown."""
        return [self.jobs.putting(FOLLOWED, _job_key(one.id), {}, replaces=False) for one in followed]

    def recording(self, followed: Followed, **values: object) -> Statement:
        """The statement that records what the post shows and what was added to the thread.

        `quoted_to` is recorded only where comments are still included, and never goes back.
        """
        if (to := values.get("quoted_to")) is not None:
            before = FollowedIssueRow.quoted_to
            values["quoted_to"] = sa.case((before < to, to), else_=before)
        return sa.update(FollowedIssueRow).where(FollowedIssueRow.id == followed.id).values(values)

    async def _found(self, which: sa.ColumnElement[bool]) -> tuple[Followed, ...]:
        rows = await self.database.rows(
            sa.select(FollowedIssueRow).where(which).order_by(FollowedIssueRow.id)
        )
        return tuple(from_row(Followed, row, owner=Owner.of(row)) for row in rows)


def _job_key(followed_id: int) -> str:
    return f"{FOLLOWED}:{followed_id}"
