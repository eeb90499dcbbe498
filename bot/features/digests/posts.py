"""What posts digests: the values in and out, and the Protocol that Slack and the tests' Slack stand for."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from bot.service.models import Issue
from bot.store.digests import Digest, Notice, Pause
from bot.store.owner import Owner


@dataclass(frozen=True, kw_only=True)
class Edition:
    """One digest's message. `issues` are new, the oldest first.

    `missed` is how many due times before `due_at` it stands for too; `late` how long after `due_at` it comes.
    `periods` are the counts of the last periods, the oldest first, this one's last; empty where they don't
    compare. `asked` when somebody asked for it between two due times.
    """

    digest: Digest
    due_at: datetime
    issues: tuple[Issue, ...]
    now: datetime
    missed: int
    late: timedelta
    periods: tuple[int, ...]
    asked: bool = False


class Standing(Enum):
    """Whether a channel takes digests."""

    OPEN = "open"
    GONE = "gone"
    """Archived, deleted, or the bot is not in it."""
    SHARED = "shared"
    """People outside the company read along."""
    UNKNOWN = "unknown"
    """Slack doesn't say at the moment."""


@dataclass(frozen=True)
class Posted:
    """The message stands in the channel."""

    ts: str


@dataclass(frozen=True)
class Refused:
    """Nothing was posted, nor will it be while things are as they are."""

    why: Pause


@dataclass(frozen=True)
class Delayed:
    """Nothing was posted; it can be tried again after so many seconds."""

    seconds: float


class Unsure:
    """It may have been posted, or not."""


@dataclass(frozen=True)
class Unfinished:
    """The search can go on after so many seconds, at messages before `searched_to`, Slack's `ts`."""

    seconds: float
    searched_to: str | None = None


class Absent:
    """It was looked up and isn't there."""


class Hidden:
    """It can't be looked up, now or later."""


Outcome = Posted | Refused | Delayed | Unsure
Found = Posted | Absent | Hidden | Unfinished


class Poster(Protocol):
    """Where digests are posted."""

    async def standings(self, owner: Owner, channels: Collection[str]) -> Mapping[str, Standing]:
        """How these channels of the owner's workspace stand, read together."""

    def turn(self, digest: Digest, due_at: datetime) -> AbstractAsyncContextManager[None]:
        """Waits until a message may go to the digest's channel, in order of due times."""

    def prepared(self, edition: Edition) -> Callable[[float], Awaitable[Outcome]]:
        """The message, made; calling it posts once: never again by itself once it may have been posted.

        It takes the latest moment, on the monotonic clock, at which the request may begin; Delayed after it.
        """

    def slack_time(self) -> datetime | None:
        """The time by Slack's clock, which dates messages; None until Slack has told it."""

    async def find(
        self, digest: Digest, due_at: datetime, within: tuple[datetime, datetime], searched_to: str | None
    ) -> Found:
        """Searches the channel for the message of that due time, which was posted at one of those moments.

        `searched_to` is where an unfinished search goes on.
        """

    async def tell_owner(self, digests: Sequence[Digest], notice: Notice) -> bool:
        """Tells their owner, in one message, what became of these; False when that has to be tried again."""

    async def tell_channel(self, digests: Sequence[Digest]) -> bool:
        """Tells their channel that these stopped; False when that has to be tried again."""
