"""PostgreSQL, for several replicas. Imported only where it is used."""

from collections.abc import Callable
from typing import TypeVar

import asyncpg
from sqlalchemy import URL, Connection
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

T = TypeVar("T")

SECONDS_PER_STATEMENT = 30


class Postgresql:
    def __init__(self, url: URL, wait_seconds: float) -> None:
        dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)

        async def connect() -> asyncpg.Connection:
            try:
                return await asyncpg.connect(dsn, timeout=wait_seconds, command_timeout=SECONDS_PER_STATEMENT)
            except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                raise SQLAlchemyError(str(error) or type(error).__name__) from None

        self.engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=connect,
            pool_pre_ping=True,
            pool_timeout=wait_seconds,
            hide_parameters=True,
        )
        self.insert = postgresql.insert

    async def transact(self, work: Callable[[Connection], T], *, writes: bool) -> T:  # noqa: ARG002 - as SQLite's
        async with self.engine.begin() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        await self.engine.dispose()
