"""The `/tracker` command, above accounts, projects and users."""

from bot.features.parts import Parts
from bot.features.tracker.handlers import TrackerHandlers
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    return TrackerHandlers(parts).feature()
