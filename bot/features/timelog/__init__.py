"""Time tracking: logging time, and sharing, changing and deleting what a user logged with the bot."""

from bot.features.parts import Parts
from bot.features.timelog.handlers import TimelogHandlers
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """Everything that `/timelog`, its forms and its buttons answer to."""
    return TimelogHandlers(parts).feature()
