"""The form for a new issue."""

from bot.features.new_issue.handlers import CreateFormHandlers
from bot.features.new_issue.opening import FormOpening
from bot.features.new_issue.while_typing import TypingHandlers
from bot.features.parts import Parts
from bot.slack.incoming.debounce import Debouncer
from bot.slack.incoming.feature import Feature, merged


def feature(parts: Parts) -> Feature:
    """What opens the form, its fields and selects, and its submission."""
    pauses = Debouncer(parts.delays.typing)
    return merged(
        [
            FormOpening(parts).feature(),
            TypingHandlers(parts, pauses).feature(),
            CreateFormHandlers(parts, pauses).feature(),
        ]
    )
