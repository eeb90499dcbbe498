"""Outcomes of background writes, and of looking them up later."""

from dataclasses import dataclass
from enum import Enum


class ChannelStatus(Enum):
    OPEN = "open"
    GONE = "gone"  # archived, deleted, or the bot is not in it
    SHARED = "shared"  # people outside the company are in it
    UNKNOWN = "unknown"  # Slack doesn't tell at the moment


@dataclass(frozen=True)
class Posted:
    ts: str


@dataclass(frozen=True)
class PostRefused:
    """Nothing was posted, and a retry won't help. `status`: the channel's new status, if that is why."""

    status: ChannelStatus | None = None


@dataclass(frozen=True)
class Delayed:
    """Nothing was posted; it can be retried after `seconds`."""

    seconds: float


class Unsure:
    """The message may have been posted."""


@dataclass(frozen=True)
class Unfinished:
    """The search can continue after `seconds`, at `searched_to`, Slack's `ts`."""

    seconds: float
    searched_to: str | None = None


class Absent:
    """The message isn't in the channel."""


class Hidden:
    """The message can't be looked up, now or later."""


DeliveryOutcome = Posted | PostRefused | Delayed | Unsure
PostLookup = Posted | Absent | Hidden | Unfinished
