"""Cursor pagination: `limit`, and a cursor that names the first item of the next page.

Source: https://docs.slack.dev/apis/web-api/pagination
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import TypeVar

from bot.sandbox.workspace.api.call import Arguments
from bot.sandbox.workspace.shapes import ApiError

DEFAULT = 100
MOST = 999
ItemT = TypeVar("ItemT")


def page(
    given: Arguments, items: Sequence[ItemT], name: Callable[[ItemT], str], *, maximum: int = MOST
) -> tuple[Sequence[ItemT], str]:
    """Return the requested page and the next page's cursor, empty after the last page.

    `name` identifies an item; a page has at most `maximum` of them, even if the call asks for more. Raises
    ApiError for a limit out of range, and for a cursor whose item isn't in the list.
    """
    limit = given.number("limit", 0) if given.text("limit") else DEFAULT
    if not 1 <= limit <= MOST:
        raise ApiError("invalid_limit", f"limit is a number from 1 to {MOST}.")
    begin = 0
    if cursor := given.text("cursor"):
        names = [name(item) for item in items]
        begin = _place(cursor, names)
    end = begin + min(limit, maximum)
    following = base64.b64encode(f"next:{name(items[end])}".encode()).decode() if end < len(items) else ""
    return items[begin:end], following


def _place(cursor: str, names: Sequence[str]) -> int:
    try:
        wanted = base64.b64decode(cursor, validate=True).decode().removeprefix("next:")
        return names.index(wanted)
    except (binascii.Error, ValueError):
        raise ApiError("invalid_cursor", "No page begins at this cursor.") from None
