"""The database's clock, which decides when digests are due."""

import time
from datetime import UTC, datetime, timedelta

JUMP = timedelta(minutes=1)
"""How far the clock may be set back before due times are recalculated."""


class Clock:
    """The last time read from the database plus the time since; this machine's clock until the first read."""

    def __init__(self) -> None:
        self._last_read: tuple[datetime, float] | None = None

    def set(self, now: datetime) -> bool:
        """Set the time read from the database; whether its clock was set back."""
        set_back = self._last_read is not None and now < self.now() - JUMP
        self._last_read = (now, time.monotonic())
        return set_back

    def now(self) -> datetime:
        """The time by the database's clock."""
        then, at = self._last_read or (datetime.now(UTC), time.monotonic())
        return then + timedelta(seconds=time.monotonic() - at)
