"""Input values: the state of a surface's inputs, and the validation Slack's own client does."""

import re
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from bot.sandbox.workspace.blocks.surfaces import elements_of
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.shapes import JsonObject, as_object
from bot.sandbox.workspace.state import State

VALUE_KEYS = {
    "plain_text_input": "value",
    "number_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "rich_text_input": "rich_text_value",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "radio_buttons": "selected_option",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "checkboxes": "selected_options",
    "users_select": "selected_user",
    "multi_users_select": "selected_users",
    "conversations_select": "selected_conversation",
    "multi_conversations_select": "selected_conversations",
    "channels_select": "selected_channel",
    "multi_channels_select": "selected_channels",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "file_input": "files",
}
INCLUDES = {"channel": "public", "private": "private", "im": "im"}
LISTS = {"selected_options", "selected_users", "selected_conversations", "selected_channels", "files"}


def preset_key(kind: str) -> str:
    key = VALUE_KEYS[kind]
    return "initial_value" if key in ("value", "rich_text_value") else key.replace("selected_", "initial_")


def _passes(state: State, channel: Channel, chosen: JsonObject) -> bool:
    """Return whether a select's filter includes a conversation."""
    with_app = channel.kind == "im" and state.app.bot_user_id in channel.members
    kinds = chosen.get("include")
    return (
        (kinds is None or INCLUDES[channel.kind] in kinds)
        and not (chosen.get("exclude_external_shared_channels") and channel.is_ext_shared)
        and not (chosen.get("exclude_bot_users") and with_app)
    )


def with_current_conversation(state: State, blocks: list[JsonObject], opened_in: str | None) -> None:
    """Preset, in place, the selects that default to the conversation where the form was opened."""
    channel = state.channels.get(opened_in or "")
    for block in blocks:
        for part in elements_of(block):
            if channel is None or not part.get("default_to_current_conversation"):
                continue
            if not _passes(state, channel, as_object(part.get("filter"))):
                continue
            if part["type"] == "conversations_select":
                part.setdefault("initial_conversation", channel.id)
            else:
                part.setdefault("initial_conversations", [channel.id])


def entered(blocks: list[JsonObject], posted: object, before: JsonObject | None = None) -> JsonObject:
    """Return the values of all inputs in `blocks`, in the format of Slack's `state.values`.

    Each comes from the page's input, else the previous value, else the element's initial value.
    """
    new, old = as_object(posted), before or {}
    values: JsonObject = {}
    for block in blocks:
        for part in elements_of(block):
            key = VALUE_KEYS.get(part.get("type", ""))
            if key is None:
                continue
            block_id, action_id = block["block_id"], part["action_id"]
            empty: object = [] if key in LISTS else None
            value = part.get(preset_key(part["type"]), empty)
            for source in (old, new):
                given = as_object(as_object(source.get(block_id)).get(action_id))
                if key in given and given.get("type", part["type"]) == part["type"]:
                    value = given[key]
            values.setdefault(block_id, {})[action_id] = {
                "type": part["type"],
                key: empty if value in ("", None) else value,
            }
    return values


def _number_fault(part: JsonObject, value: str) -> str | None:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return "Please enter a valid number."
    if not number.is_finite():
        return "Please enter a valid number."
    if not part.get("is_decimal_allowed") and number != number.to_integral_value():
        return "Please enter a whole number."
    if part.get("min_value") and number < Decimal(part["min_value"]):
        return f"Please enter a number that is at least {part['min_value']}."
    if part.get("max_value") and number > Decimal(part["max_value"]):
        return f"Please enter a number that is at most {part['max_value']}."
    return None


def _text_fault(part: JsonObject, value: str) -> str | None:
    kind = part["type"]
    if kind == "number_input":
        return _number_fault(part, value)
    if kind == "email_text_input" and not re.fullmatch(r"[^@\s]{1,64}@[^@\s]{1,255}\.[^@\s]{1,63}", value):
        return "Please enter a valid email address."
    if kind == "url_text_input":
        address = urlsplit(value)
        if not address.scheme or not address.netloc:
            return "Please enter a valid URL."
    if len(value) > part.get("max_length", 3000):
        return f"Please enter at most {part.get('max_length', 3000)} characters."
    if len(value) < part.get("min_length", 0):
        return f"Please enter at least {part['min_length']} characters."
    return None


def faults(blocks: list[JsonObject], values: JsonObject) -> dict[str, str]:
    """Return what Slack's client rejects before it calls the app, as block ID to error message."""
    found: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        part = block["element"]
        key = VALUE_KEYS[part["type"]]
        value = values[block["block_id"]][part["action_id"]][key]
        if value in (None, "", []):
            if not block.get("optional"):
                found[block["block_id"]] = "Please complete this required field."
        elif key == "value":
            fault = _text_fault(part, value) if isinstance(value, str) else "Please enter text."
            if fault:
                found[block["block_id"]] = fault
        elif key in LISTS:
            maximum = part.get("max_selected_items") or part.get("max_files")
            if maximum and len(value) > maximum:
                found[block["block_id"]] = f"Please choose at most {maximum}."
    return found
