"""Comments on issues, also such that add a Slack message."""

from bot.features.comments.handlers import CommentHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """Everything that the form for a comment and its buttons answer to."""
    return CommentHandlers(parts).feature()
