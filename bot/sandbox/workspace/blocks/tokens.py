"""The `<…>` tokens of mrkdwn: links, mentions and dates. Slack renders anything else as a broken link."""

import re
from collections.abc import Iterator

from bot.sandbox.workspace.state import State

TOKEN = re.compile(r"<([^<>]*)>?")
KNOWN = re.compile(
    r"(?:https?://|mailto:|tel:)[^|]+(?:\|.+)?|[@#][A-Z][A-Z0-9]+(?:\|.*)?"
    r"|!(?:here|channel|everyone|subteam\^[A-Z0-9]+|date\^[0-9]+\^[^|]+)(?:\|.+)?",
    re.DOTALL,
)


def check_tokens(state: State, where: str, *parts: object) -> None:
    """Report unknown tokens on the panel; Slack accepts them but can't render them."""
    for token in _unknown(parts):
        state.violate(where, "unknown_token", f"{token!r} is read as a link. Escape `<` and `>`.")


def _unknown(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield from (found[0] for found in TOKEN.finditer(part) if not KNOWN.fullmatch(found[1]))
    elif isinstance(part, list | tuple):
        for item in part:
            yield from _unknown(item)
    elif isinstance(part, dict):
        if part.get("type") == "mrkdwn":
            yield from _unknown(part.get("text"))
        for value in part.values():
            if not isinstance(value, str):
                yield from _unknown(value)
