"""Projects, and the project of a channel; `tracker` has their commands."""

from bot.features.parts import Parts
from bot.features.projects.handlers import ProjectHandlers
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """The form for a new project, and the buttons of projects."""
    return ProjectHandlers(parts).feature()
