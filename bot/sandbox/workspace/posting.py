"""Messages: the app's, validated like Slack does and posted to a channel; typed text in Slack's format."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from bot.sandbox.workspace.blocks import check_blocks, with_ids
from bot.sandbox.workspace.model import Channel, JsonObject, Message, as_object
from bot.sandbox.workspace.state import ApiError, State

MAX_TEXT = 4_000
MAX_LENGTH = 40_000
EVENT_TYPE = re.compile(r"[A-Za-z0-9_]+")
LABELLED = r"\[(?P<label>[^\[\]\n]{1,300})\]\((?P<url>https?://[^\s<>\"“”|()]+)\)"
ADDRESS = r"(?P<address>https?://[^\s<>\"“”|]*[^\s<>\"“”|.,;:!?)'*_~])"
MENTION = r"(?<![\w@#&/])(?:@(?P<person>(?ai:{people}))(?![^\W_])|\#(?P<channel>(?ai:{channels}))(?![\w-]))"
TOKEN = re.compile(r"<([^<>]*)>?")
KNOWN = re.compile(
    r"(?:https?://|mailto:|tel:)[^|]+(?:\|.+)?|[@#][A-Z][A-Z0-9]+(?:\|.*)?"
    r"|!(?:here|channel|everyone|subteam\^[A-Z0-9]+|date\^[0-9]+\^[^|]+)(?:\|.+)?",
    re.DOTALL,
)
"""The `<…>` tokens of mrkdwn: links, mentions and dates. Slack renders anything else as a broken link."""


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


def check_tokens(state: State, where: str, *parts: object) -> None:
    """Report unknown tokens on the panel; Slack accepts them but can't render them."""
    for token in _unknown(parts):
        state.violate(where, "unknown_token", f"{token!r} is read as a link. Escape `<` and `>`.")


def _unknown(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield from (token[0] for token in TOKEN.finditer(part) if not KNOWN.fullmatch(token[1]))
    elif isinstance(part, list | tuple):
        for item in part:
            yield from _unknown(item)
    elif isinstance(part, dict):
        if part.get("type") == "mrkdwn":
            yield from _unknown(part.get("text"))
        for value in part.values():
            if not isinstance(value, str):
                yield from _unknown(value)


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
    state: State, channel: Channel, new_content: Content, *, to: str | None = None, thread: str | None = None
) -> Message:
    return state.post(
        Message(
            ts=state.new_ts(),
            channel=channel.id,
            user=state.app.bot_user_id,
            text=new_content.text,
            blocks=new_content.blocks,
            thread_ts=thread,
            to=to,
            by_app=True,
            metadata=new_content.metadata,
        )
    )


def replace(state: State, message: Message, new_content: Content, *, mark: bool) -> None:
    """Replace a message's content; `mark` labels it as edited."""
    message.text, message.blocks, message.metadata = (
        new_content.text,
        new_content.blocks,
        new_content.metadata,
    )
    message.unfurls, message.entities = {}, {}
    if mark:
        message.edited = state.new_ts()
    state.changed(state.channels[message.channel].members if message.to is None else (message.to,))


def as_message(state: State, text: str) -> str:
    """Return a message's text as Slack stores it."""
    return _encoded(state, text, (LABELLED, ADDRESS, MENTION), with_names=False)


def as_command(state: State, text: str) -> str:
    """Return a command's text with `should_escape` on: mentions include names beside IDs."""
    return _encoded(state, text, (ADDRESS, MENTION), with_names=True)


def _encoded(state: State, text: str, tokens: Iterable[str], *, with_names: bool) -> str:
    names = [(name, u) for u in state.users.values() for name in (u.real_name, u.name, u.first_name)]
    people = {name.casefold(): user for name, user in reversed(names)}
    channels = {channel.name: channel for channel in state.channels.values() if channel.name}
    longest_first = sorted((re.escape(name) for name, _ in names), key=len, reverse=True)
    pattern = "|".join(tokens).replace("{people}", "|".join(longest_first))
    pattern = pattern.replace("{channels}", "|".join(map(re.escape, channels)))

    def encoded(match: re.Match[str]) -> str:
        match match.lastgroup:
            case "url":
                return f"<{escape(match['url'], quote=False)}|{escape(match['label'], quote=False)}>"
            case "address":
                return f"<{escape(match['address'], quote=False)}>"
            case "channel":
                channel = channels[match["channel"].lower()]
                return f"<#{channel.id}|{channel.name}>"
            case _:
                user = people[match["person"].casefold()]
                return f"<@{user.id}|{user.name}>" if with_names else f"<@{user.id}>"

    result, end = "", 0
    for match in re.finditer(pattern, text):
        result += escape(text[end : match.start()], quote=False) + encoded(match)
        end = match.end()
    return result + escape(text[end:], quote=False)
