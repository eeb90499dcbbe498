"""A job, and what becomes of it; see `store.jobs`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy import Executable

from bot.store.owner import Owner

FURTHEST = timedelta(hours=1)  # how far a job may be put off
TRIED_FOR = timedelta(days=1)  # how long a job is tried that fails
LONGEST_RETRY = 300.0  # seconds between two attempts of a job that fails
Statement = Executable


class State(StrEnum):
    DUE = "due"
    HELD = "held"
    DONE = "done"
    UNKNOWN = "unknown"  # free, and may be done


@dataclass(frozen=True)
class Job:
    """A job that was asked for; `won` if this process holds it now.

    Not `won` means that another request does the work now, or has `done` it. `tried_at` is when an earlier
    attempt began that may have done the work: look it up before you do it again, as `tried_by`, whose attempt
    that was, if people share the work. `searched_to` is where an unfinished look-up goes on.

    The worker's jobs have what was put: its content, None if no key decrypts it, and the `age` since it was
    due first. `sending` is what the request does that an earlier attempt has begun, and
    `unknown_for` how long it isn't known whether one did that. `attempts` counts how
    often a job was taken, `failures` how often in a row it was put off.
    """

    key: str
    won: bool
    done: bool = False
    tried_at: datetime | None = None
    tried_by: Owner | None = None
    searched_to: str | None = None
    age: timedelta = timedelta(0)
    content: Any = None
    sending: Any = None
    unknown_for: timedelta = timedelta(0)
    attempts: int = 0
    failures: int = 0

    def later(self, least: float, *, unknown: bool = True, content: object = None) -> "Later":
        """Try again after at least that many seconds, and longer each time."""
        seconds = max(least, min(least * 2 ** min(self.failures, 20), LONGEST_RETRY))
        return Later(seconds, unknown=unknown, content=content)


@dataclass(frozen=True)
class Later:
    """A job is done later, after `seconds`, with this content, if it changed. Not `unknown`: neither this
    attempt nor an earlier one has done it.
    """

    seconds: float
    unknown: bool = True
    searched_to: str | None = None
    content: object = None


@dataclass(frozen=True)
class Again:
    """A job is done, and due once more at that time, with this content. `also` are the statements that are
    executed with it, in one transaction, unless the job isn't this process's anymore.
    """

    at: datetime
    content: object
    also: Sequence[Statement] = ()


@dataclass(frozen=True)
class Done:
    """A job is done; for `also` see `Again`."""

    also: Sequence[Statement] = ()


Outcome = Later | Again | Done


class Taker(Protocol):
    """What does jobs in this process."""

    def wake(self) -> None:
        """Look for due jobs now."""

    def start(self, kind: str, jobs: Sequence[Job]) -> None:
        """Do jobs that were taken, and settle them."""
