"""The protocol for posts that follow issues, with its results."""

from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Protocol

from bot.features.digests.posts import ChannelStatus
from bot.features.following.reading import Seen
from bot.store.followed import Followed
from bot.store.owner import Owner


class Sent(Enum):
    """The outcome of a write to Slack."""

    DONE = auto()
    GONE = auto()
    """Nothing was written, and nothing can be: the post, the thread or the channel is gone."""
    LATER = auto()
    """Nothing was written. A retry may help."""
    UNSURE = auto()


class Looked(Enum):
    """The outcome of looking for a line in the thread."""

    FOUND = auto()
    ABSENT = auto()
    HIDDEN = auto()
    """It can't be looked up, now or later."""
    LATER = auto()


class ThreadPoster(Protocol):
    """Writes to the threads that follow issues."""

    async def channel_status(self, owner: Owner, channel_id: str) -> ChannelStatus:
        """Whether the channel may still be shown the issue."""

    def slack_time(self) -> datetime | None:
        """The time by Slack's clock; None before Slack's first response."""

    async def update(self, followed: Followed, seen: Seen) -> Sent:
        """Show the issue in its post. Repeating it is safe."""

    async def tell(self, followed: Followed, seen: Seen) -> Sent:
        """Add the line that says whether the issue is closed, without retries."""

    async def find_line(self, followed: Followed, sent_at: datetime, longest: timedelta) -> Looked:
        """Look for the line that was being sent; its request took `longest` at most."""

    async def notify_owner(self, owner: Owner, posts: int) -> None:
        """Tell the user that this many posts stopped because their key doesn't work anymore."""
