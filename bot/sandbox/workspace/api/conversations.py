"""The conversations.* methods and users.conversations (https://docs.slack.dev/reference/methods).

Lists have cursors: `limit`, and a cursor that names the first item of the next page
(https://docs.slack.dev/apis/web-api/pagination).
"""

import base64
import binascii
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api.call import Arguments, need_scope, visible_channel
from bot.sandbox.workspace.model import Channel, JsonObject, Message
from bot.sandbox.workspace.state import ApiError, State

TYPES = {"public_channel": "channel", "private_channel": "private", "im": "im", "mpim": "mpim"}
READ_SCOPES = {"channel": "channels:{}", "private": "groups:{}", "im": "im:{}", "mpim": "mpim:{}"}

DEFAULT_LIMIT, MAX_LIMIT = 100, 999
ItemT = TypeVar("ItemT")


def _page(
    given: Arguments, items: Sequence[ItemT], name: Callable[[ItemT], str], *, maximum: int = MAX_LIMIT
) -> tuple[Sequence[ItemT], str]:
    """Return the requested page and the next page's cursor, empty after the last page.

    `name` identifies an item; a page has at most `maximum` of them, even if the call asks for more. Raises
    ApiError for a limit out of range, and for a cursor whose item isn't in the list.
    """
    limit = given.number("limit", 0) if given.text("limit") else DEFAULT_LIMIT
    if not 1 <= limit <= MAX_LIMIT:
        raise ApiError("invalid_limit", f"limit is a number from 1 to {MAX_LIMIT}.")
    begin = 0
    if cursor := given.text("cursor"):
        try:
            item_name = base64.b64decode(cursor, validate=True).decode().removeprefix("next:")
            begin = [name(item) for item in items].index(item_name)
        except (binascii.Error, ValueError):
            raise ApiError("invalid_cursor", "The cursor is invalid.") from None
    end = begin + min(limit, maximum)
    following = base64.b64encode(f"next:{name(items[end])}".encode()).decode() if end < len(items) else ""
    return items[begin:end], following


def _readable(state: State, given: Arguments, right: str) -> Channel:
    channel = visible_channel(state, given.required("channel")[0])
    need_scope(state, READ_SCOPES[channel.kind].format(right))
    return channel


def info(state: State, given: Arguments) -> JsonObject:
    channel = _readable(state, given, "read")
    return {"channel": payloads.conversation(state, channel)}


def open_im(state: State, given: Arguments) -> JsonObject:
    need_scope(state, "im:write")
    user = given.required("users")[0]
    if user not in state.users:
        raise ApiError("user_not_found", "The user doesn't exist.", broken=False)
    return {"channel": {"id": state.im(user).id}}


def members(state: State, given: Arguments) -> JsonObject:
    """conversations.members, in a single page."""
    channel = _readable(state, given, "read")
    return {"members": sorted(channel.members), "response_metadata": {"next_cursor": ""}}


def of_member(state: State, given: Arguments) -> JsonObject:
    """users.conversations: the conversations the app shares with `user`, or all of the app's own.

    Each type in `types` requires its own scope. Slack omits `is_member` here.
    """
    names = [name.strip() for name in (given.text("types") or "public_channel").split(",")]
    if unknown := set(names) - set(TYPES):
        raise ApiError("invalid_types", f"There are no conversations of the type {', '.join(unknown)}.")
    kinds = {TYPES[name] for name in names}
    for kind in sorted(kinds):
        need_scope(state, READ_SCOPES[kind].format("read"))
    members = {state.app.bot_user_id, given.text("user") or state.app.bot_user_id}
    matches = [
        channel
        for channel in state.channels.values()
        if channel.kind in kinds
        and members <= channel.members
        and not (given.flag("exclude_archived") and channel.is_archived)
    ]
    page, following = _page(given, matches, lambda channel: channel.id)
    channels = [payloads.conversation(state, channel) for channel in page]
    for channel in channels:
        channel.pop("is_member", None)
    return {"channels": channels, "response_metadata": {"next_cursor": following}}


def _of_history(state: State, given: Arguments) -> Channel:
    channel = _readable(state, given, "history")
    if state.app.bot_user_id not in channel.members:
        raise ApiError("not_in_channel", f"The app isn't in #{channel.name}.", broken=False)
    return channel


def _payloads(state: State, given: Arguments, messages: Sequence[Message]) -> list[JsonObject]:
    metadata = given.flag("include_all_metadata") and "metadata.message:read" in state.app.scopes
    return [payloads.message(state, message, metadata=metadata) for message in messages]


def history(state: State, given: Arguments) -> JsonObject:
    """conversations.history: newest first, without replies.

    As in Slack, pages start at the newest message, or at the oldest when only `oldest` is given.
    """
    channel = _of_history(state, given)
    oldest, latest = given.text("oldest") or "0", given.text("latest") or "9" * 20
    inclusive, upward = given.flag("inclusive"), bool(given.text("oldest")) and not given.text("latest")
    messages = [
        message
        for message in state.messages[channel.id]
        if message.to is None
        and message.thread_ts is None
        and (
            float(oldest) < float(message.ts) < float(latest)
            or (inclusive and message.ts in (oldest, latest))
        )
    ]
    page, following = _page(
        given, messages if upward else messages[::-1], lambda message: message.ts, maximum=state.history_page
    )
    return {
        "messages": _payloads(state, given, page[::-1] if upward else page),
        "has_more": bool(following),
        "pin_count": 0,
        "response_metadata": {"next_cursor": following},
    }


def reactions(state: State, given: Arguments) -> JsonObject:
    """reactions.get, of a message."""
    name, ts = given.required("channel", "timestamp")
    message = state.find(visible_channel(state, name).id, ts)
    if message is None or message.to is not None:
        raise ApiError("message_not_found", "The message doesn't exist.", broken=False)
    return {"type": "message", "channel": name, "message": payloads.message(state, message)}


def replies(state: State, given: Arguments) -> JsonObject:
    """conversations.replies: the parent message, then its replies between two times, oldest first."""
    channel = _of_history(state, given)
    message = state.find(channel.id, given.required("ts")[0])
    if message is None or message.to is not None:
        raise ApiError("thread_not_found", "The message doesn't exist.", broken=False)
    parent = state.find(channel.id, message.thread_ts) if message.thread_ts else message
    oldest, latest = float(given.text("oldest") or 0), float(given.text("latest") or math.inf)
    between = [reply for reply in state.replies(parent or message) if oldest < float(reply.ts) < latest]
    thread = [parent or message, *between]
    page, following = _page(given, thread, lambda message: message.ts, maximum=state.history_page)
    return {
        "messages": _payloads(state, given, page),
        "has_more": bool(following),
        "response_metadata": {"next_cursor": following},
    }
