"""Who has notices about digests pending."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.store.owner import Owner

Notice = Literal["stopped", "unsure", "delayed"]
"""A notice for the owner: the digest was stopped; its last message may or may not have been posted; it is
overdue and still can't be posted.
"""
NOTICE = "digest notice"
"""The kind of job that sends what is pending for one reader; its content is a `PendingNotice`."""


@dataclass(frozen=True, kw_only=True)
class PendingNotice:
    """Who has notices pending: an owner, named as in `Owner.name`, of this kind; or with `channel` a channel,
    and the owner of a digest there.
    """

    owner: str
    channel: str | None = None
    notice: Notice = "stopped"

    @property
    def key(self) -> str:
        reader = f"{Owner.named(self.owner).team_id}:{self.channel}" if self.channel else self.owner
        return f"{NOTICE}:{self.notice}:{reader}"


@dataclass(frozen=True)
class SentNotice:
    """What a message tells of that may have been sent, and the mark by which it is found."""

    mark: str
    digests: Sequence[int] = ()
