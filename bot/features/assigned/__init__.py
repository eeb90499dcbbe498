"""Messages to users whom someone else assigned an issue."""

from bot.features.assigned.messenger import AssignmentMessenger
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    """The switch on the Home tab, and the messages that have to be sent again."""
    return AssignmentMessenger(parts).feature()
