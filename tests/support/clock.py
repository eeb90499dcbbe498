"""A database's clock that a test sets."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Select, bindparam, select

from bot.store.column_types import UtcDateTime


class SetClock:
    """The time now and `ahead`, as the query that all of a bot's processes ask for the time."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def query(self) -> Select[datetime]:
        return select(bindparam("now", callable_=self.now, type_=UtcDateTime()))
