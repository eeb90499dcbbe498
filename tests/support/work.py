"""What a bot does in the background."""

import asyncio
from datetime import timedelta
from typing import Protocol

from sqlalchemy import func, select

from bot.app import Bot
from bot.slack.incoming.deliveries import REQUEST
from bot.store.jobs import UNFINISHED
from bot.store.tables import JobRow
from bot.tasks import Tasks
from tests.support.clock import SetClock


async def run_due(bot: Bot) -> None:
    """Runs the jobs that are due by the database's clock, and waits until they are done."""
    await bot.worker.run_due()
    await at_rest(bot)


class Office(Protocol):
    """A bot, and the database's clock."""

    clock: SetClock

    @property
    def bot(self) -> Bot: ...


async def run_due_after(office: Office, time: timedelta) -> None:
    """Runs the jobs that are due after that time, and waits until they are done."""
    office.clock.ahead += time
    await run_due(office.bot)


async def at_rest(bot: Bot) -> None:
    """Waits until a bot does nothing in the background."""
    await idle(bot.worker.tasks)


async def idle(tasks: Tasks) -> None:
    """Waits until all tasks are done, and those that they start."""
    while len(tasks):
        await asyncio.wait(set(tasks._tasks))


async def cut_off(bot: Bot) -> None:
    """Cancels all that a bot does in the background; it takes no more jobs."""
    await bot.worker.stop(0)


async def none_held(bot: Bot) -> bool:
    """Returns whether every request is answered, also those of processes that crashed."""
    statement = select(func.count()).where(JobRow.kind == REQUEST, UNFINISHED)
    return not await bot.database.read(lambda connection: connection.scalar(statement))
