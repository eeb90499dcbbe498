"""The protocol for posting digests, with its parameters and results."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.service.models import Issue
from bot.slack.outgoing.outcomes import ChannelStatus, Found, Outcome
from bot.store.digests import Digest, Notice
from bot.store.owner import Owner


@dataclass(frozen=True, kw_only=True)
class Edition:
    """The content of a digest's message. `issues` are the new ones, oldest first; there may be `more`.

    `missed` is how many due times before `due_at` it covers as well, `late` how long after `due_at` it is
    posted. `periods` has the number of issues in each of the last periods, the current one last; it is empty
    if they can't be compared. `asked` is true if a user requested it between two due times.
    """

    digest: Digest
    due_at: datetime
    issues: tuple[Issue, ...]
    now: datetime
    missed: int
    late: timedelta
    periods: tuple[int, ...]
    asked: bool = False
    more: bool = False

    def count(self, issues: int) -> str:
        """A number of these issues."""
        return f"{issues}+" if self.more else str(issues)


Ready = Callable[[], Awaitable[Edition | None]]


class Poster(Protocol):
    async def channel_status(self, owner: Owner, channel_id: str) -> ChannelStatus:
        """Whether a channel of the owner's workspace accepts digests."""

    async def post(self, digest: Digest, due_at: datetime, ready: Ready) -> Outcome | None:
        """Post what `ready` returns when the digest's turn comes, in order of due times, without repeating a
        post whose outcome is unknown; None if `ready` returns None.

        The channel is checked right before; after a delay `ready` is called again.
        """

    def slack_time(self) -> datetime | None:
        """The time by Slack's clock, which sets messages' `ts`; None before Slack's first response."""

    async def find(
        self, digest: Digest, due_at: datetime, within: tuple[datetime, datetime], searched_to: str | None
    ) -> Found:
        """Search the channel for the message of this due time, posted between the two times `within`.

        `searched_to` is where an unfinished search continues.
        """

    async def notify_owner(self, digests: Sequence[Digest], notice: Notice) -> bool:
        """Notify the digests' owner in one message; False if that has to be retried."""

    async def notify_channel(self, digests: Sequence[Digest]) -> bool:
        """Notify the channel that its digests stopped; False if that has to be retried."""
