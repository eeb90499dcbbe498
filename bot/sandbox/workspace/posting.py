"""The app's messages: validated like Slack does, then posted to a channel."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.sandbox.workspace.blocks.surfaces import check_blocks, with_ids
from bot.sandbox.workspace.blocks.tokens import check_tokens
from bot.sandbox.workspace.model import Channel, Message
from bot.sandbox.workspace.shapes import ApiError, JsonObject, as_object
from bot.sandbox.workspace.state import State

MAX_TEXT = 4_000
MAX_LENGTH = 40_000
EVENT_TYPE = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Content:
    text: str
    blocks: list[JsonObject] = field(default_factory=list)
    metadata: JsonObject | None = None


def content(
    state: State, arguments: Mapping[str, Any], where: str, *, max_length: int = MAX_LENGTH
) -> Content:
    """Return the message in a method's arguments or a response's body.

    Raises ApiError for what Slack rejects; reports on the panel what only docs/slack.md forbids.
    """
    text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
    if not isinstance(text, str):
        raise ApiError("invalid_arguments", messages=["must be a string [json-pointer:/text]"])
    if problems := check_blocks(blocks, "message"):
        raise ApiError("invalid_blocks", messages=problems)
    if not text.strip() and not blocks:
        raise ApiError("no_text", "A message needs text or blocks.")
    if len(text) > max_length:
        raise ApiError("msg_too_long", f"The text has {len(text)} characters. The limit is {max_length}.")
    if len(text) > MAX_TEXT:
        state.violate(
            where, "text_too_long", f"The text has {len(text)} characters. Slack recommends at most 4,000."
        )
    if not text.strip():
        state.violate(where, "missing_text", "Screen readers and notifications need top-level text.")
    check_tokens(state, where, text, blocks)
    return Content(text, with_ids(blocks), _metadata(arguments.get("metadata")))


def _metadata(given: object) -> JsonObject | None:
    if given in (None, ""):
        return None
    metadata = as_object(given)
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not EVENT_TYPE.fullmatch(kind) or not isinstance(payload, dict):
        raise ApiError(
            "invalid_metadata_format",
            "Metadata needs an event_type (letters, digits, underscores) and an object as event_payload.",
        )
    return metadata


def thread_of(state: State, channel: Channel, thread_ts: object) -> str | None:
    """Return the thread a reply belongs to; a reply to a reply joins the same thread.

    Raises ApiError when the message doesn't exist.
    """
    if not thread_ts:
        return None
    parent = state.find(channel.id, str(thread_ts))
    if parent is None or parent.to is not None:
        raise ApiError("thread_not_found", f"Message {thread_ts} isn't in this channel.")
    return parent.thread_ts or parent.ts


def post(
    state: State, channel: Channel, said: Content, *, to: str | None = None, thread: str | None = None
) -> Message:
    """Post the app's message to a channel, visible to everyone or only to the user `to`."""
    return state.post(
        Message(
            ts=state.new_ts(),
            channel=channel.id,
            user=state.app.bot_user_id,
            text=said.text,
            blocks=said.blocks,
            thread_ts=thread,
            to=to,
            by_app=True,
            metadata=said.metadata,
        )
    )


def replace(state: State, message: Message, said: Content, *, mark: bool) -> None:
    """Replace a message's content; `mark` labels it as edited."""
    message.text, message.blocks, message.metadata = said.text, said.blocks, said.metadata
    message.unfurls, message.entities = {}, {}
    if mark:
        message.edited = state.new_ts()
    state.changed(state.channels[message.channel].members if message.to is None else (message.to,))
