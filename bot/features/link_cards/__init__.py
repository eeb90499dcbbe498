"""Cards below links to issues."""

from bot.features.link_cards.handlers import LinkHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """Slack's events about posted links, and about a card that somebody opened."""
    return LinkHandlers(parts).feature()
