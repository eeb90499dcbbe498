"""Issues that a message may be about."""

from bot.features.parts import Parts
from bot.features.related.handlers import RelatedHandlers
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """*Find related issues* on a message, and the buttons of the list."""
    return RelatedHandlers(parts).feature()
