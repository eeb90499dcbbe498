"""What a bot does in the background."""

from sqlalchemy import func, select

from bot.app import Bot
from bot.features.digests.runs import DigestRuns
from bot.features.following.runs import FollowRuns
from bot.store.tables import DeliveryRow


def digest_runs(bot: Bot) -> DigestRuns:
    runs = bot.features.work["due digests"]
    assert isinstance(runs, DigestRuns)
    return runs


def follow_runs(bot: Bot) -> FollowRuns:
    runs = bot.features.work["followed issues"]
    assert isinstance(runs, FollowRuns)
    return runs


async def none_held(bot: Bot) -> bool:
    """Returns whether every request is answered, also those of processes that crashed."""
    held = select(func.count()).where(DeliveryRow.holder.is_not(None))
    return not await bot.database.read(lambda connection: connection.scalar(held))
