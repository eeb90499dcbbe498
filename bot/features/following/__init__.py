"""Issues that threads follow: each has a post that is kept up to date."""

from bot.features.following.handlers import FollowHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """*Follow in this thread* and *Stop following*, and what keeps the posts up to date."""
    return FollowHandlers(parts).feature()
