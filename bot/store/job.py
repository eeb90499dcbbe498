"""A job, and what becomes of it; see `store.jobs`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy import Executable

from bot.store.owner import Owner

FURTHEST = timedelta(hours=1)  # the longest time for which a job is postponed
TRIED_FOR = timedelta(days=1)  # how long a failing job is retried
LONGEST_RETRY = 300.0  # seconds between two attempts of a job that fails
Statement = Executable


class State(StrEnum):
    DUE = "due"
    HELD = "held"
    DONE = "done"
    UNKNOWN = "unknown"  # nobody holds it; an earlier attempt may have done it


@dataclass(frozen=True)
class Job:
    """A claim of a job; `won` if this process holds it now.

    If it isn't `won`, another request is doing the work or has `done` it. `tried_at` is when an earlier
    attempt began that may have done the work, by the clock of the system that was asked, or by this
    machine's: look that up before you repeat it. If users share the work, `tried_by` made that attempt.
    `searched_to` is where an unfinished look-up continues.

    The worker's jobs also have their `content`, None if no encryption key decrypts it, and their `age` since
    they were first due. `sending` describes the request that an earlier attempt began, and `unknown_for` is
    how long its outcome has been unknown. `attempts` counts how often a process took the job, `failures` how
    often in a row it was postponed.
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
        """Retry after `least` seconds, doubled for each earlier failure, up to LONGEST_RETRY."""
        seconds = max(least, min(least * 2 ** min(self.failures, 20), LONGEST_RETRY))
        return Later(seconds, unknown=unknown, content=content)


@dataclass(frozen=True)
class Later:
    """The job is due again after `seconds`, with this content if there is any. If it isn't `unknown`, no
    attempt so far has done the work.
    """

    seconds: float
    unknown: bool = True
    searched_to: str | None = None
    content: object = None


@dataclass(frozen=True)
class Again:
    """The job is done, and due again `at` a time with this content. The statements in `also` run in the same
    transaction, and only if this process still holds the job.
    """

    at: datetime
    content: object
    also: Sequence[Statement] = ()


@dataclass(frozen=True)
class Done:
    """The job is done. For `also`, see `Again`."""

    also: Sequence[Statement] = ()


JobOutcome = Later | Again | Done


class Taker(Protocol):
    """The interface of this process's worker for the store."""

    def wake(self) -> None:
        """Take due jobs now."""

    def start(self, kind: str, jobs: Sequence[Job]) -> None:
        """Start jobs that this process took, and settle them."""
