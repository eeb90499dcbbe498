"""Giving back what a person typed, less what may be an API key."""

import re

from bot.slack.blocks import Block, context
from bot.slack.text import code

MOST = 1500
"""How many characters of a command are given back."""
KEY_LIKE = re.compile(r"(?<![0-9A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Za-z]{24,}(?![0-9A-Za-z])")


def without_keys(text: str) -> str:
    """The text with "…" for every run of letters and digits that may be a key."""
    return KEY_LIKE.sub("…", text)


def as_code(command: str) -> str:
    """The command as mrkdwn code."""
    return code(without_keys(command)[:MOST])


def typed(command: str) -> Block:
    """What the person typed, to copy and correct."""
    return context(f"You typed: {as_code(command)}")
