"""Who has notices about digests pending."""

import secrets
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import Connection

from bot.store.jobs import Jobs
from bot.store.owner import Owner
from bot.store.tables import JobRow

Notice = Literal["stopped", "unsure", "delayed"]
"""A notice for the owner: the digest was stopped; its last message may or may not have been posted; it is
overdue and still can't be posted.
"""
NOTICE = "digest notice"
"""The kind of job that sends a notice to one reader; its content is a `PendingNotice`."""


class PendingNotice(BaseModel):
    """A notice for an owner, named as in `Owner.name`; or with `channel` for a channel, and the owner of a
    digest there. `digests` has the digests that it is about, and since when it is so.
    """

    owner: str
    channel: str | None = None
    notice: Notice = "stopped"
    digests: Mapping[int, datetime] = {}

    @property
    def reader(self) -> str:
        """How the keys of jobs start that send such notices to the same reader."""
        reader = f"{Owner.named(self.owner).team_id}:{self.channel}" if self.channel else self.owner
        return f"{NOTICE}:{self.notice}:{reader}:"


def notify(jobs: Jobs, connection: Connection, to: PendingNotice, digests: Collection[int]) -> None:
    """Add digests to the notice that its reader gets next."""
    if not digests:
        return
    told = dict.fromkeys(digests, connection.execute(jobs.processes.clock).scalar_one())
    waiting = jobs.waiting(JobRow.key.startswith(to.reader, autoescape=True), connection)
    if waiting and waiting.content:
        key, told = waiting.key, {**PendingNotice.model_validate(waiting.content).digests, **told}
    else:
        key = f"{to.reader}{secrets.token_hex(16)}"
    content = to.model_copy(update={"digests": told}).model_dump(mode="json")
    connection.execute(jobs.putting(NOTICE, key, content))
