"""Issues: what can be read, created, changed and shown of them; `issue_command` has their command."""

from bot.features.issues.handlers import IssueHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """The buttons that show and share an issue."""
    return IssueHandlers(parts).feature()
