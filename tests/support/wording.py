"""What errors say to users, as the app words them."""

import logging

from bot.errors import BotError
from bot.slack.text.wording import Wording

WORDING = Wording("http://127.0.0.1:1", "Tracker", "markdown")


def worded(error: BotError) -> str:
    """Returns the sentence that a user reads for an error."""
    sentence = WORDING.sentence(error)
    logging.getLogger("issuebot.sandbox.received").debug("error", extra={"payload": {"errors": sentence}})
    return sentence
