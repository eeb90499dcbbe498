"""What errors say to users, as the app words them."""

import logging

from bot.errors import BotError
from bot.features import registry
from bot.slack import sentences
from bot.slack.wording import Wording

SENTENCES = (sentences.sentence, *registry.SENTENCES)
WORDING = Wording("http://127.0.0.1:1", "Tracker", "markdown", sentences=SENTENCES)


def worded(error: BotError) -> str:
    """Returns the sentence that a user reads for an error."""
    said = WORDING.sentence(error)
    logging.getLogger("issuebot.sandbox.received").debug("error", extra={"payload": {"errors": said}})
    return said
