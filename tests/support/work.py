"""What a bot does in the background."""

from datetime import timedelta

from sqlalchemy import func, select

from bot.app import Bot
from bot.features.background import Background
from bot.features.digests.runs import DigestRuns
from bot.features.following.runs import FollowRuns
from bot.slack.incoming.deliveries import REQUEST
from bot.store.jobs import State
from bot.store.tables import JobRow


async def run_due(bot: Bot) -> None:
    """Does what is due by the database's clock, and waits until it is done."""
    for work in bot.features.work.values():
        assert isinstance(work, Background)
        await work.run_due()
        await work.idle()
    await bot.worker.run_due()
    await bot.worker.tasks.idle()


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
