"""The database's clock, which decides when background work is due."""

import time
from datetime import UTC, datetime, timedelta

JUMP = timedelta(minutes=1)
"""How far the clock may be set back before due times are recalculated."""


class Clock:
    """The last time read from the database plus the time since; this machine's clock until the first read.

    `suspect`: due times and leases may be from a clock that was ahead, as at the start and when the
    database's clock was set back.
    """

    def __init__(self) -> None:
        self._last_read: tuple[datetime, float] | None = None
        self.suspect = True

    def set(self, now: datetime) -> None:
        """Set the time read from the database."""
        self.suspect |= self._last_read is not None and now < self.now() - JUMP
        self._last_read = (now, time.monotonic())

    def now(self) -> datetime:
        """The time by the database's clock."""
        then, at = self._last_read or (datetime.now(UTC), time.monotonic())
        return then + timedelta(seconds=time.monotonic() - at)
