"""What an option of a list carries: a value of any length, by a key if it is too long."""

import hashlib

LONGEST = 150
"""The longest value that Slack takes (docs/slack.md, Sizes)."""
_KEY = "option-key:"


def carried(value: str) -> str:
    """The value itself, or a key. The value of a key is found among those that the option may stand for."""
    return value if len(value) <= LONGEST else _KEY + hashlib.sha256(value.strip().encode()).hexdigest()


def is_key(value: str) -> bool:
    return value.startswith(_KEY)
