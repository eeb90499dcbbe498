"""The Home tab, above the features that it shows."""

from bot.features.home.handlers import HomeHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    return HomeHandlers(parts).feature()
