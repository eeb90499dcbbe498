"""What people enter: the state of a surface's inputs, and the checks that Slack's own client makes."""

import re
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from bot.sandbox.workspace.blocks.surfaces import elements_of
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.shapes import JsonObject, as_object

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
    """The field that presets an element's value."""
    key = VALUE_KEYS[kind]
    return "initial_value" if key in ("value", "rich_text_value") else key.replace("selected_", "initial_")


def _passes(channel: Channel, chosen: JsonObject) -> bool:
    """Whether a select's filter lets a conversation through; every `im` here is one with the app."""
    kinds = chosen.get("include")
    return (
        (kinds is None or INCLUDES[channel.kind] in kinds)
        and not (chosen.get("exclude_external_shared_channels") and channel.is_ext_shared)
        and not (chosen.get("exclude_bot_users") and channel.kind == "im")
    )


def with_current_conversation(blocks: list[JsonObject], channel: Channel | None) -> None:
    """Preset, in place, the selects that default to the conversation in which a form was opened."""
    for block in blocks:
        for part in elements_of(block):
            if channel is None or not part.get("default_to_current_conversation"):
                continue
            if not _passes(channel, as_object(part.get("filter"))):
                continue
            if part["type"] == "conversations_select":
                part.setdefault("initial_conversation", channel.id)
            else:
                part.setdefault("initial_conversations", [channel.id])


def entered(blocks: list[JsonObject], posted: object, before: JsonObject | None = None) -> JsonObject:
    """The values of all inputs of `blocks` as Slack's `state.values` spells them.

    Taken from what the page posted, else from what was known before, else from the element's preset.
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
    """What Slack's client refuses before the app hears of it: block id to sentence."""
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
            most = part.get("max_selected_items") or part.get("max_files")
            if most and len(value) > most:
                found[block["block_id"]] = f"Please choose at most {most}."
    return found
