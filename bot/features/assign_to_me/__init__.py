"""*Assign to me*, above issues and the digests that list them."""

from bot.features.assign_to_me.handlers import AssignHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature


def feature(parts: Parts) -> Feature:
    return AssignHandlers(parts).feature()
