"""What errors say to users, as the app words them."""

from bot.errors import BotError
from bot.features import registry
from bot.slack import sentences
from bot.slack.wording import Wording

SENTENCES = (sentences.sentence, *registry.SENTENCES)
WORDING = Wording("http://127.0.0.1:1", "Tracker", "markdown", sentences=SENTENCES)


def worded(error: BotError) -> str:
    """The sentence that a user reads for an error."""
    return WORDING.sentence(error)
