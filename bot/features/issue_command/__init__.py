"""The `/issue` command, above the features that it leads to."""

from bot.features.issue_command.handlers import IssueCommand
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    return IssueCommand(parts).feature()
