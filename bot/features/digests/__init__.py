"""Digests: posts of what is new, due, stale or closed in a project, and messages about one's own issues."""

from bot.features.digests.handlers import DigestHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """Everything that `/digest` and the forms and buttons of digests answer to, and what posts them."""
    return DigestHandlers(parts).feature()
