"""Messages that the app writes: checked as Slack checks them, then laid into a channel."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.sandbox.workspace.blocks.surfaces import check_blocks, with_ids
from bot.sandbox.workspace.blocks.tokens import check_tokens
from bot.sandbox.workspace.model import Channel, Message
from bot.sandbox.workspace.shapes import JsonObject, Refused, as_list, as_object
from bot.sandbox.workspace.state import State

KEEP_TO = 4_000
LONGEST = 40_000
EVENT_TYPE = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Content:
    """What a message says."""

    text: str
    blocks: list[JsonObject] = field(default_factory=list)
    metadata: JsonObject | None = None


def content(state: State, arguments: Mapping[str, Any], where: str, *, longest: int = LONGEST) -> Content:
    """The message in a method's arguments or a response's body.

    Raises Refused for what Slack refuses; what Slack lets pass but slack-rules.md doesn't goes on the panel.
    """
    text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
    if not isinstance(text, str):
        raise Refused("invalid_arguments", messages=["must be a string [json-pointer:/text]"])
    if problems := check_blocks(blocks, "message"):
        raise Refused("invalid_blocks", messages=problems)
    attachments = as_list(arguments.get("attachments"))
    for index, attachment in enumerate(attachments):
        inner = attachment.get("blocks", []) if isinstance(attachment, dict) else None
        if problems := check_blocks(inner, "message", f"/attachments/{index}/blocks"):
            raise Refused("invalid_attachments", messages=problems)
        blocks = [*blocks, *as_list(inner)]
    if not text.strip() and not blocks:
        raise Refused("no_text", "A message needs text or blocks.")
    if len(text) > longest:
        raise Refused("msg_too_long", f"The text has {len(text)} characters; {longest} are the most.")
    if len(text) > KEEP_TO:
        state.violate(where, "text_too_long", f"{len(text)} characters; 4,000 is the limit to keep to.")
    if not text.strip():
        state.violate(where, "missing_text", "Top-level text is what screen readers and notifications read.")
    check_tokens(state, where, text, blocks)
    return Content(text, with_ids(blocks), _metadata(arguments.get("metadata")))


def _metadata(given: object) -> JsonObject | None:
    if given in (None, ""):
        return None
    metadata = as_object(given)
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not EVENT_TYPE.fullmatch(kind) or not isinstance(payload, dict):
        raise Refused(
            "invalid_metadata_format",
            "Metadata has an event_type of letters, digits and underscores, and an object as event_payload.",
        )
    return metadata


def thread_of(state: State, channel: Channel, thread_ts: object) -> str | None:
    """The timestamp under which a reply goes; a reply to a reply goes beside it.

    Raises Refused when there is no such message.
    """
    if not thread_ts:
        return None
    parent = state.find(channel.id, str(thread_ts))
    if parent is None or parent.to is not None:
        raise Refused("thread_not_found", f"There is no message {thread_ts} to reply to in this channel.")
    return parent.thread_ts or parent.ts


def post(
    state: State, channel: Channel, said: Content, *, to: str | None = None, thread: str | None = None
) -> Message:
    """Lay a message of the app's into a channel, for everybody or for one person."""
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
    """Put new content in the place of a message's; `mark` shows it as edited."""
    message.text, message.blocks, message.metadata = said.text, said.blocks, said.metadata
    message.unfurls, message.entities = {}, {}
    if mark:
        message.edited = state.new_ts()
    state.changed(state.channels[message.channel].members if message.to is None else (message.to,))
