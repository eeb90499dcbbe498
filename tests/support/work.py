"""What a bot does in the background."""

from datetime import timedelta
from typing import Protocol

from sqlalchemy import func, select

from bot.app import Bot
from bot.features.background import Background
from bot.features.digests.runs import DigestRuns
from bot.features.following.runs import FollowRuns
from bot.slack.incoming.deliveries import REQUEST
from bot.store.jobs import State
from bot.store.tables import JobRow
from bot.tasks import Tasks
from tests.support.clock import SetClock


async def run_due(bot: Bot) -> None:
    """Does what is due by the database's clock, and waits until it is done."""
    for work in bot.features.work.values():
        assert isinstance(work, Background)
        await work.run_due()
        await work.idle()
    await bot.worker.run_due()
    await bot.worker.tasks.idle()


class Office(Protocol):
    """A bot, and the database's clock."""

    clock: SetClock

    @property
    def bot(self) -> Bot: ...


async def run_due_after(office: Office, time: timedelta) -> None:
    """Does what is due after that time, and waits until it is done."""
    office.clock.ahead += time
    await run_due(office.bot)


def background(bot: Bot) -> list[Tasks]:
    """What a bot does in the background."""
    return [bot.worker.tasks, *(w._tasks for w in bot.features.work.values() if isinstance(w, Background))]


async def at_rest(bot: Bot) -> None:
    """Waits until a bot does nothing in the background."""
    while any(map(len, background(bot))):
        for tasks in background(bot):
            await tasks.idle()


async def cut_off(bot: Bot) -> None:
    """Cancels all that a bot does in the background; it takes no more jobs."""
    await bot.worker.stop(0)
    for tasks in background(bot):
        await tasks.drain(0)


def digest_runs(bot: Bot) -> DigestRuns:
    runs = bot.features.work["due digests"]
    assert isinstance(runs, DigestRuns)
    return runs


async def run_digests(bot: Bot, after: timedelta) -> None:
    """Posts the digests that are due after that time."""
    await digest_runs(bot).run_due(await bot.store.processes.now() + after)
    await digest_runs(bot).idle()
    await bot.worker.run_due()
    await bot.worker.tasks.idle()


def follow_runs(bot: Bot) -> FollowRuns:
    runs = bot.features.work["followed issues"]
    assert isinstance(runs, FollowRuns)
    return runs


async def none_held(bot: Bot) -> bool:
    """Returns whether every request is answered, also those of processes that crashed."""
    held = select(func.count()).where(JobRow.kind == REQUEST, JobRow.state != State.DONE)
    return not await bot.database.read(lambda connection: connection.scalar(held))
