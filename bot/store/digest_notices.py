"""Who has notices about digests pending."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from bot.store.owner import Owner

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
    digests: Mapping[int, datetime]

    @property
    def reader(self) -> str:
        """How the keys of jobs start that send such notices to the same reader."""
        reader = f"{Owner.named(self.owner).team_id}:{self.channel}" if self.channel else self.owner
        return f"{NOTICE}:{self.notice}:{reader}:"
