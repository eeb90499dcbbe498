"""Quotes what a user typed, without anything that may be an API key."""

import re

from bot.slack import rich_text
from bot.slack.blocks import Block

KEY_LIKE = re.compile(r"(?<![0-9A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Za-z]{24,}(?![0-9A-Za-z])")


def without_keys(text: str) -> str:
    """The text with "…" for every run of letters and digits that may be a key."""
    return KEY_LIKE.sub("…", text)


def typed(command: str, said: str = "You typed: ") -> Block:
    """A block that quotes the user's command exactly."""
    return rich_text.paragraph(said, rich_text.words(without_keys(command), code=True))
