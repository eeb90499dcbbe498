"""The fields that the bot reads in Slack's payloads, with their types; it ignores all others.

A shape is a type, a pattern, a list with the shape of its elements, an object's fields (`ANY` stands for any
name, `REQUIRED` lists the names that can't be missing), or a function from an object to its fields. Null
means missing.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import structlog

from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.interaction import COMMENT, DETAILS, Interaction, read

log = structlog.get_logger(__name__)

Shape = type | re.Pattern[str] | dict[str, Any] | list[Any] | Callable[[JSON], dict[str, Any]]

ANY, REQUIRED = "*", "!"
ID, TIME = re.compile(r"[!-~]{1,255}"), re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")
URL = re.compile(r"[!-~]{1,1000}")  # it is kept in a form's metadata

REQUIRED_BY_TYPE = {
    "command": ("user_id", "trigger_id"),
    "block_actions": ("user", "actions", "trigger_id"),
    "view_submission": ("user", "view"),
    "view_closed": ("user", "view"),
    "shortcut": ("user", "callback_id", "trigger_id"),
    "message_action": ("user", "callback_id", "trigger_id", "channel", "message"),
    "block_suggestion": ("user", "action_id", "block_id"),
    "event_callback": ("event",),
}
"""Required fields by payload type; a command has no type of its own."""
REQUIRED_BY_EVENT = {
    "app_home_opened": ("user",),
    "function_executed": ("function", "function_execution_id"),
    "reaction_added": ("user", "item", "reaction"),
    "link_shared": ("message_ts", "links"),
    "entity_details_requested": ("user", "trigger_id"),
    "entity_comments_requested": ("user", "trigger_id"),
    "member_joined_channel": ("user", "channel"),
    "team_access_revoked": ("team_ids",),
    "user_change": ("user",),
}


class Malformed(Exception):
    """An invalid payload; the message names the place and never quotes the payload."""


def _fields(kind: Shape, names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), kind)


def _required(names: str) -> dict[str, Any]:
    return {REQUIRED: names.split()}


def _event(event: JSON) -> dict[str, Any]:
    kind = str(event.get("type"))
    user = IDENTIFIED | _fields(bool, "deleted") if kind == "user_change" else ID
    return EVENT | {"user": user, REQUIRED: ("type", *REQUIRED_BY_EVENT.get(kind, ()))}


def _view(view: JSON) -> dict[str, Any]:
    if view.get("type") in (DETAILS, COMMENT):
        return VIEW | _required("external_ref")
    return VIEW | _required("type id hash blocks" + (" title" if view.get("type") == "modal" else ""))


def _block(block: JSON) -> dict[str, Any]:
    return BLOCK | _required("type block_id" + (" label element" if block.get("type") == "input" else ""))


INSTALLATION = _fields(ID, "team_id enterprise_id")  # Bolt reads an event's from any payload
IDENTIFIED = INSTALLATION | _fields(ID, "id") | _required("id")
TEXT = _fields(str, "text") | _required("text")
OPTION = _fields(str, "value") | {"text": TEXT} | _required("value")
INPUT = (
    _fields(str, "value selected_conversation selected_date")
    | {"selected_option": OPTION, "selected_options": [OPTION], "files": [dict]}
)  # fmt: skip
ACTION = INPUT | _fields(str, "action_id") | {"action_ts": TIME} | _required("action_id")
BLOCK = _fields(str, "type block_id") | _fields(TEXT, "label text") | {"element": dict}
VIEW = (
    INSTALLATION
    | _fields(str, "type hash callback_id private_metadata")
    | {"id": ID, "title": TEXT, "blocks": [_block], "state": {"values": {ANY: {ANY: INPUT}}}}
    | {"external_ref": _fields(str, "type id")}
)
POSTED_BLOCK = (
    _fields(str, "type")
    | {"elements": [{"options": [dict]}], "accessory": {"options": [dict]}}
    | _required("type")
)  # fmt: skip
MESSAGE = (
    _fields(TIME, "ts thread_ts")
    | _fields([dict], "attachments files")
    | {"text": str, "user": ID, "blocks": [POSTED_BLOCK]}
    | _required("ts")
)
EVENT = (
    _fields(
        str, "type subtype channel_type text reaction tab trigger_id source message_ts thread_root_id cursor"
    )
    | _fields(ID, "channel inviter function_execution_id")
    | _fields(TIME, "ts thread_ts")
    | {"files": [dict], "team_ids": [ID], "inputs": dict, "limit": int, "view": _view}
    | {"external_ref": _fields(str, "type id"), "links": [_fields(str, "url") | _required("url")]}
    | {"item": {"type": str, "channel": ID, "ts": TIME} | _required("type")}
    | {"function": {"callback_id": str, "input_parameters": [dict]} | _required("callback_id")}
)
PAYLOAD = (
    INSTALLATION
    | _fields(str, "type command callback_id action_id block_id text value trigger_id")
    | _fields(IDENTIFIED, "user team enterprise channel")
    | _fields(ID, "user_id channel_id")
    | {"authorizations": [INSTALLATION | {"user_id": ID}], "actions": [ACTION], "action_ts": TIME}
    | {"response_url": URL}
    | {"container": {"channel_id": ID} | _fields(TIME, "message_ts thread_ts")}
    | {"message": MESSAGE, "view": _view, "event": _event}
)


def parse(body: object) -> Interaction | None:
    """Check a payload and parse it, without null fields; None for Slack's own check of the URL.

    Raises Malformed if its type is unknown, or a field is missing or has another type.
    """
    if not isinstance(body, dict):
        raise Malformed("not an object")
    is_check = body.get("type") == "url_verification" or "ssl_check" in body
    if is_check and "command" not in body and "event" not in body:
        return None

    kind = "command" if body.get("command") is not None else str(body.get("type"))
    unexpected = (bool(body.get("event")) and kind != "event_callback") or body.get("type") == "command"
    if kind not in REQUIRED_BY_TYPE or unexpected:
        raise Malformed("unknown type")
    try:
        json.dumps(body, ensure_ascii=False).encode()
        known = _cleaned_fields(body, PAYLOAD | {REQUIRED: REQUIRED_BY_TYPE[kind]}, "payload")
    except (UnicodeEncodeError, RecursionError) as error:
        raise Malformed(type(error).__name__) from None
    return read(known)


def log_malformed(error: Exception) -> None:
    why = str(error) if isinstance(error, Malformed) else type(error).__name__
    log.warning("malformed payload", action="slack.malformed", why=why)


def _cleaned(value: object, shape: Shape, place: str) -> object:
    match shape, value:
        case re.Pattern(), str(text) if shape.fullmatch(text):
            return text
        case type(), _ if type(value) is shape:
            return value
        case [inner], list(elements):
            return [_cleaned(element, inner, place) for element in elements]
        case dict(), dict(fields):
            return _cleaned_fields(fields, shape, place)
        case _, dict(fields) if callable(shape) and not isinstance(shape, type):
            return _cleaned_fields(fields, shape(fields), place)
    raise Malformed(f"{place} has another type")


def _cleaned_fields(fields: JSON, shape: dict[str, Any], place: str) -> JSON:
    result = {name: value for name, value in fields.items() if value is not None}
    for name in shape.get(REQUIRED, ()):
        if name not in result:
            raise Malformed(f"{place} without {name}")
    for name, value in result.items():
        inner = shape.get(name, shape.get(ANY))
        if inner is not None and name != REQUIRED:
            result[name] = _cleaned(value, inner, f"{place}.{name}" if name in shape else place)
    return result
