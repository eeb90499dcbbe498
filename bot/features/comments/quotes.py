"""Quotes a message in a comment."""

from bot.features.new_issue.from_message import in_words
from bot.slack.blocks import JSON
from bot.slack.replies import Reply


async def quoted(reply: Reply, message: JSON) -> str:
    """A message's author, with a link to it, and its text as a quote, in the service's format.

    Textile has no code blocks in quotes, so a message with one isn't quoted there.
    """
    said = await in_words(reply, message)
    if not said.text:
        return said.source
    text = said.text
    if "<pre>" not in text:
        text = "\n".join(f"> {line}" for line in text.split("\n"))
    return f"{said.source}:\n\n{text}"
