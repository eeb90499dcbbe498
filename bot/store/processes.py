"""Heartbeats of the bot's processes, and the database's clock, which decides when background work is due."""

import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bot.store.database import Database, translated_errors
from bot.store.tables import NOW, ProcessRow


class Processes:
    """Sends this process's heartbeats, and detects dead processes.

    `name` identifies this process as the holder of its claims. `timeout`: seconds without a heartbeat after
    which a process is dead. `clock`: the query for the time that all processes share.
    """

    def __init__(self, database: Database, *, timeout: float, clock: sa.Select[datetime] = NOW) -> None:
        self._database = database
        self._timeout = timedelta(seconds=timeout)
        self.clock = clock
        self.name = secrets.token_hex(8)
        self._last_beat: datetime | None = None
        self._steady_since: datetime | None = None

    async def now(self) -> datetime:
        return await self._database.read(lambda connection: connection.execute(self.clock).scalar_one())

    async def beat(self) -> None:
        """Send a heartbeat. Raises DatabaseUnavailableError."""

        def work(connection: sa.Connection) -> datetime:
            now = connection.execute(self.clock).scalar_one()
            row = {"holder": self.name}
            connection.execute(self._database.upsert(ProcessRow, row, {"seen_at": now}))
            return now

        with translated_errors():
            now = await self._database.write(work)
        if not self._beat_lately(now):
            self._steady_since = now
        self._last_beat = now

    async def is_beating(self) -> bool:
        """Whether the database has stored this process's heartbeats lately. Raises SQLAlchemyError."""
        now = await self.now()
        return self._last_beat is not None and now - self._last_beat < self._timeout

    def dead(self, holder: sa.SQLColumnExpression[Any], now: datetime) -> sa.ColumnElement[bool]:
        """Match rows that have a holder, and it is dead.

        Matches none until this process's own heartbeats have been steady for the whole timeout: after a
        database outage every process looks dead for a moment.
        """
        steady = self._beat_lately(now) and self._steady_since and now - self._steady_since >= self._timeout
        if not steady:
            return sa.false()
        alive = sa.exists().where(ProcessRow.holder == holder, ProcessRow.seen_at > now - self._timeout)
        return sa.and_(holder.is_not(None), ~alive)

    async def leave(self) -> None:
        """Delete this process, so that others can take over its jobs right away."""
        await self._database.execute(sa.delete(ProcessRow).where(ProcessRow.holder == self.name))

    def _beat_lately(self, now: datetime) -> bool:
        return self._last_beat is not None and abs(now - self._last_beat) < self._timeout / 2


class Clock:
    """The last time read from the database plus the time since; this machine's clock until the first read."""

    def __init__(self) -> None:
        self._last_read: tuple[datetime, float] | None = None

    def set(self, now: datetime) -> None:
        self._last_read = (now, time.monotonic())

    def now(self) -> datetime:
        then, at = self._last_read or (datetime.now(UTC), time.monotonic())
        return then + timedelta(seconds=time.monotonic() - at)
