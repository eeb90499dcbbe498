"""Attaching files to issues: those of the user's computer, and those of Slack messages."""

from bot.features.files.handlers import FileHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """Everything that the forms and buttons about files answer to."""
    return FileHandlers(parts).feature()
