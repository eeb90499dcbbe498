"""The service's users; `tracker` has their commands."""

from bot.features.parts import Parts
from bot.features.users.handlers import UserHandlers
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """The forms with which administrators create and change accounts."""
    return UserHandlers(parts).feature()
