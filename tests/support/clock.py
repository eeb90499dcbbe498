"""A database's clock that a test sets."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Select, bindparam, select

from bot.store.tables import UtcDateTime


class SetClock:
    """The time now and `ahead`, as the query that all of a bot's processes ask for the time."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def query(self) -> Select[datetime]:
        return _asking(self.now)


@dataclass(frozen=True)
class SharedClock:
    """As `SetClock`, for processes: `file` holds how many seconds the clock is ahead."""

    file: Path

    def turn(self, seconds: float) -> None:
        """Sets the clock ahead by so many seconds."""
        new = self.file.with_suffix(".new")
        new.write_text(str(self._ahead() + seconds))
        new.replace(self.file)

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._ahead())

    def query(self) -> Select[datetime]:
        return _asking(self.now)

    def _ahead(self) -> float:
        return float(self.file.read_text()) if self.file.exists() else 0.0


def _asking(now: Callable[[], datetime]) -> Select[datetime]:
    return select(bindparam("now", callable_=now, type_=UtcDateTime()))
