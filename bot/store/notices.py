"""What users are notified of: the topics about their issues, the issues that they muted, and what happened to
digests.
"""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import Connection, delete, select

from bot.store.database import Database
from bot.store.jobs import Jobs, Statement
from bot.store.owner import Owner
from bot.store.tables import JobRow, MutedIssueRow, NoticeSwitchRow

ASSIGNEE = "assignee"
"""The kind of job that reads changes of a user's issues; its content says up to when they are handled."""
PERSONAL_NOTICE = "assigned"
"""The kind of job that notifies a user of an issue. Each part that was sent is a claim that is done."""
Notice = Literal["stopped", "unconfirmed", "delayed"]
"""A notice for the owner: the digest was stopped; its last message may or may not have been posted; it is
overdue and still can't be posted.
"""
NOTICE = "digest notice"
"""The kind of job that sends a notice to one reader; its content is a `PendingNotice`."""
EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Topic(StrEnum):
    ASSIGNED = "assigned"
    COMMENTS = "comments"
    CHANGES = "changes"


DEFAULT = {Topic.ASSIGNED: EVER}
"""The topics of users who chose nothing."""


@dataclass(frozen=True)
class Notices:
    database: Database
    jobs: Jobs

    async def topics(self, owner: Owner) -> Mapping[Topic, datetime]:
        """Return the user's topics, with when each was turned on, by the service's clock."""
        return await self.database.read(lambda connection: _topics(connection, owner))

    async def topics_about(self, owner: Owner, issue: int) -> Mapping[Topic, datetime]:
        """Return the user's topics for one issue; none if they muted it."""
        muted = select(MutedIssueRow.issue_id).where(MutedIssueRow.of(owner), MutedIssueRow.issue_id == issue)

        def work(connection: Connection) -> Mapping[Topic, datetime]:
            return {} if connection.execute(muted).first() else _topics(connection, owner)

        return await self.database.read(work)

    async def switch(self, owner: Owner, topics: Collection[Topic], since: datetime | None) -> None:
        """Turn topics on, for what happens from `since` on by the service's clock; off for None."""
        key = {**owner.columns, "topic": ""}
        chosen = [
            self.database.upsert(NoticeSwitchRow, key | {"topic": topic}, {"since": since})
            for topic in topics
        ]
        # A reading that isn't over goes on from where it is, because the other topics need that.
        starting = [self.starting(owner, since, replaces=False)] if since else []
        await self.database.execute(*chosen, *starting)

    async def muted(self, owner: Owner) -> tuple[int, ...]:
        """Return the issues that the user muted."""
        muted = select(MutedIssueRow.issue_id).where(MutedIssueRow.of(owner)).order_by(MutedIssueRow.issue_id)
        return tuple(row.issue_id for row in await self.database.rows(muted))

    async def mute(self, owner: Owner, issue: int, *, on: bool) -> None:
        row = {**owner.columns, "issue_id": issue}
        muted = self.database.insert(MutedIssueRow).values(row).on_conflict_do_nothing()
        unmuted = delete(MutedIssueRow).where(MutedIssueRow.of(owner), MutedIssueRow.issue_id == issue)
        await self.database.execute(muted if on else unmuted)

    async def progress(self, owner: Owner) -> object:
        """The content of the job that reads the user's issues; None if it isn't running."""
        return await self.jobs.content(_key(owner))

    def starting(
        self, owner: Owner, since: datetime | None, *, progress: object = None, replaces: bool = True
    ) -> Statement:
        """The statement that starts reading a user's issues, on from `progress` if it is given, or else for
        changes after a time of the service's clock; None for after the first read.
        """
        content = progress or {"since": since and since.isoformat()}
        return self.jobs.putting(ASSIGNEE, _key(owner), content, replaces=replaces)

    def canceling(self, owner: Owner) -> Statement:
        """The statement that ends the jobs of messages to the user that wait."""
        return self.jobs.canceling_all(PERSONAL_NOTICE, f"{PERSONAL_NOTICE}:{owner.name}:")


def _topics(connection: Connection, owner: Owner) -> Mapping[Topic, datetime]:
    rows = connection.execute(select(NoticeSwitchRow).where(NoticeSwitchRow.of(owner)))
    topics = DEFAULT | {Topic(row.topic): row.since for row in rows}
    return {topic: topics[topic] for topic in Topic if topics.get(topic)}


def _key(owner: Owner) -> str:
    return f"{ASSIGNEE}:{owner.name}"


class PendingNotice(BaseModel):
    """A notice for an owner; or with `channel` for a channel, and the owner of a digest there. `digests` has
    the digests that it is about, and since when it is so.
    """

    owner: Owner
    channel: str | None = None
    notice: Notice = "stopped"
    digests: Mapping[int, datetime] = {}

    @property
    def reader(self) -> str:
        """How the keys of jobs start that send such notices to the same reader."""
        reader = f"{self.owner.team_id}:{self.channel}" if self.channel else self.owner.name
        return f"{NOTICE}:{self.notice}:{reader}:"


def notify(jobs: Jobs, connection: Connection, to: PendingNotice, digests: Collection[int]) -> None:
    """Add digests to the notice that its reader gets next."""
    if not digests:
        return
    notice_times = dict.fromkeys(digests, connection.execute(jobs.processes.clock).scalar_one())
    waiting = jobs.peek_in(connection, JobRow.key.startswith(to.reader, autoescape=True))
    key = f"{to.reader}{secrets.token_hex(16)}"
    if waiting and waiting.content:
        key = waiting.key
        notice_times = {**PendingNotice.model_validate(waiting.content).digests, **notice_times}
    content = to.model_copy(update={"digests": notice_times}).model_dump(mode="json")
    connection.execute(jobs.putting(NOTICE, key, content))
