"""Lists in pages: `limit`, and a cursor that names where the next page begins.

Source: https://docs.slack.dev/apis/web-api/pagination
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import TypeVar

from bot.sandbox.workspace.api.call import Arguments
from bot.sandbox.workspace.shapes import Refused

DEFAULT = 100
MOST = 999
ItemT = TypeVar("ItemT")


def page(
    given: Arguments, items: Sequence[ItemT], name: Callable[[ItemT], str], *, most: int = MOST
) -> tuple[Sequence[ItemT], str]:
    """The page that a call asks for, and the cursor of the next one, empty after the last.

    `name` tells items apart; a page has `most` of them, even if the call asks for more. Raises Refused for a
    limit out of bounds and for a cursor of something that is not listed, or no longer.
    """
    limit = given.number("limit", 0) if given.text("limit") else DEFAULT
    if not 1 <= limit <= MOST:
        raise Refused("invalid_limit", f"limit is a number from 1 to {MOST}.")
    begin = 0
    if cursor := given.text("cursor"):
        names = [name(item) for item in items]
        begin = _place(cursor, names)
    end = begin + min(limit, most)
    following = base64.b64encode(f"next:{name(items[end])}".encode()).decode() if end < len(items) else ""
    return items[begin:end], following


def _place(cursor: str, names: Sequence[str]) -> int:
    try:
        wanted = base64.b64decode(cursor, validate=True).decode().removeprefix("next:")
        return names.index(wanted)
    except (binascii.Error, ValueError):
        raise Refused("invalid_cursor", "No page begins at this cursor.") from None
