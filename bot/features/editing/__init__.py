"""Changes to issues, by `/issue 42 …` and by a form."""

from bot.features.editing.handlers import EditHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """*Edit*, *Open form* below an error, and the form."""
    return EditHandlers(parts).feature()
