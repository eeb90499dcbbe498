"""Imports what the bot uses of the packages it is built on, and does nothing else.

    python -m tests.benchmarks.imports

answers each line of standard input.
"""

import sys

import apscheduler.schedulers.asyncio
import httpx
import pydantic
import slack_bolt.async_app
import sqlalchemy.ext.asyncio
import sqlalchemy.orm

USED = (
    apscheduler.schedulers.asyncio.AsyncIOScheduler,
    httpx.AsyncClient,
    pydantic.BaseModel,  # pydantic and SQLAlchemy import their parts when they are used
    slack_bolt.async_app.AsyncApp,
    sqlalchemy.ext.asyncio.AsyncEngine,
    sqlalchemy.orm.DeclarativeBase,
)

if __name__ == "__main__":
    for _ in sys.stdin:
        sys.stdout.write("{}\n")
        sys.stdout.flush()
