"""Searches of issues."""

from bot.features.parts import Parts
from bot.features.search.handlers import SearchHandlers
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """`/issues`, its form, and the buttons of its pages."""
    return SearchHandlers(parts).feature()
