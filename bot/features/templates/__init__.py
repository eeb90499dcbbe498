"""Templates for new issues; the form for a new issue uses them."""

from bot.features.parts import Parts
from bot.features.templates.handlers import TemplateHandlers
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """The buttons in the list of a project's templates, and the form for one."""
    return TemplateHandlers(parts).feature()
