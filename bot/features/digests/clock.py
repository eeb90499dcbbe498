"""The database's clock, which tells when digests are due."""

import time
from datetime import UTC, datetime, timedelta

JUMP = timedelta(minutes=1)
"""How far the clock may fall behind before due times are looked at anew."""


class Clock:
    """The database's clock as it was last told, and what passed since; this machine's before that."""

    def __init__(self) -> None:
        self._told: tuple[datetime, float] | None = None

    def set(self, now: datetime) -> bool:
        """Take the time from the database; whether its clock was set back."""
        back = self._told is not None and now < self.now() - JUMP
        self._told = (now, time.monotonic())
        return back

    def now(self) -> datetime:
        """The time by the database's clock."""
        then, at = self._told or (datetime.now(UTC), time.monotonic())
        return then + timedelta(seconds=time.monotonic() - at)
