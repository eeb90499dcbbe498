"""Views, and what users enter in them: the state of inputs, and the validation Slack's own client does."""

from typing import Literal

from bot.sandbox.workspace.blocks import check_view, elements_of, with_ids
from bot.sandbox.workspace.model import JsonObject, View, as_object
from bot.sandbox.workspace.posting import check_tokens
from bot.sandbox.workspace.state import ApiError, State

VALUE_KEYS = {
    "plain_text_input": "value",
    "rich_text_input": "rich_text_value",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "checkboxes": "selected_options",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "file_input": "files",
}
LISTS = {"selected_options", "files"}
TEXTS = ("callback_id", "private_metadata", "external_id")
FLAGS = ("clear_on_close", "notify_on_close", "submit_disabled")


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
            preset = "value" if key == "rich_text_value" else key.removeprefix("selected_")
            value = part.get(f"initial_{preset}", empty)
            for source in (old, new):
                given = as_object(as_object(source.get(block_id)).get(action_id))
                if key in given and given.get("type", part["type"]) == part["type"]:
                    value = given[key]
            values.setdefault(block_id, {})[action_id] = {
                "type": part["type"],
                key: empty if value in ("", None) else value,
            }
    return values


def _text_fault(part: JsonObject, value: object) -> str | None:
    if not isinstance(value, str):
        return "Please enter text."
    if len(value) > part.get("max_length", 3000):
        return f"Please enter at most {part.get('max_length', 3000)} characters."
    if len(value) < part.get("min_length", 0):
        return f"Please enter at least {part['min_length']} characters."
    return None


def faults(blocks: list[JsonObject], values: JsonObject) -> dict[str, str]:
    """Return what Slack's client rejects before it calls the app, as block ID to error message."""
    errors: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        part = block["element"]
        key = VALUE_KEYS[part["type"]]
        value = values[block["block_id"]][part["action_id"]][key]
        if value in (None, "", []):
            if not block.get("optional"):
                errors[block["block_id"]] = "Please complete this required field."
        elif key == "value":
            if fault := _text_fault(part, value):
                errors[block["block_id"]] = fault
        elif key == "files" and len(value) > part.get("max_files", len(value)):
            errors[block["block_id"]] = f"Please choose at most {part['max_files']}."
    return errors


def definition(
    state: State, view: object, kind: Literal["modal", "home"], itself: View | None = None
) -> JsonObject:
    """Return a view definition in which every block has an ID; raises ApiError when it is invalid."""
    if problems := check_view(view, kind):
        raise ApiError("invalid_arguments", messages=problems)
    given: JsonObject = view if isinstance(view, dict) else {}
    body: JsonObject = {key: given.get(key) or "" for key in TEXTS}
    body |= {key: given.get(key) for key in ("title", "submit", "close")}
    body |= {key: bool(given.get(key)) for key in FLAGS} | {"blocks": with_ids(given["blocks"])}
    external_id = body["external_id"]
    others = (other for other in state.views.values() if other is not itself)
    if external_id and any(other.body["external_id"] == external_id for other in others):
        raise ApiError("duplicate_external_id", f"Another view has the external_id {external_id}.")
    check_tokens(state, "view", body["blocks"])
    return body


def update_view(state: State, old_view: View, view: object) -> None:
    """Replace a view's definition; input stays where block and action IDs match."""
    body = definition(state, view, old_view.type, old_view)
    old_view.body, old_view.errors, old_view.hash = body, None, state.new_hash()
    old_view.values = entered(body["blocks"], {}, old_view.values)
    old_view.emptied += not old_view.values
    state.changed((old_view.user,))
